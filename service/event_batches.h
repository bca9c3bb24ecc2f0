/*
 * event_batches.h - events as they are sent: a text of a few of them, composed once and
 * shared by all whose cursor stands where it begins. Those that were asked for last are
 * kept.
 *
 *   cursor --batch--> cursor --batch--> cursor ...
 *
 * Invariants
 *   (1) Nothing in a batch changes but the number of its holders, and the last to drop it
 *       frees it.
 *
 * Threads: any.
 */
#ifndef SERVICE_EVENT_BATCHES_H
#define SERVICE_EVENT_BATCHES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/principal.h"

struct event_cursor {        /* how far a follower has come; zeroed: nothing was sent */
    bool begun;              /* a snapshot was */
    uint64_t version;        /* all that was shown up to this version was sent, */
    size_t points, released; /* and of a job so many of its points; */
    uint64_t step, stage;    /* its step and stage (event_mark) as they were told */
    bool anew; /* by another daemon or start: what else there is of the job is told again */
};

struct event_key {                     /* what a batch is of */
    const void *subject;               /* a job; NULL: a list */
    struct dataset_id dataset;         /* of a list of jobs on it alone; "": of all */
    char project[PRINCIPAL_NAME_SIZE]; /* of the jobs of a list; "": of all */
    bool histograms;
    uint64_t version; /* the newest of its subject when it was composed */
    struct event_cursor from;
};

struct event_batch {
    atomic_uint holders;
    struct event_key key;
    struct event_cursor to;
    bool is_last; /* nothing comes behind it, ever */
    size_t size;
    char *text; /* owned */
};

/* Makes a batch that the caller holds. */
struct event_batch *event_batch_create(const struct event_key *key, char *text_take,
                                       size_t size);
void event_batch_drop(struct event_batch *batch); /* NULL is allowed */

struct event_batches; /* opaque: those that are kept */

struct event_batches *event_batches_create(void);
void event_batches_destroy(struct event_batches *batches); /* NULL is allowed */

/* The batch of that key, held for the caller; NULL where none is kept. */
struct event_batch *event_batches_find(struct event_batches *batches,
                                       const struct event_key *key);
/* Keeps the batch, which the caller goes on to hold, in the place of the oldest. */
void event_batches_keep(struct event_batches *batches, struct event_batch *batch);

#endif
