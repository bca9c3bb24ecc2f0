/*
 * access_key_record.h - all that is known of one access key, and its row in the store.
 *
 * Threads: pure, but for the transaction that a row is written in.
 */
#ifndef SERVICE_IDENTITY_ACCESS_KEY_RECORD_H
#define SERVICE_IDENTITY_ACCESS_KEY_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "api/requests/key_request.h"
#include "base/access_key.h"
#include "base/hash.h"

struct access_key_row;
struct store_tx;

struct access_key { /* a copy of all data of one key */
    char id[ACCESS_KEY_ID_SIZE];
    struct principal principal; /* whom the key identifies */
    struct key_policy policy;
    int64_t create_ms, expire_ms;
    int64_t revoke_ms; /* 0: not revoked */
    int64_t used_day;  /* day of last use, in days since 1970-01-01; 0: never */
};

/* Reads a row; sha256 is the digest of the key's secret.
 *   ST_CORRUPT, ST_INVALID  the row is none that the program has written */
enum status access_key_record_read(struct access_key *known,
                                   uint8_t sha256[SHA256_SIZE],
                                   const struct access_key_row *row,
                                   struct error *error);

/* Inserts the row of a new key, or updates that of a known one.
 *   ST_IO  the store is poisoned */
enum status access_key_record_write(struct store_tx *tx, const struct access_key *known,
                                    const uint8_t sha256[SHA256_SIZE], bool is_new,
                                    struct error *error);

/* Writes to detail whose key it is, as JSON for the audit trail:
 * {"owner","project","role"}. */
enum { ACCESS_KEY_DETAIL_SIZE = 256 };
void access_key_detail(char detail[ACCESS_KEY_DETAIL_SIZE],
                       const struct principal *principal);

#endif
