/*
 * logins.h - logins, in memory and on disk: browsers that presented a key once and hold
 * a cookie in its place. A login leads only to its key's id: the key's rights and its
 * validity are looked up at each request, so a login ends when its key does.
 *
 *   begin --> used, repeatedly --> ended | idle for LOGIN_IDLE_S | LOGIN_LIFE_S old
 *
 * Invariants
 *   (1) Only the SHA-256 of a cookie is kept, in memory and on disk, and it is compared
 *       in constant time.
 *   (2) There are at most LIMIT_LOGINS logins, and at most LIMIT_LOGINS_PER_KEY of one
 *       key.
 *   (3) A login begins and ends in a transaction, and memory follows when that is
 *       durable. So it survives a restart, and every daemon of a store knows it
 *       (store_changes.h).
 *   (4) Ticks write the time of the last use, in steps of LOGIN_STEP_S: a restart or
 *       another daemon may end a login that much sooner, and never later.
 *
 * Times are those of the wall clock. Threads: any.
 */
#ifndef SERVICE_IDENTITY_LOGINS_H
#define SERVICE_IDENTITY_LOGINS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/principal.h"
#include "store/store.h"

enum {
    LOGIN_LIFE_S = 12 * 3600,
    LOGIN_IDLE_S = 3600,
    LOGIN_STEP_S = 60,
    LOGIN_SECRET_SIZE = 32, /* bytes */
    LOGIN_COOKIE_SIZE = 2 * LOGIN_SECRET_SIZE + 1,
};

struct logins; /* opaque */

struct logins *logins_create(void);
void logins_destroy(struct logins *logins); /* NULL is allowed */

/* Reads all rows, and keeps the logins that have not expired at now_ms.
 *   ST_CORRUPT  a row does not read back; the error names it
 *   ST_IO       the store cannot be read */
enum status logins_load(struct logins *logins, struct store_tx *tx, int64_t now_ms,
                        struct error *error);

/* Updates the login of that id (store/rows/login_rows.h) from its row in tx, which
 * another daemon has written.
 *   ST_IO  the store is poisoned */
enum status logins_renew(struct logins *logins, struct store_tx *tx, const char *id,
                         struct error *error);

/* Begins a login for the key of this id, and writes its cookie, which is valid once tx
 * is durable. If the key has its maximum of logins, the one that was idle longest ends.
 *   ST_QUEUE_FULL  there are LIMIT_LOGINS of other keys
 *   ST_NOT_FOUND   there is no such key */
enum status logins_begin(struct logins *logins, struct store_tx *tx, const char *key,
                         int64_t now_ms, char cookie[LOGIN_COOKIE_SIZE],
                         struct error *error);

struct login {
    char key[PRINCIPAL_KEY_SIZE]; /* the key's id */
    int64_t left_s;               /* seconds left of its life */
};

/* Finds the login of a cookie, and counts this as a use. False if there is none: it
 * never began, has ended, or was idle for too long. */
bool logins_find(struct logins *logins, const char *cookie, int64_t now_ms,
                 struct login *found);

/* Returns whether the cookie still has a login, checked while a long reply is being
 * sent; this does not count as a use. */
bool logins_hold(struct logins *logins, const char *cookie, int64_t now_ms);

/* Ends the login of a cookie, if there is one, once tx is durable.
 *   ST_IO  the store is poisoned */
enum status logins_end(struct logins *logins, struct store_tx *tx, const char *cookie,
                       struct error *error);

/* Ends the login of a cookie in this process: its key has ended. The next logins_save
 * deletes its row. */
void logins_forget(struct logins *logins, const char *cookie);

/* Writes the last use of each login whose row is LOGIN_STEP_S behind, and deletes the
 * rows of expired logins. A failure is logged, and loses one step. */
void logins_save(struct logins *logins, struct store *store, int64_t now_ms);

#endif
