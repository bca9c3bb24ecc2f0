/*
 * postgres_tables.h - makes the tables in a database of a server, and checks that it
 * has them. Inside store only.
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
