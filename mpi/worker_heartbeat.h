/*
 * worker_heartbeat.h - shows the daemon that rank 0 is alive: a thread writes an empty
 * line to standard output every RANK_HEARTBEAT_S seconds. The daemon ends a job if it
 * has not heard from its ranks for RANK_SILENCE_S (api/requests/rank_text.h), so that
 * it does not wait for a launcher that is stopped, or a network that is cut. The
 * watchdog checks whether steps are taken (mpi/watchdog.h).
 *
 * Threads: open and close are called by one.
 */
#ifndef MPI_WORKER_HEARTBEAT_H
#define MPI_WORKER_HEARTBEAT_H

struct worker_heartbeat; /* opaque */

struct worker_heartbeat *worker_heartbeat_open(void);
void worker_heartbeat_close(struct worker_heartbeat *heartbeat); /* NULL is allowed */

#endif
