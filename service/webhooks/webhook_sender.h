/*
 * webhook_sender.h - the thread that sends deliveries to webhooks.
 *
 *   outbox --due--> signed, sent --answered--> the result is in its row
 *
 * Invariants
 *   (1) At most one delivery of a webhook is under way, so a slow webhook delays only
 *       its own. When the webhook sender looks for new work, it cancels the deliveries of
 *       webhooks that were deleted, so at most WEBHOOKS_HELD_MAX are under way.
 *   (2) An attempt is written down when it is over. An attempt that a crash interrupts
 *       is made again, under the same id: the receiver detects duplicates by their
 *       webhook-id.
 *   (3) No body of an answer is stored; of its head only the status is. Of the daemons
 *       that share a store, one delivers: the one on duty (lease_monitor.h).
 *   (4) Right before a delivery is sent, the webhook sender checks that the webhook's owner
 *       has a key. If not, the waiting deliveries of the webhook become FAILED.
 *
 * A message has the headers of Standard Webhooks 1.0: webhook-id, webhook-timestamp (of
 * the attempt) and webhook-signature, which is v1 and the HMAC-SHA-256 of
 * "id.timestamp.body" in base 64, and is given a second time under the previous secret
 * as long as that is valid. A message about a job has the traceparent of the request
 * that submitted it, if that had one.
 *
 * Threads: its own. Any thread may wake it, through the webhooks that it watches.
 */
#ifndef SERVICE_WEBHOOKS_WEBHOOK_SENDER_H
#define SERVICE_WEBHOOKS_WEBHOOK_SENDER_H

struct webhook_sender; /* opaque */

/* All of these must outlive the webhook sender. */
struct webhook_sender_base {
    struct store *store;
    struct webhooks *webhooks;
    const struct transfer_rules *rules;
    struct counters *counters;
    const struct lease_monitor *keeper; /* says whether this daemon delivers; or NULL */
};

/* Starts to deliver what waits. The webhook sender watches base->webhooks, which wake it. */
struct webhook_sender *webhook_sender_create(const struct webhook_sender_base *base);
/* Cancels what is under way, which is delivered after the next start. NULL is
 * allowed. */
void webhook_sender_destroy(struct webhook_sender *sender);

#endif
