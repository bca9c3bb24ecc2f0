/*
 * lease_monitor.h - a thread that fences silent daemons of a shared store
 * (store/lease.h), counts the others, and takes the duties that one daemon does for
 * all: the timers (ends of charges' leases), and the deliveries to webhooks. Only a
 * daemon that answers requests takes the deliveries: an operator gives it the options
 * that say what may be called, and a worker may run on a machine that reaches no
 * receiver.
 *
 * Threads: its own; any thread may call the functions.
 */
#ifndef SERVICE_PEERS_LEASE_MONITOR_H
#define SERVICE_PEERS_LEASE_MONITOR_H

#include <stdbool.h>
#include <stddef.h>

#include "service/config/daemon_role.h"

struct store;

struct lease_monitor; /* opaque */

/* Starts the thread; NULL if the store is not shared.
 *   role   the role that this daemon reports to the others
 *   guard  called with context when the store failed: it ends the process */
struct lease_monitor *lease_monitor_create(struct store *store, enum daemon_role role,
                                           void (*guard)(const void *context),
                                           const void *context);
void lease_monitor_destroy(struct lease_monitor *keeper); /* NULL is allowed */

/* Returns whether this daemon keeps the timers. The daemon of a store that is not
 * shared does: keeper is NULL. */
bool lease_monitor_on_duty(const struct lease_monitor *keeper);

/* Returns whether this daemon delivers to webhooks. The daemon of a store that is not
 * shared does. */
bool lease_monitor_delivers(const struct lease_monitor *keeper);

/* Returns how many daemons of the role share the store, including this one, as of the
 * last sweep; 0 if keeper is NULL. */
size_t lease_monitor_daemons(const struct lease_monitor *keeper, enum daemon_role role);

#endif
