/*
 * lost_work.h - the end of what no daemon runs any more: jobs, surveys and imports that a
 * start finds begun, where the store is had alone; those of fenced daemons, where it is
 * shared (claims.h).
 *
 *   RUNNING     FAILED, worker_lost          an import   CREATED, as before it began
 *   CANCELLING  CANCELLED                    a survey    FAILED, worker_lost
 *
 * Invariants
 *   (1) All that was authorised of it is charged, and the rest is released.
 *   (2) What a living daemon runs is left alone.
 *   (3) Whoever comes second finds it ended, and does nothing.
 *
 * Threads: one at a time.
 */
#ifndef SERVICE_LOST_WORK_H
#define SERVICE_LOST_WORK_H

#include "service/context.h"

/* Ends it.
 *   ST_IO  the store is poisoned */
enum status lost_work_end(struct context *context, struct error *error);

#endif
