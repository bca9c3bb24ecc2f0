/*
 * list_events.h - the events of all jobs, or of the jobs on one dataset, for clients
 * that show lists: the changes of each job, and of the budgets that the jobs are
 * charged to.
 *
 * The snapshot event says that from here on no change is missed; the client reads the
 * lists themselves by the usual requests. Jobs come in the order in which they changed;
 * a job that changed several times comes once, in its current state.
 *
 * Threads: any.
 */
#ifndef SERVICE_JOBS_LIST_EVENTS_H
#define SERVICE_JOBS_LIST_EVENTS_H

struct daemon_state;

struct dataset; /* datasets.h */

/* dataset NULL means jobs on any dataset, project "" means jobs of all projects. */
struct event_feed list_events_feed(struct daemon_state *context,
                                   const struct dataset *dataset, const char *project);

/* Like job_events_cursor. These events have no end. */
struct event_cursor list_events_cursor(const struct event_feed *feed, const char *id);

#endif
