/*
 * heartbeat.h - tells the daemon that rank 0 is alive: an empty line on standard output every
 * RANK_HEARTBEAT_S seconds, from a thread of its own. The daemon ends a job whose ranks it has not
 * heard for RANK_SILENCE_S (api/rank_text.h): a launcher that is stopped, or a network that is
 * cut, is then not waited for. Whether steps are taken is the watchdog's business
 * (cluster/watchdog.h).
 *
 * Threads: open and close are called by one.
 */
#ifndef RANK_HEARTBEAT_H
#define RANK_HEARTBEAT_H

struct heartbeat; /* opaque */

struct heartbeat *heartbeat_open(void);
void heartbeat_close(struct heartbeat *heartbeat); /* NULL is allowed */

#endif
