/*
 * postgres_tables.h - the tables in PostgreSQL's dialect, and how a database comes to have
 * them. Inside store only.
 *
 * Steps up to 13 have the numbers of those in sqlite_tables.c; both end in the same tables.
 * The first here makes what the first eleven made there: no older database of this kind is.
 * Beside them stand three tables: schema_step, head, which the triggers of the ledger
 * keep, and writer (writer.h).
 *
 * Threads: those of the wire.
 */
#ifndef STORE_POSTGRES_TABLES_H
#define STORE_POSTGRES_TABLES_H

#include "store/database.h"
#include "store/wire.h"

/* Brings the tables to this program's, in one transaction, and checks them; an empty
 * database gets them. The writer's lock is held (writer.h).
 *   ST_CORRUPT  it holds tables that are not ours, or one of ours is not as it was made
 *   ST_INVALID  its schema is newer, or older and migrate does not say to move it forward
 *   ST_IO       the server failed; the database is as it was */
enum status postgres_tables_forward(struct wire *wire, bool migrate,
                                    struct error *error);

/* Checks that the tables are this program's. The statuses are the same. */
enum status postgres_tables_check(struct wire *wire, struct error *error);

#endif
