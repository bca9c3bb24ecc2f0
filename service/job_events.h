/*
 * job_events.h - the events of one job: a snapshot, then what is newer than a cursor, and
 * at last its end.
 *
 * What was shown between two batches comes as it is at the second: progress that was shown
 * in between is skipped, an evaluation and what was released never are.
 *
 * Threads: any.
 */
#ifndef SERVICE_JOB_EVENTS_H
#define SERVICE_JOB_EVENTS_H

#include "service/event_feed.h"

struct event_feed job_events_feed(struct context *context, struct job *job,
                                  bool histograms);

/* The cursor of whoever has read the event of this id (the header Last-Event-ID; NULL is
 * allowed): one that has not begun where no event of the job has it. Of an event that
 * another daemon of the store has sent, or an earlier start, it leads to every point behind
 * those that were read, and to the job's progress, state and a change as they are, though
 * some of it may have been read. ended: that was the last event there will be. */
struct event_cursor job_events_cursor(const struct event_feed *feed, const char *id,
                                      bool *ended);

#endif
