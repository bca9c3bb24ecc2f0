/*
 * logins.h - browsers that were shown a key and hold a cookie in its place. A login leads
 * to its key's id and to nothing else: what the key may do, and whether it still may, is
 * asked of the keys each time, so a login ends when its key does.
 *
 *   begin --> used, again and again --> ended | idle for LOGIN_IDLE_S | LOGIN_LIFE_S old
 *
 * Invariants
 *   (1) Nothing here is on disk: a restart ends all logins.
 *   (2) Of a cookie only the SHA-256 is kept, and it is compared in constant time.
 *   (3) There are at most LIMIT_LOGINS, and of one key at most LIMIT_LOGINS_PER_KEY.
 *
 * Seconds are those of one clock that never goes back. Threads: any.
 */
#ifndef SERVICE_LOGINS_H
#define SERVICE_LOGINS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/principal.h"
#include "base/status.h"

enum {
    LOGIN_LIFE_S = 12 * 3600,
    LOGIN_IDLE_S = 3600,
    LOGIN_SECRET_SIZE = 32,                            /* bytes */
    LOGIN_COOKIE_SIZE = 4 + 2 * LOGIN_SECRET_SIZE + 1, /* place, secret, end */
};

struct logins; /* opaque */

struct logins *logins_create(void);
void logins_destroy(struct logins *logins); /* NULL is allowed */

/* Begins a login for the key of this id, and writes its cookie. Where the key has as many
 * as it may, the one of them that was idle longest ends.
 *   ST_QUEUE_FULL  there are LIMIT_LOGINS of other keys */
enum status logins_begin(struct logins *logins, const char *key, int64_t now_s,
                         char cookie[LOGIN_COOKIE_SIZE], struct error *error);

struct login {
    char key[PRINCIPAL_KEY_SIZE]; /* its id */
    int64_t left_s;               /* of its life, from now on */
};

/* Finds the login of a cookie, and counts it as used. False where there is none: it
 * was never begun, has ended, or was idle for too long. */
bool logins_find(struct logins *logins, const char *cookie, int64_t now_s,
                 struct login *found);

/* Tells whether the cookie still has a login, for an answer that is long under way: it is
 * no use of it. */
bool logins_hold(struct logins *logins, const char *cookie, int64_t now_s);

/* Ends the login of a cookie, if there is one. */
void logins_end(struct logins *logins, const char *cookie);

#endif
