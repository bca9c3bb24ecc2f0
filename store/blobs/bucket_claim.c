#include "store/blobs/bucket_claim.h"

#include <string.h>

#include "base/clock.h"
#include "store/blobs/object_garbage.h"
#include "store/blobs/object_transfer.h"

struct claim { /* the row of the marker, if there is one */
    const uint8_t *operator_key;
    struct encrypted_object object;
    uint8_t digest[SHA256_SIZE];
    bool is_made, is_good;
};

static bool see(void *context, const struct blob_row *row)
{
    struct claim *claim = context;
    claim->is_made = true;
    claim->is_good = encrypted_object_unwrap(&claim->object, row, claim->operator_key);
    memcpy(claim->digest, row->chunks, sizeof claim->digest);
    return false;
}

static enum status read_row(struct claim *claim, struct store *store,
                            struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status;
    do {
        status = store_begin(store, STORE_READ, &tx, error);
        if (status != ST_OK)
            return status;
        status = blob_row_find(tx, OBJECT_MARKER, see, claim, error);
    } while (store_again(tx, &status, error));
    return status;
}

static bool see_other(void *context, const char *name, int64_t create_ms)
{
    bool *others = context;
    (void)create_ms;
    *others = *others || strcmp(name, OBJECT_MARKER) != 0;
    return !*others;
}

/* *others = whether the database has rows of other objects. */
static enum status find_others(struct store *store, bool *others, struct error *error)
{
    struct store_tx *tx = NULL;
    *others = false;
    enum status status;
    do {
        status = store_begin(store, STORE_READ, &tx, error);
        if (status != ST_OK)
            return status;
        status = blob_names_walk(tx, see_other, others, error);
    } while (store_again(tx, &status, error));
    return status;
}

enum status bucket_claim_made(struct store *store, bool *made, struct error *error)
{
    static const uint8_t none[CIPHER_KEY_SIZE] = {0};
    struct claim claim = {.operator_key = none};
    enum status status = read_row(&claim, store, error);
    if (status == ST_OK)
        *made = claim.is_made;
    return status;
}

/* --- making --- */

static void seal(struct claim *claim, uint8_t tag[CIPHER_TAG_SIZE])
{
    encrypted_object_seal(&claim->object, 0, tag);
    sha256_of(claim->digest, tag, CIPHER_TAG_SIZE);
}

static enum status insert(struct claim *claim, struct store *store, struct error *error)
{
    struct store_tx *tx = NULL;
    struct blob_row row = {.name = OBJECT_MARKER,
                           .object = OBJECT_MARKER,
                           .chunks = claim->digest,
                           .chunk_count = 1,
                           .create_ms = clock_wall_ms()};
    encrypted_object_wrap(&claim->object, OBJECT_MARKER, claim->operator_key,
                          row.wrapped);
    enum status status = store_begin(store, STORE_ROW, &tx, error);
    if (status != ST_OK)
        return status;
    return store_end(tx, blob_row_insert(tx, &row, error), error);
}

static bool take_nothing(void *context, const void *data, size_t size)
{
    (void)context;
    (void)data;
    return size == 0;
}

static const struct object_sink nowhere = {.take = take_nothing};

/* Puts the object and reads it back: of two daemons that claim one bucket at once, the
 * first may find the other's. */
static enum status put(struct claim *claim, struct bucket *bucket, struct error *error)
{
    uint8_t tag[CIPHER_TAG_SIZE];
    seal(claim, tag);
    enum status status =
        bucket->driver->put(bucket, OBJECT_MARKER, tag, sizeof tag, error);
    return status != ST_OK
               ? status
               : object_receive(bucket, &claim->object, claim->digest, &nowhere, error);
}

/* --- checking --- */

/* Called when the row exists and the object does not. */
static enum status put_missing(struct claim *claim, struct bucket *bucket,
                               struct store *store, bool may_make, struct error *error)
{
    bool others = true;
    enum status status = find_others(store, &others, error);
    if (status != ST_OK)
        return status;
    if (others || !may_make)
        return error_set(error, ST_INVALID,
                         "the bucket is not the one of this database: it has no object "
                         "\"" OBJECT_MARKER "\"");
    return put(claim, bucket, error);
}

static enum status check(struct claim *claim, struct bucket *bucket,
                         struct store *store, bool may_make, struct error *error)
{
    struct error found = {0};
    if (!claim->is_good)
        return error_set(
            error, ST_INVALID,
            "the key of the blobs is not the one that this database's were "
            "wrapped by");
    enum status status =
        object_receive(bucket, &claim->object, claim->digest, &nowhere, &found);
    if (status == ST_NOT_FOUND)
        return put_missing(claim, bucket, store, may_make, error);
    if (status == ST_CORRUPT)
        return error_set(error, ST_INVALID, "the bucket belongs to another database");
    return status == ST_OK ? ST_OK : error_set(error, status, "%s", found.text);
}

/* Called when the object exists and the row did not: unless another daemon of this
 * database has claimed the bucket in between, it is another database's. */
static enum status check_found(struct claim *claim, struct bucket *bucket,
                               struct store *store, struct error *error)
{
    enum status status = read_row(claim, store, error);
    if (status != ST_OK)
        return status;
    if (claim->is_made)
        return check(claim, bucket, store, true, error);
    return error_set(error, ST_INVALID,
                     "the bucket belongs to another database: give an empty bucket, or "
                     "another prefix");
}

/* Objects that are already in the bucket would be taken for garbage. The marker is
 * allowed: a daemon of this database may have put it a moment ago. */
static enum status check_empty(struct bucket *bucket, struct error *error)
{
    size_t count = 0;
    int64_t now_s;
    struct bucket_listed some[2];
    enum status status =
        bucket->driver->list(bucket, "", some, 2, &count, &now_s, error);
    if (status != ST_OK || count == 0 ||
        (count == 1 && strcmp(some[0].name, OBJECT_MARKER) == 0))
        return status;
    return error_set(
        error, ST_INVALID,
        "the bucket has objects of others: give an empty one, or a prefix of "
        "its own");
}

static enum status make(struct claim *claim, struct bucket *bucket, struct store *store,
                        struct error *error)
{
    uint8_t first, tag[CIPHER_TAG_SIZE];
    struct error found = {0}, missing = {0};
    const struct bucket_range range = {.size = sizeof first};
    enum status status =
        bucket->driver->get(bucket, OBJECT_MARKER, &range, &first, &missing);
    if (status == ST_OK || status == ST_CORRUPT)
        return check_found(claim, bucket, store, error);
    if (status != ST_NOT_FOUND)
        return error_set(error, status, "%s", missing.text);
    status = check_empty(bucket, error);
    if (status != ST_OK)
        return status;
    encrypted_object_make(&claim->object, 0, SEALED_STEPS);
    strcpy(claim->object.name, OBJECT_MARKER);
    seal(claim, tag);
    status = insert(claim, store, &found);
    if (status == ST_ALREADY_EXISTS) { /* another daemon was faster */
        status = read_row(claim, store, error);
        return status == ST_OK ? check(claim, bucket, store, true, error) : status;
    }
    if (status != ST_OK)
        return error_set(error, status, "%s", found.text);
    return put(claim, bucket, error);
}

enum status bucket_claim(struct bucket *bucket, struct store *store,
                         const uint8_t operator_key[CIPHER_KEY_SIZE], bool may_make,
                         struct error *error)
{
    struct claim claim = {.operator_key = operator_key};
    struct error found = {0};
    enum status status = read_row(&claim, store, error);
    if (status != ST_OK)
        return status;
    if (!claim.is_made && !may_make)
        return error_set(error, ST_INVALID, "this database's files are in no bucket");
    status = claim.is_made ? check(&claim, bucket, store, may_make, &found)
                           : make(&claim, bucket, store, &found);
    if (status == ST_NOT_FOUND || status == ST_FORBIDDEN || status == ST_CORRUPT)
        status = ST_INVALID;
    hash_zero(&claim.object.key, sizeof claim.object.key);
    return status == ST_OK ? ST_OK : error_set(error, status, "%s", found.text);
}
