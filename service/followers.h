/*
 * followers.h - the open event streams: who follows a job or the lists, and when they are
 * written to.
 *
 *            batch, comment                      nothing newer
 *   WRITING <-------------- tick -- WAITING <--------------------- WRITING
 *
 * Invariants
 *   (1) No follower has a queue. It has a cursor, and holds at most one batch of events
 *       that it shares with others; when that is sent it takes what is newer than the
 *       cursor, as that is then. One that never reads costs its connection, that batch,
 *       and no thread.
 *   (2) Who waits is woken at ticks of the public clock and nowhere else, all at once and
 *       in order of submission of what they follow, by what that tick has shown: an event
 *       or, COMMENT_TICKS after the last thing that was sent, a comment. So the moments at
 *       which a stream is written to are functions of what is shown at ticks, of ticks
 *       counted since, and of when its client connected and read; the order of two
 *       streams is one of submission. A follower that reads slowly takes what is newer
 *       when it has room, which is no tick, but what it is then given was shown at one: a
 *       step, an evaluation or an end that a run has come to since is in no job's `now`
 *       (job.h) before the next.
 *   (3) A stream ends at the first tick at which its principal may not stay any more,
 *       and before it is given anything else.
 *   (4) Nobody misses a change: whether there is one is asked once more under the lock
 *       that the tick takes.
 *
 * Threads: any may follow; a stream belongs to the HTTP thread of its connection.
 */
#ifndef SERVICE_FOLLOWERS_H
#define SERVICE_FOLLOWERS_H

#include "base/principal.h"
#include "base/status.h"
#include "service/event_feed.h"
#include "service/reply.h"

struct followers; /* opaque */

struct followers_hooks { /* what is done with a connection; waiting is what was given */
    bool (*suspend)(void *waiting); /* false: it is closing, or its client has gone */
    void (*resume)(void *waiting);
    bool (*may_stay)(
        void *waiting); /* false: whoever reads is not to be told any more */
};

struct followers *followers_create(const struct followers_hooks *hooks);
/* No stream may be open. NULL is allowed. */
void followers_destroy(struct followers *followers);

struct following {
    struct event_feed feed;
    struct event_cursor from;
    const struct principal *principal;
    void *waiting;
};

/* Opens a stream of events.
 *   ST_QUEUE_FULL  LIMIT_FOLLOWERS are open, or LIMIT_FOLLOWERS_EACH of that principal,
 *                  who is not the local one */
enum status followers_follow(struct followers *followers,
                             const struct following *following, struct stream *stream,
                             struct error *error);

/* Wakes whom the tick has something for. Called by the tick, when it has shown all. */
void followers_tick(struct followers *followers);

/* Wakes all; from now on streams end where they would wait. */
void followers_close(struct followers *followers);

#endif
