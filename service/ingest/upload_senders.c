#include "service/ingest/upload_senders.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/principal.h"
#include "store/blobs/blob_name.h"

struct sent_file {
    struct blob_name name;
    struct principal sender;
};

struct upload_senders {
    pthread_mutex_t lock; /* guards the members below */
    size_t count;
    struct sent_file files[UPLOAD_SENDERS_MAX]; /* the one noted first comes first */
};

struct upload_senders *upload_senders_create(void)
{
    struct upload_senders *senders = calloc(1, sizeof *senders);
    CHECK(senders != NULL);
    CHECK(pthread_mutex_init(&senders->lock, NULL) == 0);
    return senders;
}

void upload_senders_destroy(struct upload_senders *senders)
{
    if (senders == NULL)
        return;
    pthread_mutex_destroy(&senders->lock);
    free(senders);
}

bool upload_sender_same(const struct principal *a, const struct principal *b)
{
    return principal_equal(a, b) && strcmp(a->key, b->key) == 0;
}

/* Returns the place of the file, or count if it is not noted. */
static size_t find(const struct upload_senders *senders, const struct blob_name *name)
{
    size_t i = 0;
    while (i < senders->count && (senders->files[i].name.kind != name->kind ||
                                  strcmp(senders->files[i].name.id, name->id) != 0))
        i++;
    return i;
}

static void drop(struct upload_senders *senders, size_t place)
{
    if (place == senders->count)
        return;
    senders->count--;
    memmove(&senders->files[place], &senders->files[place + 1],
            (senders->count - place) * sizeof *senders->files);
}

void upload_senders_note(struct upload_senders *senders, const struct blob_name *name,
                         const struct principal *sender)
{
    pthread_mutex_lock(&senders->lock);
    drop(senders, find(senders, name));
    if (senders->count == UPLOAD_SENDERS_MAX)
        drop(senders, 0);
    senders->files[senders->count++] = (struct sent_file){*name, *sender};
    pthread_mutex_unlock(&senders->lock);
}

void upload_senders_forget(struct upload_senders *senders, const struct blob_name *name)
{
    pthread_mutex_lock(&senders->lock);
    drop(senders, find(senders, name));
    pthread_mutex_unlock(&senders->lock);
}

bool upload_senders_is(struct upload_senders *senders, const struct blob_name *name,
                       const struct principal *principal)
{
    pthread_mutex_lock(&senders->lock);
    const size_t place = find(senders, name);
    bool is = place < senders->count &&
              upload_sender_same(&senders->files[place].sender, principal);
    pthread_mutex_unlock(&senders->lock);
    return is;
}
