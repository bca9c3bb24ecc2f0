/*
 * logins.h - browsers that were shown a key and hold a cookie in its place, in memory and on
 * disk. A login leads to its key's id and to nothing else: what the key may do, and whether
 * it still may, is asked of the keys each time, so a login ends when its key does.
 *
 *   begin --> used, again and again --> ended | idle for LOGIN_IDLE_S | LOGIN_LIFE_S old
 *
 * Invariants
 *   (1) Of a cookie only the SHA-256 is kept, on disk too, and it is compared in constant
 *       time.
 *   (2) There are at most LIMIT_LOGINS, and of one key at most LIMIT_LOGINS_PER_KEY.
 *   (3) One begins and ends in a transaction, and memory follows when that is durable. So it
 *       outlives a restart, and every daemon of a store knows it (following.h).
 *   (4) When it was used last is written by ticks, in steps of LOGIN_STEP_S: a restart, or
 *       another daemon, may end one by so much sooner, and never later.
 *
 * Times are those of the wall clock. Threads: any.
 */
#ifndef SERVICE_LOGINS_H
#define SERVICE_LOGINS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/principal.h"
#include "base/status.h"
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

/* Reads all rows, and keeps those that are not over at that time.
 *   ST_CORRUPT  a row does not read back; the error names it
 *   ST_IO       the store cannot be read */
enum status logins_load(struct logins *logins, struct store_tx *tx, int64_t now_ms,
                        struct error *error);

/* Puts the login of that id (store/login_rows.h) as another daemon has left its row in tx.
 *   ST_IO  the store is poisoned */
enum status logins_renew(struct logins *logins, struct store_tx *tx, const char *id,
                         struct error *error);

/* Begins a login for the key of this id, and writes its cookie, which is good once tx is
 * durable. Where the key has as many as it may, the one of them that was idle longest ends.
 *   ST_QUEUE_FULL  there are LIMIT_LOGINS of other keys
 *   ST_NOT_FOUND   there is no such key */
enum status logins_begin(struct logins *logins, struct store_tx *tx, const char *key,
                         int64_t now_ms, char cookie[LOGIN_COOKIE_SIZE],
                         struct error *error);

struct login {
    char key[PRINCIPAL_KEY_SIZE]; /* its id */
    int64_t left_s;               /* of its life, from now on */
};

/* Finds the login of a cookie, and counts it as used. False where there is none: it
 * was never begun, has ended, or was idle for too long. */
bool logins_find(struct logins *logins, const char *cookie, int64_t now_ms,
                 struct login *found);

/* Tells whether the cookie still has a login, for an answer that is long under way: it is
 * no use of it. */
bool logins_hold(struct logins *logins, const char *cookie, int64_t now_ms);

/* Ends the login of a cookie, if there is one, once tx is durable.
 *   ST_IO  the store is poisoned */
enum status logins_end(struct logins *logins, struct store_tx *tx, const char *cookie,
                       struct error *error);

/* The login of a cookie is over here from now on: its key has ended. Its row goes with the
 * next that are saved. */
void logins_forget(struct logins *logins, const char *cookie);

/* Writes when logins were last used, where that is LOGIN_STEP_S newer than what is written,
 * and deletes the rows of those that are over. A failure is logged, and loses a step. */
void logins_save(struct logins *logins, struct store *store, int64_t now_ms);

#endif
