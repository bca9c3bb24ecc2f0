/*
 * clock_tick.h - what happens at a tick of the tick clock, and only there: everything
 * that the timing of a run decides becomes visible here, in this order.
 *
 *   1  jobs whose runs have ended since the last tick end, in order of submission
 *   2  cancellations, and a stop of the service, take effect on the other runs
 *   3  queued jobs begin if workers are free
 *   4  what the other runs have recorded is shown, and the queue's new order
 *   5  the steps that are shown now are counted
 *   6  open streams are woken if something has changed, in order of submission
 *   7  the disk's room and the process's figures are measured; the service manager is
 *      notified that the process is alive
 *
 * So a job that had ended before the tick has succeeded, even if it was cancelled
 * since; one that had not is stopped, and nothing that it does afterwards counts.
 * Waiting requests are woken at once.
 *
 * Threads: the tick clock's, in its tick; or, if no clock is running, any one.
 */
#ifndef SERVICE_SERVER_CLOCK_TICK_H
#define SERVICE_SERVER_CLOCK_TICK_H

#include <stdint.h>

/* The tick clock's function: argument is the context. */
void clock_tick_run(void *argument, int64_t second);

#endif
