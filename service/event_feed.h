/*
 * event_feed.h - what is followed: a job (job_events.h), or the lists (list_events.h).
 *
 * A feed answers which version its subject is of, and composes what is newer than a
 * cursor. It shows what a poll would show at the same moment, and nothing else: whatever
 * the timing of a run decides is in neither before a tick has shown it (tick.h).
 *
 * Threads: any.
 */
#ifndef SERVICE_EVENT_FEED_H
#define SERVICE_EVENT_FEED_H

#include "base/id.h"
#include "service/event_batches.h"

struct context;    /* context.h */
struct job;        /* jobs.h */
struct event_feed; /* below */

struct event_feed_kind {
    /* The newest version of what is followed. */
    uint64_t (*version)(const struct event_feed *feed);
    /* What is newer than key->from, held by the caller: all that there is where the
     * cursor has not begun, and at most a few dozen events otherwise. It may hold none,
     * and leads to a cursor that is further all the same. */
    struct event_batch *(*compose)(const struct event_feed *feed,
                                   const struct event_key *key);
};

struct event_feed {
    const struct event_feed_kind *kind;
    struct context *context;
    struct job *job;           /* of a job's feed; NULL of the lists' */
    bool histograms;           /* of a job's: what it releases comes with its lists */
    struct dataset_id dataset; /* of the lists': of jobs on it alone; "": of all jobs */
    char project[PRINCIPAL_NAME_SIZE]; /* likewise: of jobs in it alone; "": in all */
    const void
        *subject;   /* what the job is known by among batches; NULL of the lists' */
    uint64_t order; /* those of lower order are woken first, at one tick */
};

#endif
