/*
 * event_batches.h - rendered events: a text of a few events, composed once and shared
 * by all followers whose cursor is at its beginning. The batches that were requested
 * last are cached.
 *
 *   cursor --batch--> cursor --batch--> cursor ...
 *
 * Invariants
 *   (1) Nothing in a batch changes except the number of its holders, and the last one
 *       to drop it frees it.
 *
 * Threads: any.
 */
#ifndef SERVICE_HTTP_EVENT_BATCHES_H
#define SERVICE_HTTP_EVENT_BATCHES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/principal.h"

/* A follower's position in a feed; zeroed: nothing was sent. */
struct event_cursor {
    bool begun;              /* a snapshot was sent */
    uint64_t version;        /* what was shown up to here was sent */
    size_t points, released; /* for a job: points sent */
    uint64_t step, stage;    /* for a job: step and stage as sent (event_mark) */
    bool anew; /* sent by another daemon or start: the rest of the job is sent again */
};

/* Identifies a batch. */
struct event_key {
    const void *subject;               /* a job; NULL: a list */
    struct dataset_id dataset;         /* of a list: only jobs on it; "": all */
    char project[PRINCIPAL_NAME_SIZE]; /* of a list: only jobs in it; "": all */
    bool histograms;
    uint64_t version; /* newest of the subject when composed */
    struct event_cursor from;
};

struct event_batch {
    atomic_uint holders;
    struct event_key key;
    struct event_cursor to;
    bool is_last; /* nothing ever comes after it */
    size_t size;
    char *text; /* owned */
};

/* Makes a batch that the caller holds. */
struct event_batch *event_batch_create(const struct event_key *key, char *text_take,
                                       size_t size);
void event_batch_drop(struct event_batch *batch); /* NULL is allowed */

struct event_batches; /* opaque: the cache */

struct event_batches *event_batches_create(void);
void event_batches_destroy(struct event_batches *batches); /* NULL is allowed */

/* Returns the batch of that key, which the caller then holds; NULL if it is not
 * cached. */
struct event_batch *event_batches_find(struct event_batches *batches,
                                       const struct event_key *key);
/* Caches the batch, which the caller still holds, in place of the oldest. */
void event_batches_keep(struct event_batches *batches, struct event_batch *batch);

#endif
