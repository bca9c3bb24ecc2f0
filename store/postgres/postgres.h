/*
 * postgres.h - a PostgreSQL server as a database. Inside store only.
 *
 * The first connection writes, and so do further ones (database.h), each with a row of
 * its own that counts its transactions. A connection may break at any time; callers
 * notice only that the call took longer:
 *
 *   it broke                   what is done
 *   between transactions       a new connection
 *   before COMMIT was sent     nothing has happened: what the transaction has written
 *                              is written again on a new connection
 *   after, without an answer   the writer's row decides (pg_commit_outcome.h): the COMMIT was
 *                              done, or was not and never will be, and the transaction
 *                              is written again
 *
 * A warning at COMMIT is no answer either: it says that a standby may not have it. What
 * was read stays true meanwhile: another daemon is kept out, or is found to have
 * written (global_write_lock.h), and within this one nothing else writes what a
 * transaction has read (scope.h).
 *
 * Invariants
 *   (1) DB_OK from a commit: the server has answered so without a warning, or a later
 *       write of our own was acknowledged and the row counts this one.
 *   (2) After STORE_RETURN_MS without an answer, or if the row says that another daemon
 *       has taken over or that history is lost, every call fails, and store.c poisons.
 *
 * Threads: as database.h.
 */
#ifndef STORE_POSTGRES_POSTGRES_H
#define STORE_POSTGRES_POSTGRES_H

#include "store/sql/database.h"
#include "store/sql/server.h"

/* The statuses of these are those of store_open_server and store_open_server_read. */
enum status postgres_open(struct database **out, const struct store_server *server,
                          struct error *error);
enum status postgres_open_read(struct database **out, const struct store_server *server,
                               struct error *error);

#endif
