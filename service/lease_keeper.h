/*
 * lease_keeper.h - the thread that has the daemons of a shared store fenced that are silent
 * (store/lease.h), counts those that are not, and takes the duties that one daemon has for all:
 * the timers (ends of charges' leases), and the deliveries to webhooks. Only a daemon that
 * answers requests takes the second: an operator gives it the options of what may be called,
 * and a worker may be on a machine that reaches no receiver.
 *
 * Threads: its own; any may ask.
 */
#ifndef SERVICE_LEASE_KEEPER_H
#define SERVICE_LEASE_KEEPER_H

#include <stdbool.h>
#include <stddef.h>

#include "service/daemon_role.h"
#include "store/store.h"

struct lease_keeper; /* opaque */

/* Begins; NULL where the store is not shared.
 *   role   what this daemon tells the others that it is
 *   guard  called with context where the store failed: it ends the process */
struct lease_keeper *lease_keeper_create(struct store *store, enum daemon_role role,
                                         void (*guard)(const void *context),
                                         const void *context);
void lease_keeper_destroy(struct lease_keeper *keeper); /* NULL is allowed */

/* Whether this daemon keeps the timers. That of a store that is not shared does: keeper is
 * NULL. */
bool lease_keeper_on_duty(const struct lease_keeper *keeper);

/* Whether this daemon delivers to webhooks. The same of a store that is not shared. */
bool lease_keeper_delivers(const struct lease_keeper *keeper);

/* How many daemons of the role share the store, this one among them, by what the last sweep
 * left; 0 where keeper is NULL. */
size_t lease_keeper_daemons(const struct lease_keeper *keeper, enum daemon_role role);

#endif
