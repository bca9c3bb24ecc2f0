/*
 * access_keys.h - every key there ever was, in memory and on disk; who comes in by one.
 *
 * Invariants
 *   (1) No secret is kept, only its digest. Digests are compared in constant time, and
 *       where there is no key of an id one is compared all the same.
 *   (2) Nothing that was found of a key is remembered for the next request: what is
 *       revoked when a transaction has become durable lets nobody in from then on.
 *   (3) Where there ever was a key, one is asked for.
 *
 * Threads: any. The lock guards what may change.
 */
#ifndef SERVICE_ACCESS_KEYS_H
#define SERVICE_ACCESS_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/key_request.h"
#include "base/access_key.h"
#include "store/store.h"

struct access_keys; /* opaque */

struct access_key { /* a copy of all that is known of one */
    char id[ACCESS_KEY_ID_SIZE];
    struct principal principal; /* that its bearer is */
    struct key_policy policy;
    int64_t create_ms, expire_ms;
    int64_t revoke_ms; /* 0: it is not */
    int64_t used_day;  /* the last, counted from 1970-01-01; 0: it never was */
};

/* Reads all rows.
 *   ST_CORRUPT  a row does not read back; the error names it
 *   ST_IO       the store cannot be read */
enum status access_keys_open(struct access_keys **out, struct store_tx *tx,
                             struct error *error);
void access_keys_close(struct access_keys *keys); /* NULL is allowed */

/* Whether a key is asked for. */
bool access_keys_any(const struct access_keys *keys);

/* Finds whose key the text is.
 *   ST_KEY_MALFORMED  it has not the form of a key
 *   ST_KEY_UNKNOWN    there is no such key
 *   ST_KEY_REVOKED, ST_KEY_EXPIRED  there was */
enum status access_keys_verify(struct access_keys *keys, const char *text,
                               struct principal *out, struct error *error);

/* Whether a principal that was let in may stay: its key is neither revoked nor expired
 * since; the local one stays as long as there are no keys. To be asked by whatever answers
 * long after it was let in. The statuses are those of access_keys_verify. */
enum status access_keys_hold(struct access_keys *keys,
                             const struct principal *principal, struct error *error);

/* Copies the key of that id. False where there is none, and out is zeroed, which takes about
 * as long. */
bool access_keys_find(struct access_keys *keys, const char *id, struct access_key *out);
size_t access_keys_count(struct access_keys *keys);
/* The key at a place, the oldest at 0. */
void access_keys_at(struct access_keys *keys, size_t place, struct access_key *out);

/* Whether it is neither revoked nor expired at that time. */
bool access_key_is_good(const struct access_key *key, int64_t now_ms);

struct access_key_made { /* holds a secret: to be wiped (hash_zero) */
    char id[ACCESS_KEY_ID_SIZE];
    char text[ACCESS_KEY_TEXT_SIZE];
};

/* detail = whose a key is, as JSON, for the audit trail: {"owner","project","role"}. */
enum { ACCESS_KEY_DETAIL_SIZE = 256 };
void access_key_detail(char detail[ACCESS_KEY_DETAIL_SIZE],
                       const struct principal *principal);

/* Makes a key, which is good once the transaction is durable. */
enum status access_keys_add(struct access_keys *keys, struct store_tx *tx,
                            const struct key_request *request,
                            struct access_key_made *out, struct error *error);

/* Revokes a key; one that is revoked stays so.
 *   ST_NOT_FOUND  there is none */
enum status access_keys_revoke(struct access_keys *keys, struct store_tx *tx,
                               const char *id, struct error *error);

/* Gives a key another policy, which holds once the transaction is durable.
 *   ST_NOT_FOUND  there is none */
enum status access_keys_limit(struct access_keys *keys, struct store_tx *tx,
                              const char *id, const struct key_policy *policy,
                              struct error *error);

/* Has a key expire at that time, if it lasts longer.
 *   ST_NOT_FOUND  there is none */
enum status access_keys_shorten(struct access_keys *keys, struct store_tx *tx,
                                const char *id, int64_t expire_ms, struct error *error);

/* Puts the key of that id as another daemon has left its row in tx: it is there from now on,
 * with that policy and those ends.
 *   ST_CORRUPT  the row does not read back
 *   ST_IO       the store is poisoned */
enum status access_keys_renew(struct access_keys *keys, struct store_tx *tx,
                              const char *id, struct error *error);

/* Writes the days on which keys were last used, where they have changed: at most one row a
 * key and day. A failure is logged, and loses a day at most. */
void access_keys_save_used(struct access_keys *keys, struct store *store);

#endif
