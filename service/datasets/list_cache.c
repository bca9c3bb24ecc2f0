#include "service/datasets/list_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum { PLACES = 4096 }; /* of half a kilobyte each: several times what all pages show */

struct place {
    struct line_key key; /* subject is NULL: the place is empty */
    char *text;
};

struct list_cache {
    pthread_mutex_t lock; /* guards all below */
    struct place places[PLACES];
};

struct list_cache *list_cache_create(void)
{
    struct list_cache *lines = calloc(1, sizeof *lines);
    CHECK(lines != NULL);
    pthread_mutex_init(&lines->lock, NULL);
    return lines;
}

void list_cache_destroy(struct list_cache *lines)
{
    if (lines == NULL)
        return;
    for (size_t i = 0; i < PLACES; i++)
        free(lines->places[i].text);
    pthread_mutex_destroy(&lines->lock);
    free(lines);
}

/* Subjects are pointers to blocks of memory; such addresses differ in their middle
 * bits. */
static struct place *place_of(struct list_cache *lines, const void *subject)
{
    uint64_t mixed = (uint64_t)(uintptr_t)subject * UINT64_C(0x9e3779b97f4a7c15);
    return &lines->places[(mixed >> 40) % PLACES];
}

char *list_cache_find(struct list_cache *lines, const struct line_key *key)
{
    char *text = NULL;
    pthread_mutex_lock(&lines->lock);
    const struct place *place = place_of(lines, key->subject);
    if (place->key.subject == key->subject &&
        place->key.versions[0] == key->versions[0] &&
        place->key.versions[1] == key->versions[1]) {
        text = strdup(place->text);
        CHECK(text != NULL);
    }
    pthread_mutex_unlock(&lines->lock);
    return text;
}

void list_cache_put(struct list_cache *lines, const struct line_key *key,
                    const char *text)
{
    char *copy = strdup(text);
    CHECK(copy != NULL);
    pthread_mutex_lock(&lines->lock);
    struct place *place = place_of(lines, key->subject);
    char *before = place->text;
    *place = (struct place){*key, copy};
    pthread_mutex_unlock(&lines->lock);
    free(before);
}
