/*
 * service_manager.h - notifies the process that has started this one, by the protocol
 * of systemd's sd_notify: one datagram per message, to the socket that the environment
 * names in NOTIFY_SOCKET. If it names none, nothing is sent.
 *
 *   READY=1     the chain is verified and the socket is bound
 *   WATCHDOG=1  a tick of the public clock has run: the progress of runs is published
 *   STOPPING=1  it takes no more work
 *
 * Threads: any may call these functions.
 */
#ifndef SERVICE_SERVICE_MANAGER_H
#define SERVICE_SERVICE_MANAGER_H

struct service_manager; /* opaque */

/* Returns NULL if there is no such socket. */
struct service_manager *service_manager_open(void);
void service_manager_close(struct service_manager *manager); /* NULL is allowed */

/* Sends message without waiting: a message that cannot be sent is lost. NULL is
 * allowed. */
void service_manager_tell(const struct service_manager *manager, const char *message);

#endif
