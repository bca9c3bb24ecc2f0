#include "service/identity/access_keys.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "service/threads/registry.h"
#include "store/rows/access_key_rows.h"

enum { MS_PER_DAY = 86400000 };

struct key {
    /* Starts with the id, as registry.h requires. Only its policy and its end change,
     * and the lock guards them. */
    struct access_key known;
    uint8_t sha256[SHA256_SIZE];
    atomic_int_least64_t used_day;
    int64_t saved_day; /* as in its row; accessed only inside transactions */
};

struct access_keys {
    pthread_rwlock_t lock; /* guards registry, and the policy and end of each key */
    struct registry registry;
    atomic_bool any;
    atomic_bool used; /* a key was used on a day that its row does not record yet */
};

struct change { /* the change that is made in memory when the transaction commits */
    struct access_keys *keys;
    struct key *key;
    int64_t expire_ms, revoke_ms;
    struct key_policy policy;
};

/* --- opening --- */

static void enter(struct access_keys *keys, struct key *key)
{
    registry_add(&keys->registry, key);
    atomic_store(&keys->any, true);
}

struct loading {
    struct access_keys *keys;
    enum status status;
    struct error *error;
};

/* Returns NULL if the row cannot be read. */
static struct key *key_of(struct loading *loading, const struct access_key_row *row)
{
    struct key *key = calloc(1, sizeof *key);
    CHECK(key != NULL);
    loading->status =
        access_key_record_read(&key->known, key->sha256, row, loading->error);
    key->saved_day = row->used_day;
    atomic_init(&key->used_day, row->used_day);
    if (loading->status == ST_OK)
        return key;
    error_within(loading->error, loading->status, "table access_key, row %s", row->id);
    free(key);
    return NULL;
}

static bool load_row(void *context, const struct access_key_row *row)
{
    struct loading *loading = context;
    struct key *key = key_of(loading, row);
    if (key != NULL)
        enter(loading->keys, key);
    return key != NULL;
}

enum status access_keys_open(struct access_keys **out, struct store_tx *tx,
                             struct error *error)
{
    struct access_keys *keys = calloc(1, sizeof *keys);
    CHECK(keys != NULL);
    pthread_rwlock_init(&keys->lock, NULL);
    struct loading loading = {.keys = keys, .status = ST_OK, .error = error};
    enum status status = access_key_rows_walk(tx, load_row, &loading, error);
    if (status == ST_OK)
        status = loading.status;
    if (status != ST_OK) {
        access_keys_close(keys);
        return status;
    }
    *out = keys;
    return ST_OK;
}

void access_keys_close(struct access_keys *keys)
{
    if (keys == NULL)
        return;
    registry_fini(&keys->registry, free);
    pthread_rwlock_destroy(&keys->lock);
    free(keys);
}

/* --- checking a key --- */

bool access_keys_any(const struct access_keys *keys)
{
    return atomic_load(&keys->any);
}

/* Checks whether a key may be used. Every request that shows a key, and every one that
 * is renewed, passes this check; known is NULL if there is no such key. */
static enum status check(const struct access_key *known, int64_t now_ms,
                         struct error *error)
{
    if (known == NULL)
        return error_set(error, ST_KEY_UNKNOWN, "there is no such key");
    if (known->revoke_ms != 0)
        return error_set(error, ST_KEY_REVOKED, "the key was revoked");
    if (now_ms >= known->expire_ms)
        return error_set(error, ST_KEY_EXPIRED, "the key has expired");
    return ST_OK;
}

static void touch(struct access_keys *keys, struct key *key, int64_t now_ms)
{
    int64_t day = now_ms / MS_PER_DAY;
    if (atomic_load_explicit(&key->used_day, memory_order_relaxed) == day)
        return;
    atomic_store(&key->used_day, day);
    atomic_store(&keys->used, true);
}

enum status access_keys_verify(struct access_keys *keys, const char *text,
                               struct principal *out, struct error *error)
{
    static const uint8_t nobodys[SHA256_SIZE];
    char id[ACCESS_KEY_ID_SIZE];
    uint8_t digest[SHA256_SIZE];
    int64_t now_ms = clock_wall_ms();
    if (!access_key_parse(id, text))
        return error_set(error, ST_KEY_MALFORMED,
                         "a key is dpk_, 8 letters or digits, _ and 43 more");
    access_key_digest(digest, text);
    pthread_rwlock_rdlock(&keys->lock);
    struct key *key = registry_find(&keys->registry, id);
    const uint8_t *kept = key != NULL ? key->sha256 : nobodys;
    bool same = hash_equal(digest, kept, SHA256_SIZE);
    enum status status = check(same && key != NULL ? &key->known : NULL, now_ms, error);
    if (status == ST_OK) {
        *out = key->known.principal;
        touch(keys, key, now_ms);
    }
    pthread_rwlock_unlock(&keys->lock);
    return status;
}

enum status access_keys_accept(struct access_keys *keys, const char *id,
                               struct principal *out, struct error *error)
{
    pthread_rwlock_rdlock(&keys->lock);
    const struct key *key = registry_find(&keys->registry, id);
    enum status status =
        check(key != NULL ? &key->known : NULL, clock_wall_ms(), error);
    if (status == ST_OK)
        *out = key->known.principal;
    pthread_rwlock_unlock(&keys->lock);
    return status;
}

enum status access_keys_hold(struct access_keys *keys,
                             const struct principal *principal, struct error *error)
{
    struct principal unused;
    if (principal->role == ROLE_LOCAL && access_keys_any(keys))
        return error_set(error, ST_KEY_MISSING, "there are keys now: show one");
    return principal->key[0] != '\0'
               ? access_keys_accept(keys, principal->key, &unused, error)
               : ST_OK;
}

/* --- reading --- */

/* The caller holds the lock. */
static void copy(struct access_key *out, struct key *key)
{
    *out = key->known;
    out->used_day = atomic_load(&key->used_day);
}

bool access_keys_find(struct access_keys *keys, const char *id, struct access_key *out)
{
    pthread_rwlock_rdlock(&keys->lock);
    struct key *key = registry_find(&keys->registry, id);
    if (key != NULL)
        copy(out, key);
    else
        *out = (struct access_key){0};
    pthread_rwlock_unlock(&keys->lock);
    return key != NULL;
}

size_t access_keys_count(struct access_keys *keys)
{
    pthread_rwlock_rdlock(&keys->lock);
    size_t count = keys->registry.count;
    pthread_rwlock_unlock(&keys->lock);
    return count;
}

void access_keys_at(struct access_keys *keys, size_t place, struct access_key *out)
{
    pthread_rwlock_rdlock(&keys->lock);
    CHECK(place < keys->registry.count);
    copy(out, keys->registry.items[place]);
    pthread_rwlock_unlock(&keys->lock);
}

bool access_key_is_good(const struct access_key *key, int64_t now_ms)
{
    return check(key, now_ms, NULL) == ST_OK;
}

/* --- changing --- */

static enum status write_key(struct store_tx *tx, const struct key *key, bool is_new,
                             struct error *error)
{
    return access_key_record_write(tx, &key->known, key->sha256, is_new, error);
}

static struct change *change_create(struct access_keys *keys, struct key *key)
{
    struct change *change = calloc(1, sizeof *change);
    CHECK(change != NULL);
    *change = (struct change){.keys = keys, .key = key};
    return change;
}

static void added(void *context)
{
    struct change *change = context;
    pthread_rwlock_wrlock(&change->keys->lock);
    enter(change->keys, change->key);
    pthread_rwlock_unlock(&change->keys->lock);
    free(change);
}

static void not_added(void *context)
{
    struct change *change = context;
    free(change->key);
    free(change);
}

enum status access_keys_add(struct access_keys *keys, struct store_tx *tx,
                            const struct key_request *request,
                            struct access_key_made *out, struct error *error)
{
    struct key *key = calloc(1, sizeof *key);
    CHECK(key != NULL);
    struct access_key *known = &key->known;
    access_key_make(out->id, out->text);
    access_key_digest(key->sha256, out->text);
    memcpy(known->id, out->id, sizeof known->id);
    known->principal = request->principal;
    known->principal.via = VIA_BEARER;
    memcpy(known->principal.key, out->id, sizeof out->id);
    known->policy = request->policy;
    known->create_ms = clock_wall_ms();
    known->expire_ms = known->create_ms + (int64_t)request->days * MS_PER_DAY;
    enum status status = write_key(tx, key, true, error);
    if (status != ST_OK) {
        free(key);
        return status;
    }
    store_tx_on_end(tx, added, not_added, change_create(keys, key));
    return ST_OK;
}

static void ended(void *context)
{
    struct change *change = context;
    pthread_rwlock_wrlock(&change->keys->lock);
    change->key->known.expire_ms = change->expire_ms;
    change->key->known.revoke_ms = change->revoke_ms;
    pthread_rwlock_unlock(&change->keys->lock);
    free(change);
}

/* Copies the key of that id to out, to be edited and written. Returns the key in
 * memory, or NULL if there is none. */
static struct key *take_copy(struct access_keys *keys, const char *id, struct key *out)
{
    pthread_rwlock_rdlock(&keys->lock);
    struct key *key = registry_find(&keys->registry, id);
    if (key != NULL) {
        copy(&out->known, key);
        memcpy(out->sha256, key->sha256, SHA256_SIZE);
    }
    pthread_rwlock_unlock(&keys->lock);
    return key;
}

/* Ends a key at the given times. A time of 0 changes nothing, and an earlier expiry or
 * revocation stays. */
static enum status end(struct access_keys *keys, struct store_tx *tx, const char *id,
                       const struct change *times, struct error *error)
{
    struct key written = {0};
    struct key *key = take_copy(keys, id, &written);
    struct access_key *known = &written.known;
    if (key == NULL)
        return error_set(error, ST_NOT_FOUND, "no key \"%s\"", id);
    if (times->expire_ms != 0 && times->expire_ms < known->expire_ms)
        known->expire_ms = times->expire_ms;
    if (known->revoke_ms == 0)
        known->revoke_ms = times->revoke_ms;
    enum status status = write_key(tx, &written, false, error);
    if (status != ST_OK)
        return status;
    struct change *change = change_create(keys, key);
    change->expire_ms = known->expire_ms;
    change->revoke_ms = known->revoke_ms;
    store_tx_on_end(tx, ended, free, change);
    return ST_OK;
}

enum status access_keys_revoke(struct access_keys *keys, struct store_tx *tx,
                               const char *id, struct error *error)
{
    const struct change times = {.revoke_ms = clock_wall_ms()};
    return end(keys, tx, id, &times, error);
}

enum status access_keys_shorten(struct access_keys *keys, struct store_tx *tx,
                                const char *id, int64_t expire_ms, struct error *error)
{
    const struct change times = {.expire_ms = expire_ms};
    return end(keys, tx, id, &times, error);
}

static void limited(void *context)
{
    struct change *change = context;
    pthread_rwlock_wrlock(&change->keys->lock);
    change->key->known.policy = change->policy;
    pthread_rwlock_unlock(&change->keys->lock);
    free(change);
}

enum status access_keys_limit(struct access_keys *keys, struct store_tx *tx,
                              const char *id, const struct key_policy *policy,
                              struct error *error)
{
    struct key written = {0};
    struct key *key = take_copy(keys, id, &written);
    if (key == NULL)
        return error_set(error, ST_NOT_FOUND, "no key \"%s\"", id);
    written.known.policy = *policy;
    enum status status = write_key(tx, &written, false, error);
    if (status != ST_OK)
        return status;
    struct change *change = change_create(keys, key);
    change->policy = *policy;
    store_tx_on_end(tx, limited, free, change);
    return ST_OK;
}

/* Keys are never removed, so an index always names the same key. */
static enum status save_days(struct access_keys *keys, struct store_tx *tx)
{
    enum status status = ST_OK;
    size_t count = access_keys_count(keys);
    for (size_t i = 0; i < count && status == ST_OK; i++) {
        struct key written = {0};
        pthread_rwlock_rdlock(&keys->lock);
        struct key *key = keys->registry.items[i];
        pthread_rwlock_unlock(&keys->lock);
        take_copy(keys, key->known.id, &written);
        if (written.known.used_day == key->saved_day)
            continue;
        status = write_key(tx, &written, false, NULL);
        key->saved_day = written.known.used_day;
    }
    return status;
}

void access_keys_save_used(struct access_keys *keys, struct store *store)
{
    struct store_tx *tx = NULL;
    struct error error = {0};
    if (!atomic_exchange(&keys->used, false))
        return;
    enum status status = store_begin(store, STORE_ROW, &tx, &error);
    if (status == ST_OK)
        status = store_end(tx, save_days(keys, tx), &error);
    if (status != ST_OK)
        log_event(LOG_ERROR, "key_use_not_saved", "detail", error.text, (char *)NULL);
}

/* --- changes by other daemons --- */

/* Copies what may change of a key. The caller holds the lock for writing. */
static void take_over(struct key *key, struct key *fresh)
{
    int64_t used = atomic_load(&fresh->used_day);
    key->known.policy = fresh->known.policy;
    key->known.expire_ms = fresh->known.expire_ms;
    key->known.revoke_ms = fresh->known.revoke_ms;
    key->saved_day = fresh->saved_day;
    if (atomic_load(&key->used_day) < used)
        atomic_store(&key->used_day, used);
}

static bool renew_row(void *context, const struct access_key_row *row)
{
    struct loading *renewal = context;
    struct access_keys *keys = renewal->keys;
    struct key *fresh = key_of(renewal, row);
    if (fresh == NULL)
        return false;
    pthread_rwlock_wrlock(&keys->lock);
    struct key *known = registry_find(&keys->registry, row->id);
    if (known == NULL)
        enter(keys, fresh);
    else
        take_over(known, fresh);
    pthread_rwlock_unlock(&keys->lock);
    if (known != NULL)
        free(fresh);
    return false;
}

enum status access_keys_renew(struct access_keys *keys, struct store_tx *tx,
                              const char *id, struct error *error)
{
    struct loading renewal = {.keys = keys, .status = ST_OK, .error = error};
    enum status status = access_key_row_find(tx, id, renew_row, &renewal, error);
    if (status == ST_OK && renewal.status != ST_OK)
        status = ST_CORRUPT;
    return status;
}
