/* How it works: a login has a place in a table of fixed size. Its cookie is the number of
 * that place and a secret, so that one comparison finds it, however many there are. Only
 * a new one looks through the table, for a place that is free or has run out. */
#include "service/logins.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/limits.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/random.h"

enum { PLACE_DIGITS = 4 };

struct place {
    uint8_t digest[SHA256_SIZE];  /* of the cookie */
    char key[PRINCIPAL_KEY_SIZE]; /* "": the place is free */
    int64_t begun_s, used_s;
    uint64_t turn; /* among all uses: which of two was the later */
};

struct logins {
    pthread_mutex_t lock; /* guards the rest */
    uint64_t turns;
    struct place places[LIMIT_LOGINS];
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

static bool is_over(const struct place *place, int64_t now_s)
{
    return place->key[0] == '\0' || now_s - place->begun_s >= LOGIN_LIFE_S ||
           now_s - place->used_s >= LOGIN_IDLE_S;
}

/* Answers the place for a new login of the key, or NULL: the one of the key's own that was
 * idle longest where there are as many as it may have, and otherwise a free one. */
static struct place *find_room(struct logins *logins, const char *key, int64_t now_s)
{
    struct place *free_one = NULL, *oldest = NULL;
    unsigned own = 0;
    for (size_t i = 0; i < LIMIT_LOGINS; i++) {
        struct place *place = &logins->places[i];
        if (is_over(place, now_s)) {
            free_one = free_one != NULL ? free_one : place;
        } else if (strcmp(place->key, key) == 0) {
            own++;
            if (oldest == NULL || place->turn < oldest->turn)
                oldest = place;
        }
    }
    return own >= LIMIT_LOGINS_PER_KEY ? oldest : free_one;
}

static void write_cookie(char cookie[LOGIN_COOKIE_SIZE], size_t place)
{
    uint8_t secret[LOGIN_SECRET_SIZE];
    random_bytes(secret, sizeof secret);
    snprintf(cookie, PLACE_DIGITS + 1, "%0*zx", PLACE_DIGITS, place & 0xffff);
    for (size_t i = 0; i < LOGIN_SECRET_SIZE; i++)
        snprintf(cookie + PLACE_DIGITS + 2 * i, 3, "%02x", secret[i]);
    hash_zero(secret, sizeof secret);
}

enum status logins_begin(struct logins *logins, const char *key, int64_t now_s,
                         char cookie[LOGIN_COOKIE_SIZE], struct error *error)
{
    pthread_mutex_lock(&logins->lock);
    struct place *place = find_room(logins, key, now_s);
    if (place != NULL) {
        write_cookie(cookie, (size_t)(place - logins->places));
        sha256_of(place->digest, cookie, LOGIN_COOKIE_SIZE - 1);
        snprintf(place->key, sizeof place->key, "%s", key);
        place->begun_s = place->used_s = now_s;
        place->turn = ++logins->turns;
    }
    pthread_mutex_unlock(&logins->lock);
    if (place == NULL)
        return error_set(error, ST_QUEUE_FULL, "%d browsers are logged in already",
                         LIMIT_LOGINS);
    return ST_OK;
}

/* Answers the place that the cookie names if it is the cookie's; the lock is held. */
static struct place *find_place(struct logins *logins, const char *cookie)
{
    char digits[PLACE_DIGITS + 1] = "";
    uint8_t digest[SHA256_SIZE];
    if (strlen(cookie) != LOGIN_COOKIE_SIZE - 1 ||
        strspn(cookie, "0123456789abcdef") != LOGIN_COOKIE_SIZE - 1)
        return NULL;
    memcpy(digits, cookie, PLACE_DIGITS);
    unsigned long number = strtoul(digits, NULL, 16);
    if (number >= LIMIT_LOGINS)
        return NULL;
    struct place *place = &logins->places[number];
    sha256_of(digest, cookie, LOGIN_COOKIE_SIZE - 1);
    return place->key[0] != '\0' && hash_equal(digest, place->digest, sizeof digest)
               ? place
               : NULL;
}

bool logins_find(struct logins *logins, const char *cookie, int64_t now_s,
                 struct login *found)
{
    pthread_mutex_lock(&logins->lock);
    struct place *place = find_place(logins, cookie);
    if (place != NULL && is_over(place, now_s)) {
        *place = (struct place){0};
        place = NULL;
    }
    if (place != NULL) {
        place->used_s = now_s;
        place->turn = ++logins->turns;
        memcpy(found->key, place->key, sizeof found->key);
        found->left_s = LOGIN_LIFE_S - (now_s - place->begun_s);
    }
    pthread_mutex_unlock(&logins->lock);
    return place != NULL;
}

bool logins_hold(struct logins *logins, const char *cookie, int64_t now_s)
{
    pthread_mutex_lock(&logins->lock);
    const struct place *place = find_place(logins, cookie);
    bool holds = place != NULL && !is_over(place, now_s);
    pthread_mutex_unlock(&logins->lock);
    return holds;
}

void logins_end(struct logins *logins, const char *cookie)
{
    pthread_mutex_lock(&logins->lock);
    struct place *place = find_place(logins, cookie);
    if (place != NULL)
        *place = (struct place){0};
    pthread_mutex_unlock(&logins->lock);
}
