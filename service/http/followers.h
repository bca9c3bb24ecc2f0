/*
 * followers.h - the open event streams: which clients follow a job or the lists, and
 * when their streams are written to.
 *
 *            batch, comment                      nothing newer
 *   WRITING <-------------- tick -- WAITING <--------------------- WRITING
 *
 * Invariants
 *   (1) No follower has a queue. It has a cursor, and holds at most one batch of
 *       events, which it shares with others; when that is sent, it takes what is newer
 *       than the cursor at that time. A follower that never reads costs its connection,
 *       that batch, and no thread.
 *   (2) A waiting follower is woken only at ticks of the tick clock. All are woken at
 *       once, in order of submission of what they follow, by what that tick has shown:
 *       an event or, COMMENT_TICKS after the last thing that was sent, a comment. So
 *       the times at which a stream is written to are functions of what is shown at
 *       ticks, of the ticks counted since, and of when its client connected and read;
 *       the order of two streams is one of submission. A follower that reads slowly
 *       takes what is newer when it has room, which is not at a tick, but what it then
 *       gets was shown at one: a step, an evaluation or an end that a run has reached
 *       since is in no job's `now` (job.h) before the next tick.
 *   (3) A stream ends at the first tick at which its principal may not stay any more,
 *       and before it is given anything else.
 *   (4) No change is missed: the check for one is repeated under the lock that the tick
 *       takes.
 *
 * Threads: any may follow; a stream belongs to the HTTP thread of its connection.
 */
#ifndef SERVICE_HTTP_FOLLOWERS_H
#define SERVICE_HTTP_FOLLOWERS_H

#include "base/status.h"
#include "service/http/event_feed.h"

struct stream;

struct followers; /* opaque */

/* Functions on a connection; waiting is the one from struct following. */
struct followers_hooks {
    bool (*suspend)(void *waiting); /* false: it is closing, or the client has gone */
    void (*resume)(void *waiting);
    bool (*may_stay)(
        void *waiting); /* false: the client may not be sent anything any more */
};

struct followers *followers_create(const struct followers_hooks *hooks);
/* Precondition: no stream is open. NULL is allowed. */
void followers_destroy(struct followers *followers);

struct following {
    struct event_feed feed;
    struct event_cursor from;
    const struct principal *principal;
    void *waiting;
};

/* Opens a stream of events.
 *   ST_QUEUE_FULL  LIMIT_FOLLOWERS are open, or LIMIT_FOLLOWERS_EACH of that principal,
 *                  unless it is the local one */
enum status followers_follow(struct followers *followers,
                             const struct following *following, struct stream *stream,
                             struct error *error);

/* Wakes the followers for which the tick has something. The tick calls this when it has
 * shown everything. */
void followers_tick(struct followers *followers);

/* Wakes all followers. From now on a stream ends when it would have to wait. */
void followers_close(struct followers *followers);

#endif
