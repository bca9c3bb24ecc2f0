/*
 * postgres_tables.h - the tables in PostgreSQL's dialect, and the steps that make them
 * in a database. Inside store only.
 *
 * Steps up to 13 have the numbers of those in sqlite_steps.c; both end in the same
 * tables. The first step here makes what the first eleven made there, because no
 * PostgreSQL database is older. Further tables exist only here: schema_step; head,
 * which the triggers of the ledger keep; writer (pg_commit_outcome.h); and those of
 * daemons that share the database: claim, change, duty, daemon and hold.
 *
 * Threads: those of the wire.
 */
#ifndef STORE_POSTGRES_POSTGRES_TABLES_H
#define STORE_POSTGRES_POSTGRES_TABLES_H

#include "store/postgres/pg_connection.h"
#include "store/sql/database.h"

/* Brings the tables to this program's, in one transaction, and checks them; an empty
 * database gets them. The writer's lock is held (pg_commit_outcome.h).
 *   ST_CORRUPT  it holds tables that are not ours, or one of ours is not as it was made
 *   ST_INVALID  its schema is newer, or older and migrate does not say to move it
 *               forward
 *   ST_IO       the server failed; the database is as it was */
enum status postgres_tables_forward(struct pg_connection *wire, bool migrate,
                                    struct error *error);

/* Checks that the tables are this program's. The statuses are the same. */
enum status postgres_tables_check(struct pg_connection *wire, struct error *error);

#endif
