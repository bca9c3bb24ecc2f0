/* A login has a place in a table of fixed size. The first bytes of its cookie's digest
 * choose a chain of places, so that finding a login costs the same however many there
 * are. Only a new login scans the table, for a free place. */
#include "service/identity/logins.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/limits.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/random.h"
#include "store/rows/login_rows.h"

enum { MS_PER_S = 1000, CHAINS = 1024 };

struct place {
    uint8_t digest[SHA256_SIZE];  /* of the cookie */
    char key[PRINCIPAL_KEY_SIZE]; /* "": the place is free */
    int64_t begin_ms, used_ms;
    int64_t saved_ms; /* used_ms in the login's row */
    bool forgotten;
    uint64_t turn;      /* number of the last use, over all logins: orders uses */
    struct place *next; /* of its chain */
};

/* Rows of another daemon are read one by one, in any order: possibly a new login before
 * the one that ended to make room for it. Hence the factor. */
enum { PLACES = 2 * LIMIT_LOGINS };

struct logins {
    pthread_mutex_t lock; /* guards the rest */
    uint64_t turns;
    struct place *chains[CHAINS];
    struct place places[PLACES];
};

struct logins *logins_create(void)
{
    struct logins *logins = calloc(1, sizeof *logins);
    CHECK(logins != NULL);
    pthread_mutex_init(&logins->lock, NULL);
    return logins;
}

void logins_destroy(struct logins *logins)
{
    if (logins == NULL)
        return;
    pthread_mutex_destroy(&logins->lock);
    hash_zero(logins->places, sizeof logins->places);
    free(logins);
}

/* --- places; the lock is held --- */

static bool is_free(const struct place *place)
{
    return place->key[0] == '\0';
}

static bool is_over(const struct place *place, int64_t now_ms)
{
    return is_free(place) || place->forgotten ||
           now_ms - place->begin_ms >= (int64_t)LOGIN_LIFE_S * MS_PER_S ||
           now_ms - place->used_ms >= (int64_t)LOGIN_IDLE_S * MS_PER_S;
}

static struct place **chain_of(struct logins *logins, const uint8_t digest[SHA256_SIZE])
{
    return &logins->chains[(digest[0] | digest[1] << 8) % CHAINS];
}

static struct place *find_digest(struct logins *logins,
                                 const uint8_t digest[SHA256_SIZE])
{
    struct place *place = *chain_of(logins, digest);
    while (place != NULL && !hash_equal(digest, place->digest, SHA256_SIZE))
        place = place->next;
    return place;
}

static void vacate(struct logins *logins, struct place *place)
{
    struct place **at = chain_of(logins, place->digest);
    while (*at != place)
        at = &(*at)->next;
    *at = place->next;
    *place = (struct place){0};
}

static void vacate_digest(struct logins *logins, const uint8_t digest[SHA256_SIZE])
{
    struct place *place = find_digest(logins, digest);
    if (place != NULL)
        vacate(logins, place);
}

/* If there is no free place, this daemon does not know the login. */
static void occupy(struct logins *logins, const struct place *login)
{
    for (size_t i = 0; i < PLACES; i++) {
        struct place *place = &logins->places[i];
        if (!is_free(place))
            continue;
        struct place **chain = chain_of(logins, login->digest);
        *place = *login;
        place->turn = ++logins->turns;
        place->next = *chain;
        *chain = place;
        return;
    }
}

/* The place of a cookie; NULL if there is none. */
static struct place *find_cookie(struct logins *logins, const char *cookie)
{
    uint8_t digest[SHA256_SIZE];
    if (strlen(cookie) != LOGIN_COOKIE_SIZE - 1 ||
        strspn(cookie, "0123456789abcdef") != LOGIN_COOKIE_SIZE - 1)
        return NULL;
    sha256_of(digest, cookie, LOGIN_COOKIE_SIZE - 1);
    return find_digest(logins, digest);
}

/* --- rows --- */

static bool read_digest(uint8_t digest[SHA256_SIZE], const char *id)
{
    char again[SHA256_HEX_SIZE];
    unsigned byte;
    if (strlen(id) != SHA256_HEX_SIZE - 1)
        return false;
    for (size_t i = 0; i < SHA256_SIZE; i++) {
        if (sscanf(id + 2 * i, "%2x", &byte) != 1)
            return false;
        digest[i] = (uint8_t)byte;
    }
    sha256_render(again, digest);
    return strcmp(again, id) == 0;
}

/* Returns false if the row does not read back. */
static bool from_row(struct place *login, const struct login_row *row)
{
    *login = (struct place){
        .begin_ms = row->begin_ms, .used_ms = row->used_ms, .saved_ms = row->used_ms};
    if (!read_digest(login->digest, row->id) || row->key[0] == '\0' ||
        strlen(row->key) >= sizeof login->key)
        return false;
    strcpy(login->key, row->key);
    return true;
}

struct loading {
    struct logins *logins;
    int64_t now_ms;
    enum status status;
    struct error *error;
};

static bool load_row(void *context, const struct login_row *row)
{
    struct loading *loading = context;
    struct place login;
    if (!from_row(&login, row)) {
        loading->status =
            error_set(loading->error, ST_CORRUPT,
                      "table login, row %.64s: it does not read back", row->id);
        return false;
    }
    if (is_over(&login, loading->now_ms))
        return true;
    pthread_mutex_lock(&loading->logins->lock);
    if (find_digest(loading->logins, login.digest) == NULL)
        occupy(loading->logins, &login);
    pthread_mutex_unlock(&loading->logins->lock);
    return true;
}

enum status logins_load(struct logins *logins, struct store_tx *tx, int64_t now_ms,
                        struct error *error)
{
    struct loading loading = {logins, now_ms, ST_OK, error};
    enum status status = login_rows_walk(tx, load_row, &loading, error);
    return status == ST_OK ? loading.status : status;
}

/* A row that does not read back admits no one, until a start refuses it. */
static bool renew_row(void *context, const struct login_row *row)
{
    struct place *login = context;
    if (!from_row(login, row))
        *login = (struct place){0};
    return false;
}

enum status logins_renew(struct logins *logins, struct store_tx *tx, const char *id,
                         struct error *error)
{
    struct place login = {0};
    uint8_t digest[SHA256_SIZE];
    enum status status = login_row_find(tx, id, renew_row, &login, error);
    if (status != ST_OK || !read_digest(digest, id))
        return status;
    pthread_mutex_lock(&logins->lock);
    struct place *known = find_digest(logins, digest);
    if (known == NULL && !is_free(&login))
        occupy(logins, &login);
    else if (known != NULL && is_free(&login))
        vacate(logins, known);
    else if (known != NULL && known->used_ms < login.used_ms)
        known->used_ms = known->saved_ms = login.used_ms;
    pthread_mutex_unlock(&logins->lock);
    return ST_OK;
}

/* --- begin, end --- */

struct change { /* of a transaction, until its end */
    struct logins *logins;
    struct place login;         /* the login that begins; a free place: none */
    uint8_t ended[SHA256_SIZE]; /* the login that ends, */
    bool ends;                  /* if one ends */
};

static void changed(void *context)
{
    struct change *change = context;
    pthread_mutex_lock(&change->logins->lock);
    if (change->ends)
        vacate_digest(change->logins, change->ended);
    if (!is_free(&change->login))
        occupy(change->logins, &change->login);
    pthread_mutex_unlock(&change->logins->lock);
    free(change);
}

static void put_down(struct store_tx *tx, const struct change *change)
{
    struct change *copy = malloc(sizeof *copy);
    CHECK(copy != NULL);
    *copy = *change;
    store_tx_on_end(tx, changed, free, copy);
}

/* Returns whether there is room for a new login of the key. Sets ended to the login
 * that must end for it, if any: the key's own that was idle longest, or an expired
 * one. */
static bool find_room(struct change *change, const char *key, int64_t now_ms)
{
    const struct place *over = NULL, *oldest = NULL;
    unsigned own = 0, taken = 0;
    pthread_mutex_lock(&change->logins->lock);
    for (size_t i = 0; i < PLACES; i++) {
        const struct place *place = &change->logins->places[i];
        if (is_free(place))
            continue;
        taken++;
        if (is_over(place, now_ms)) {
            over = place;
        } else if (strcmp(place->key, key) == 0) {
            own++;
            if (oldest == NULL || place->turn < oldest->turn)
                oldest = place;
        }
    }
    const struct place *ended = own >= LIMIT_LOGINS_PER_KEY ? oldest
                                : taken >= LIMIT_LOGINS     ? over
                                                            : NULL;
    change->ends = ended != NULL;
    if (ended != NULL)
        memcpy(change->ended, ended->digest, sizeof change->ended);
    pthread_mutex_unlock(&change->logins->lock);
    return ended != NULL || taken < LIMIT_LOGINS;
}

static void write_cookie(char cookie[LOGIN_COOKIE_SIZE])
{
    uint8_t secret[LOGIN_SECRET_SIZE];
    random_bytes(secret, sizeof secret);
    for (size_t i = 0; i < LOGIN_SECRET_SIZE; i++)
        snprintf(cookie + 2 * i, 3, "%02x", secret[i]);
    hash_zero(secret, sizeof secret);
}

static enum status delete_row(struct store_tx *tx, const uint8_t digest[SHA256_SIZE],
                              struct error *error)
{
    char id[SHA256_HEX_SIZE];
    sha256_render(id, digest);
    return login_row_delete(tx, id, error);
}

enum status logins_begin(struct logins *logins, struct store_tx *tx, const char *key,
                         int64_t now_ms, char cookie[LOGIN_COOKIE_SIZE],
                         struct error *error)
{
    char id[SHA256_HEX_SIZE];
    struct change change = {.logins = logins};
    struct place *login = &change.login;
    if (!find_room(&change, key, now_ms))
        return error_set(error, ST_QUEUE_FULL, "%d browsers are logged in already",
                         LIMIT_LOGINS);
    write_cookie(cookie);
    sha256_of(login->digest, cookie, LOGIN_COOKIE_SIZE - 1);
    sha256_render(id, login->digest);
    snprintf(login->key, sizeof login->key, "%s", key);
    login->begin_ms = login->used_ms = login->saved_ms = now_ms;
    const struct login_row row = {id, login->key, now_ms, now_ms};
    enum status status = change.ends ? delete_row(tx, change.ended, error) : ST_OK;
    if (status == ST_OK)
        status = login_row_insert(tx, &row, error);
    if (status == ST_OK)
        put_down(tx, &change);
    return status;
}

enum status logins_end(struct logins *logins, struct store_tx *tx, const char *cookie,
                       struct error *error)
{
    struct change change = {.logins = logins, .ends = true};
    pthread_mutex_lock(&logins->lock);
    const struct place *place = find_cookie(logins, cookie);
    if (place != NULL)
        memcpy(change.ended, place->digest, sizeof change.ended);
    pthread_mutex_unlock(&logins->lock);
    if (place == NULL)
        return ST_OK;
    enum status status = delete_row(tx, change.ended, error);
    if (status == ST_OK)
        put_down(tx, &change);
    return status;
}

void logins_forget(struct logins *logins, const char *cookie)
{
    pthread_mutex_lock(&logins->lock);
    struct place *place = find_cookie(logins, cookie);
    if (place != NULL)
        place->forgotten = true;
    pthread_mutex_unlock(&logins->lock);
}

/* --- use --- */

bool logins_find(struct logins *logins, const char *cookie, int64_t now_ms,
                 struct login *found)
{
    pthread_mutex_lock(&logins->lock);
    struct place *place = find_cookie(logins, cookie);
    bool holds = place != NULL && !is_over(place, now_ms);
    if (place != NULL)
        place->forgotten = !holds; /* stays so even if the clock goes back */
    if (holds) {
        place->used_ms = now_ms;
        place->turn = ++logins->turns;
        memcpy(found->key, place->key, sizeof found->key);
        found->left_s = LOGIN_LIFE_S - (now_ms - place->begin_ms) / MS_PER_S;
    }
    pthread_mutex_unlock(&logins->lock);
    return holds;
}

bool logins_hold(struct logins *logins, const char *cookie, int64_t now_ms)
{
    pthread_mutex_lock(&logins->lock);
    const struct place *place = find_cookie(logins, cookie);
    bool holds = place != NULL && !is_over(place, now_ms);
    pthread_mutex_unlock(&logins->lock);
    return holds;
}

/* --- saving uses, deleting expired logins --- */

static bool is_due(const struct place *place, int64_t now_ms)
{
    return !is_free(place) &&
           (is_over(place, now_ms) ||
            place->used_ms - place->saved_ms >= (int64_t)LOGIN_STEP_S * MS_PER_S);
}

static bool any_due(struct logins *logins, int64_t now_ms)
{
    bool due = false;
    pthread_mutex_lock(&logins->lock);
    for (size_t i = 0; i < PLACES && !due; i++)
        due = is_due(&logins->places[i], now_ms);
    pthread_mutex_unlock(&logins->lock);
    return due;
}

/* An expired login is removed when its row is deleted. If the write of a use is lost,
 * the use is written again a step later. */
static enum status save_place(struct logins *logins, struct store_tx *tx, size_t index,
                              int64_t now_ms)
{
    char id[SHA256_HEX_SIZE];
    struct change change = {.logins = logins};
    pthread_mutex_lock(&logins->lock);
    struct place *place = &logins->places[index];
    bool due = is_due(place, now_ms);
    int64_t used_ms = place->used_ms;
    change.ends = is_over(place, now_ms);
    if (due && !change.ends)
        place->saved_ms = used_ms;
    memcpy(change.ended, place->digest, sizeof change.ended);
    pthread_mutex_unlock(&logins->lock);
    if (!due)
        return ST_OK;
    sha256_render(id, change.ended);
    if (!change.ends)
        return login_row_use(tx, id, used_ms, NULL);
    put_down(tx, &change);
    return login_row_delete(tx, id, NULL);
}

void logins_save(struct logins *logins, struct store *store, int64_t now_ms)
{
    struct store_tx *tx = NULL;
    struct error error = {0};
    if (!any_due(logins, now_ms))
        return;
    enum status status = store_begin(store, STORE_ROW, &tx, &error);
    if (status == ST_OK) {
        for (size_t i = 0; i < PLACES && status == ST_OK; i++)
            status = save_place(logins, tx, i, now_ms);
        status = store_end(tx, status, &error);
    }
    if (status != ST_OK)
        log_event(LOG_ERROR, "login_use_not_saved", "detail", error.text, (char *)NULL);
}
