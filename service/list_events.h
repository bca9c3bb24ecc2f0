/*
 * list_events.h - the events of all jobs, or of those on one dataset, for whoever shows
 * lists: how each moves, and what becomes of the budgets that they are charged to.
 *
 * A snapshot says that from here on nothing is missed; the lists themselves are asked for
 * as ever. Jobs come in the order in which they changed, and a job that changed several
 * times since comes once, as it is now.
 *
 * Threads: any.
 */
#ifndef SERVICE_LIST_EVENTS_H
#define SERVICE_LIST_EVENTS_H

#include "service/event_feed.h"

struct dataset; /* datasets.h */

/* dataset is NULL for jobs on any, project "" for those of all projects. */
struct event_feed list_events_feed(struct context *context,
                                   const struct dataset *dataset, const char *project);

/* As job_events_cursor. These events have no end. */
struct event_cursor list_events_cursor(const struct event_feed *feed, const char *id);

#endif
