/*
 * service_manager.h - what the process that has started this one is told of it, by the
 * protocol of systemd's sd_notify: one datagram a message, to the socket that the environment
 * names in NOTIFY_SOCKET. Where it names none nobody is told.
 *
 *   READY=1     the chain is verified and the socket is bound
 *   WATCHDOG=1  a tick of the public clock has run: what runs have come to is made known
 *   STOPPING=1  it takes no more work
 *
 * Threads: any may tell.
 */
#ifndef SERVICE_SERVICE_MANAGER_H
#define SERVICE_SERVICE_MANAGER_H

struct service_manager; /* opaque */

/* NULL where there is nobody to tell. */
struct service_manager *service_manager_open(void);
void service_manager_close(struct service_manager *manager); /* NULL is allowed */

/* Tells message, which is not waited for: what cannot be sent is lost. NULL is allowed. */
void service_manager_tell(const struct service_manager *manager, const char *message);

#endif
