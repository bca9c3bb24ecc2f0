/*
 * job_events.h - the events of one job: a snapshot, then what is newer than a cursor,
 * and finally the job's end.
 *
 * A batch shows the job as it is then: progress that was shown since the last batch and
 * replaced is skipped. Evaluations and released values are never skipped.
 *
 * Threads: any.
 */
#ifndef SERVICE_JOBS_JOB_EVENTS_H
#define SERVICE_JOBS_JOB_EVENTS_H

#include "service/http/event_feed.h"

struct event_feed job_events_feed(struct daemon_state *context, struct job *job,
                                  bool histograms);

/* Returns the cursor behind the event of this id (the header Last-Event-ID; NULL is
 * allowed). If no event of the job has the id, the cursor has not begun. If another
 * daemon of the store or an earlier start sent the event, the cursor leads to every
 * point after those that were read, and to a progress, a state and a change event of
 * the job as it is now, though the client may have read some of this.
 *   ended  that was the last event there will be */
struct event_cursor job_events_cursor(const struct event_feed *feed, const char *id,
                                      bool *ended);

#endif
