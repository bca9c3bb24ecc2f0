/*
 * postgres.h - a server of PostgreSQL as a database. Inside store only.
 *
 * The first connection writes, and others beside it (database.h), each with a row of its
 * own that counts its transactions. It may break at any time, and nobody above notices more
 * than that it took longer:
 *
 *   it broke                   what is done
 *   between transactions       a new connection
 *   before COMMIT was sent     nothing has happened: what the transaction has written is
 *                              written again on a new connection
 *   after, without an answer   the writer's row says which (writer.h): it was done, or it
 *                              was not and never will be, and is written again
 *
 * A warning at COMMIT is no answer either: it says that a standby may not have it. What
 * was read stays true meanwhile: another daemon is kept out, or is found to have written
 * (postgres_turn.h), and within this one nobody else writes what a transaction has read
 * (scope.h).
 *
 * Invariants
 *   (1) DB_OK from a commit: the server has said so without a warning, or a later write
 *       of our own was acknowledged and the row counts this one.
 *   (2) After STORE_RETURN_MS without an answer, or where the row says that another has taken
 *       over or that history is lost, every call fails, and store.c poisons.
 *
 * Threads: as database.h.
 */
#ifndef STORE_POSTGRES_H
#define STORE_POSTGRES_H

#include "store/database.h"
#include "store/server.h"

/* The statuses of these are those of store_open_server and store_open_server_read. */
enum status postgres_open(struct database **out, const struct store_server *server,
                          struct error *error);
enum status postgres_open_read(struct database **out, const struct store_server *server,
                               struct error *error);

#endif
