/*
 * tick.h - what happens at a tick of the public clock, and nowhere else: whatever the
 * timing of a run decides becomes visible here, in this order.
 *
 *   1  jobs whose runs have ended since the last tick end, in order of submission
 *   2  cancellations, and a stop of the service, take effect on the runs that go on
 *   3  queued jobs begin where workers are free
 *   4  what the runs that go on have recorded is shown, and the queue's new order
 *   5  the steps that are shown now are counted
 *   6  open streams are woken for what has changed, in order of submission
 *   7  the disk's room and what the process takes are measured; whoever started
 *      the process is told that it goes on
 *
 * So a job that had ended before the tick has succeeded, whoever cancelled it since; one
 * that had not is stopped, and nothing that it does afterwards counts. Whoever waits is
 * woken as it happens.
 *
 * Threads: the public clock's, in its tick; or, where no clock goes, any one.
 */
#ifndef SERVICE_TICK_H
#define SERVICE_TICK_H

#include <stdint.h>

/* The public clock's function: argument is the context. */
void tick_run(void *argument, int64_t second);

#endif
