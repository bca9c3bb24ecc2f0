/*
 * event_feed.h - something that clients follow: a job (job_events.h), or the lists
 * (list_events.h).
 *
 * A feed returns the version of its subject, and composes the events that are newer
 * than a cursor. It shows what a poll would show at the same moment, and nothing else:
 * what depends on the timing of a run is in neither before a tick has shown it
 * (clock_tick.h).
 *
 * Threads: any.
 */
#ifndef SERVICE_HTTP_EVENT_FEED_H
#define SERVICE_HTTP_EVENT_FEED_H

#include "service/http/event_batches.h"

struct daemon_state; /* daemon_state.h */
struct job;          /* jobs.h */
struct event_feed;   /* see below */

struct event_feed_kind {
    /* Returns the newest version of the subject. */
    uint64_t (*version)(const struct event_feed *feed);
    /* Returns the events that are newer than key->from; the caller holds the batch. It
     * has everything if the cursor has not begun, and at most a few dozen events
     * otherwise. It may have none, and leads to a later cursor all the same. */
    struct event_batch *(*compose)(const struct event_feed *feed,
                                   const struct event_key *key);
};

struct event_feed {
    const struct event_feed_kind *kind;
    struct daemon_state *context;
    struct job *job;           /* NULL for the lists */
    bool histograms;           /* of a job: released values come with histograms */
    struct dataset_id dataset; /* of the lists: only jobs on it; "": all */
    char project[PRINCIPAL_NAME_SIZE]; /* of the lists: only jobs in it; "": all */
    const void
        *subject;   /* identifies the job among batches; NULL for a feed of the lists */
    uint64_t order; /* at one tick, those of lower order are woken first */
};

#endif
