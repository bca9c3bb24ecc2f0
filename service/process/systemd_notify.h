/*
 * systemd_notify.h - notifies the process that has started this one, by the protocol
 * of systemd's sd_notify: one datagram per message, to the socket that the environment
 * names in NOTIFY_SOCKET. If it names none, nothing is sent.
 *
 *   READY=1     the chain is verified and the socket is bound
 *   WATCHDOG=1  a tick of the tick clock has run: the progress of runs is published
 *   STOPPING=1  it takes no more work
 *
 * Threads: any may call these functions.
 */
#ifndef SERVICE_PROCESS_SYSTEMD_NOTIFY_H
#define SERVICE_PROCESS_SYSTEMD_NOTIFY_H

struct systemd_notify; /* opaque */

/* Returns NULL if there is no such socket. */
struct systemd_notify *systemd_notify_open(void);
void systemd_notify_close(struct systemd_notify *manager); /* NULL is allowed */

/* Sends message without waiting: a message that cannot be sent is lost. NULL is
 * allowed. */
void systemd_notify_tell(const struct systemd_notify *manager, const char *message);

#endif
