/*
 * access_keys.h - every access key that was ever made, in memory and on disk, and the
 * check of a key that a request shows.
 *
 * Invariants
 *   (1) No secret is stored, only its digest. Digests are compared in constant time,
 *       and if there is no key of an id, a comparison is made all the same.
 *   (2) Nothing that was found out about a key is cached for the next request: once the
 *       transaction that revokes a key is durable, the key is refused.
 *   (3) Once a key has ever been made, requests are asked for one.
 *
 * Threads: any. The lock guards what may change.
 */
#ifndef SERVICE_IDENTITY_ACCESS_KEYS_H
#define SERVICE_IDENTITY_ACCESS_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "service/identity/access_key_record.h"

struct store;
struct store_tx;

struct access_keys; /* opaque */

/* Reads all rows.
 *   ST_CORRUPT  a row cannot be read; the error names it
 *   ST_IO       the store cannot be read */
enum status access_keys_open(struct access_keys **out, struct store_tx *tx,
                             struct error *error);
void access_keys_close(struct access_keys *keys); /* NULL is allowed */

/* Returns whether requests are asked for a key, because one was made. */
bool access_keys_any(const struct access_keys *keys);

/* Finds the principal whose key the text is.
 *   ST_KEY_MALFORMED  it does not have the form of a key
 *   ST_KEY_UNKNOWN    there is no such key
 *   ST_KEY_REVOKED, ST_KEY_EXPIRED  the key was revoked, or has expired */
enum status access_keys_verify(struct access_keys *keys, const char *text,
                               struct principal *out, struct error *error);

/* Finds the principal of the key of that id, which was shown before: a login has only
 * the id. The statuses are those of access_keys_verify, but ST_KEY_MALFORMED. */
enum status access_keys_accept(struct access_keys *keys, const char *id,
                               struct principal *out, struct error *error);

/* Checks that a principal which was accepted may go on: its key has been neither
 * revoked nor has it expired since. The local principal may go on as long as there are
 * no keys. Call this before answering a request that was accepted long ago. The
 * statuses are those of access_keys_verify. */
enum status access_keys_hold(struct access_keys *keys,
                             const struct principal *principal, struct error *error);

/* Copies the key of that id. If there is none, returns false and zeroes out, which
 * takes about as long. */
bool access_keys_find(struct access_keys *keys, const char *id, struct access_key *out);
size_t access_keys_count(struct access_keys *keys);
/* Copies the key at an index; the oldest has index 0. */
void access_keys_at(struct access_keys *keys, size_t place, struct access_key *out);

/* Returns whether the key is neither revoked nor expired at that time. */
bool access_key_is_good(const struct access_key *key, int64_t now_ms);

struct access_key_made { /* holds a secret: wipe it with hash_zero */
    char id[ACCESS_KEY_ID_SIZE];
    char text[ACCESS_KEY_TEXT_SIZE];
};

/* Makes a key, which is valid once the transaction is durable. */
enum status access_keys_add(struct access_keys *keys, struct store_tx *tx,
                            const struct key_request *request,
                            struct access_key_made *out, struct error *error);

/* Revokes a key. A key that was revoked before stays revoked.
 *   ST_NOT_FOUND  there is none */
enum status access_keys_revoke(struct access_keys *keys, struct store_tx *tx,
                               const char *id, struct error *error);

/* Gives a key another policy, which applies once the transaction is durable.
 *   ST_NOT_FOUND  there is none */
enum status access_keys_limit(struct access_keys *keys, struct store_tx *tx,
                              const char *id, const struct key_policy *policy,
                              struct error *error);

/* Makes a key expire at that time, if it would expire later.
 *   ST_NOT_FOUND  there is none */
enum status access_keys_shorten(struct access_keys *keys, struct store_tx *tx,
                                const char *id, int64_t expire_ms, struct error *error);

/* Updates the key of that id in memory from its row in tx, which another daemon has
 * written: adds the key, or takes over its policy, expiry and revocation.
 *   ST_CORRUPT  the row cannot be read
 *   ST_IO       the store is poisoned */
enum status access_keys_renew(struct access_keys *keys, struct store_tx *tx,
                              const char *id, struct error *error);

/* Writes the days on which keys were last used, if they have changed: at most one row
 * per key and day. A failure is logged and loses at most one day. */
void access_keys_save_used(struct access_keys *keys, struct store *store);

#endif
