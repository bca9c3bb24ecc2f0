/*
 * heartbeat.h - shows the daemon that rank 0 is alive: a thread writes an empty line to
 * standard output every RANK_HEARTBEAT_S seconds. The daemon ends a job if it has not
 * heard from its ranks for RANK_SILENCE_S (api/rank_text.h), so that it does not wait
 * for a launcher that is stopped, or a network that is cut. The watchdog checks whether
 * steps are taken (cluster/watchdog.h).
 *
 * Threads: open and close are called by one.
 */
#ifndef RANK_HEARTBEAT_H
#define RANK_HEARTBEAT_H

struct heartbeat; /* opaque */

struct heartbeat *heartbeat_open(void);
void heartbeat_close(struct heartbeat *heartbeat); /* NULL is allowed */

#endif
