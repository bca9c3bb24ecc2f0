/*
 * courier.h - the thread that carries deliveries to webhooks.
 *
 *   outbox --due--> signed, sent --answered--> its row says so
 *
 * Invariants
 *   (1) At most one delivery of a webhook is under way, so one that is slow delays none
 *       but its own. When the courier looks for new work, it breaks off the deliveries of
 *       webhooks that were deleted, so at most WEBHOOKS_HELD_MAX are under way.
 *   (2) An attempt is written down when it is over. One that a crash interrupts is made
 *       again, under the same id: who receives tells twins by their webhook-id.
 *   (3) No answer's body is kept; of its head the status alone is.
 *       Of daemons that share a store the one that is on duty delivers (lease_keeper.h).
 *   (4) Whether a webhook's owner has a key is asked right before a delivery is sent; where
 *       there is none, what waits for it has FAILED.
 *
 * A message carries the headers of Standard Webhooks 1.0: webhook-id, webhook-timestamp
 * (of the attempt) and webhook-signature, v1 and HMAC-SHA-256 of "id.timestamp.body" in
 * base 64, a second time under the secret before while that counts. A message about a
 * job carries the traceparent of the request that submitted it, where that had one.
 *
 * Threads: its own; courier_wake is anybody's.
 */
#ifndef SERVICE_COURIER_H
#define SERVICE_COURIER_H

#include "service/counters.h"
#include "service/lease_keeper.h"
#include "service/outbound/transfer.h"
#include "service/webhooks.h"

struct courier; /* opaque */

struct courier_base { /* all must outlive it */
    struct store *store;
    struct webhooks *webhooks;
    const struct transfer_rules *rules;
    struct counters *counters;
    const struct lease_keeper *keeper; /* whether this daemon delivers; or NULL */
};

/* Starts to deliver what waits, and is woken by the webhooks it stands on. */
struct courier *courier_create(const struct courier_base *base);
/* Breaks off what is under way, which is delivered after the next start. NULL is
 * allowed. */
void courier_destroy(struct courier *courier);

#endif
