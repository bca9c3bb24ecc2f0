/*
 * store.h - the database as everybody uses it: transactions that are passed as an
 * argument to whoever has rows to put into them.
 *
 *            store_begin            store_commit    -> durable (fsync done) on ST_OK
 *    (idle) --------------> OPEN <
 *                                   store_rollback  -> as if nothing had been asked
 *
 * Invariants
 *   (1) Of those that are one at a time by their scopes (scope.h) at most one is open;
 *       store_begin waits for the other to end. Of the others as many as the database has
 *       connections for.
 *   (2) What store_commit answered ST_OK to is on disk.
 *   (3) The first failure inside a transaction that is not a constraint poisons the
 *       store: an I/O error, a full disk, damage, a failed allocation. Every later call
 *       answers ST_IO and nothing more is written, not even at close. A failed fsync is
 *       never retried. The owner of the process ends it with 75 (store/README.md). Only a
 *       connection that broke under a transaction that reads is no such failure: the
 *       transaction fails whole and is repeated whole (store_again).
 *   (4) The schema only moves forward. An older database is copied and moved forward
 *       when it is opened (sqlite_tables.h); one that is newer than this program is refused.
 *
 * Threads: any thread may call; a struct store_tx belongs to the thread that began it.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "store/scope.h"
#include "store/server.h"

struct store;    /* opaque */
struct store_tx; /* an open transaction */

/* Opens or creates the database at path; ":memory:" is a fresh private one, for tests.
 *   ST_IO       it cannot be opened, read or written
 *   ST_CORRUPT  it is not ours, or it is damaged
 *   ST_INVALID  its schema is newer than the one that this program writes
 * On ST_OK *out is owned by the caller: release it with store_close. */
enum status store_open(struct store **out, const char *path, struct error *error);

/* The same while its pages are still being checked, where it takes no step forward: it is
 * read meanwhile, and whoever writes first waits for the end of the check. One thread has
 * it until then.
 *   ST_CORRUPT  store_await_check may answer it too, and store_begin */
enum status store_open_beside(struct store **out, const char *path,
                              struct error *error);
/* Waits until all pages are checked.
 *   ST_CORRUPT, ST_IO  as store_open: the store can only be closed */
enum status store_await_check(struct store *store, struct error *error);

/* Opens the file of a store once more, to read it on another thread while it is read on this
 * one. Nobody writes either until the second is closed. *out is NULL where the store has no
 * file: it is a server's, or in memory.
 *   ST_IO  it cannot be opened */
enum status store_open_again(struct store **out, const struct store *store,
                             struct error *error);

/* Opens it for `epsilond verify`, beside a running daemon too: it is only read, and not
 * a byte of it changes. store_begin opens a read transaction. The statuses are those of
 * store_open, but an older schema is refused as well, with ST_INVALID. */
enum status store_open_read(struct store **out, const char *path, struct error *error);

/* Opens the database of a server of PostgreSQL, and makes its tables where it is empty.
 * Until it is closed nobody else can open it so.
 *   ST_IO       it cannot be reached, or is opened by another
 *   ST_CORRUPT  it is not ours, or its tables are not as they were made
 *   ST_INVALID  the URL or the server will not do, or its schema is older or newer than
 *               this program's: the error says which */
enum status store_open_server(struct store **out, const struct store_server *server,
                              struct error *error);

/* Opens it for `epsilond verify`, beside a running daemon too, as store_open_read. */
enum status store_open_server_read(struct store **out,
                                   const struct store_server *server,
                                   struct error *error);

/* Whether transactions of STORE_SEALED may be begun: there can be a connection for them. It
 * is not so of a database in memory, and of one that is only read. */
bool store_reads_sealed(struct store *store);

/* Whether others may write it too (server.h). What is in memory may be older than what a
 * transaction finds. */
bool store_shared(const struct store *store);

/* What a shared store calls this daemon, as long as the process lives: the id of its first
 * writer. 0 where the store is not a server's. */
uint64_t store_daemon(const struct store *store);

/* How many of this daemon's transactions a server has acknowledged (receipt.h), of whatever
 * connection. 0 where the store is not a server's. Threads: any. */
uint64_t store_acknowledged(const struct store *store);

/* Copies the database at from, as of one moment, into a new file at to, which is synced.
 * It may be done beside a running daemon, whatever the schema; not a byte of from changes,
 * and nothing of it is checked but that it reads.
 *   ST_IO  from cannot be read, or to is there or cannot be written */
enum status store_copy(const char *from, const char *to, struct error *error);

void store_close(struct store *store); /* NULL is allowed; no transaction may be open */

/* Opens a transaction that does what its scope says, and no more.
 *   ST_IO  the store is poisoned, or the database cannot be written */
enum status store_begin(struct store *store, enum store_scope scope,
                        struct store_tx **tx, struct error *error);

/* Makes everything in tx durable and ends it, whatever is returned. Nothing of tx was
 * refused: after a constraint has stood in its way a transaction is only rolled back
 * (statement.h).
 *   ST_IO  it is not durable and nothing of it may be acknowledged; the store is
 *          poisoned */
enum status store_commit(struct store_tx *tx, struct error *error);

void store_rollback(struct store_tx *tx);

/* Ends tx by what was done in it: commits it where status is ST_OK; else rolls it back
 * and returns status.
 *   ST_IO  as store_commit */
enum status store_end(struct store_tx *tx, enum status status, struct error *error);

/* Calls done(context) when tx has been made durable, before store_commit returns, or
 * undone(context) when it has been rolled back or lost. Either may be NULL. Any number may
 * be asked for, and they are called in the order of asking. They run before another
 * transaction may begin that is one at a time with tx, and must neither begin one nor ask
 * for calls. */
void store_tx_on_end(struct store_tx *tx, void (*done)(void *), void (*undone)(void *),
                     void *context);

/* Ends a transaction that only reads (STORE_READ, STORE_SEALED). True: the connection to the
 * server broke after tx had read something. All of it is void, because the next connection
 * sees the rows of another moment: *status is ST_OK again, error is empty, and the caller
 * forgets what it has read and begins again:
 *
 *   do {
 *       status = store_begin(store, STORE_READ, &tx, error);
 *       if (status != ST_OK)
 *           return status;
 *       status = read_rows(tx, out, error);   (which empties out first)
 *   } while (store_again(tx, &status, error));
 *
 * After STORE_LOSSES_MAX such ends in a row *status is ST_IO and the store is poisoned. It is
 * poisoned too if a transaction that was lost ends in any other way. */
enum { STORE_LOSSES_MAX = 8 };
bool store_again(struct store_tx *tx, enum status *status, struct error *error);

struct follow_hook; /* follow.h */

/* From now on every transaction of a shared store but those of STORE_MARK renews memory by
 * the hook, which is copied, before its beginner has it. The first is handed all that
 * others have changed since the store was opened, so memory may be filled before this. A
 * store that is not shared calls no hook. */
void store_follow(struct store *store, const struct follow_hook *hook);

/* Renews memory by what others have committed, and writes nothing. Nothing where the store
 * is not shared.
 *   ST_IO  the store is poisoned */
enum status store_look(struct store *store, struct error *error);

bool store_poisoned(const struct store *store);

/* Why it is poisoned, for the log: what the database said of the first failure. */
const char *store_why(const struct store *store);

/* Poisons the store, where something outside the database that is part of its promise
 * could not be written: the file of the ledger's head. */
void store_poison(struct store *store);

/* For the other files of this folder: the connection that tx is open on. */
struct database *store_tx_database(struct store_tx *tx);

#endif
