/*
 * webhooks.h - the webhooks, and the outbox of events that are still to be sent to
 * them.
 *
 *   ACTIVE <-----> DISABLED   answered 410, or failed for five days (delivery_retry.h);
 *                             a test that is delivered makes it ACTIVE again
 *
 *   WAITING --> DELIVERED, FAILED    a delivery (webhook_sender.h)
 *
 * Invariants
 *   (1) A delivery's row is written in the transaction that makes its event happen: a
 *       durable event is sent, after a crash too, and one that was undone is not.
 *   (2) Webhooks are kept in memory, which follows when a transaction is durable.
 *       Deliveries are only rows.
 *   (3) A webhook gets only the events of its project, unless its maker could see every
 *       project; and no events while no key of its owner is valid.
 *   (4) Secrets are in no log, and in no answer but those that made them.
 *
 * Threads: any. The lock guards the list; it is not held during calls of other files.
 */
#ifndef SERVICE_WEBHOOKS_WEBHOOKS_H
#define SERVICE_WEBHOOKS_WEBHOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/requests/webhook_request.h"
#include "service/identity/access_keys.h"

struct delivery_row;

struct webhooks; /* opaque */

enum {
    WEBHOOK_REASON_SIZE = 16,
    /* The list may hold this many for a moment: if several daemons share a store, one
     * reads what another created before it reads what the other had deleted first. */
    WEBHOOKS_HELD_MAX = 2 * LIMIT_WEBHOOKS,
};

struct webhook { /* a copy of one */
    struct webhook_id id;
    struct principal owner; /* only name and project */
    bool everywhere;        /* gets the events of every project */
    struct webhook_request request;
    bool disabled;
    char reason[WEBHOOK_REASON_SIZE]; /* why disabled: "gone", "failing"; else "" */
    uint8_t secret[SHA256_SIZE], old_secret[SHA256_SIZE];
    int64_t old_until_ms; /* the old secret signs too until then; 0: there is none */
    int64_t failing_ms;   /* no attempt has succeeded since; 0: none fails */
    int64_t create_ms;
};

/* Reads all rows. keys, which must outlive the webhooks, decide which webhooks get
 * events.
 *   ST_CORRUPT  a row does not read back; the error names it
 *   ST_IO       the store cannot be read */
enum status webhooks_open(struct webhooks **out, struct store_tx *tx,
                          struct access_keys *keys, struct error *error);
void webhooks_close(struct webhooks *webhooks); /* NULL is allowed */

/* Makes the outbox call wake(context) whenever something new waits in it. To be called
 * before the first thread that writes events. */
void webhooks_watch(struct webhooks *webhooks, void (*wake)(void *context),
                    void *context);

/* Copies the webhook of that id; false if there is none. */
bool webhooks_find(struct webhooks *webhooks, const char *id, struct webhook *webhook);

/* Copies the owner of the webhook of that id. Returns whether there is such a webhook;
 * if not, owner is empty. Takes the same time in both cases. */
bool webhooks_find_owner(struct webhooks *webhooks, const char *id,
                         struct principal *owner);

/* Copies all of them, oldest first, to be freed; 0 <= *count <= WEBHOOKS_HELD_MAX. */
struct webhook *webhooks_copy(struct webhooks *webhooks, size_t *count);

/* Adds webhook, or changes the one with its id.
 *   ST_WEBHOOK_LIMIT  there are LIMIT_WEBHOOKS others
 *   ST_IO             the store is poisoned */
enum status webhooks_put(struct webhooks *webhooks, struct store_tx *tx,
                         const struct webhook *webhook, struct error *error);

/* Deletes it, with its deliveries. */
enum status webhooks_delete(struct webhooks *webhooks, struct store_tx *tx,
                            const struct webhook_id *id, struct error *error);

/* Updates the webhook of that id from its row in tx, which another daemon has written
 * or deleted.
 *   ST_CORRUPT  the row does not read back
 *   ST_IO       the store is poisoned */
enum status webhooks_renew(struct webhooks *webhooks, struct store_tx *tx,
                           const char *id, struct error *error);

/* Returns whether events may be sent to its owner now (webhook_owner.h). */
bool webhooks_owner_has_key(const struct webhooks *webhooks,
                            const struct webhook *webhook);

struct webhook_subject { /* what an event is about */
    const struct dataset_id *dataset;
    const char *project; /* the dataset's */
};

/* Returns whether any active webhook whose owner has a key wants events of these types
 * (a bit each) about the subject. */
bool webhooks_want(struct webhooks *webhooks, unsigned types,
                   const struct webhook_subject *subject);

/* Writes deliveries of the events, all about the subject, to the outbox. A webhook that
 * LIMIT_DELIVERIES_WAITING deliveries wait for is left out, which is logged.
 *   ST_IO  the store is poisoned */
enum status webhooks_tell(struct webhooks *webhooks, struct store_tx *tx,
                          const struct webhook_subject *subject,
                          const struct webhook_event *events, size_t count,
                          struct error *error);

/* Writes a test delivery for the webhook, in any state; the texts of *delivery are
 * constants of the program.
 *   ST_KEY_ENDED   its owner has no key any more
 *   ST_QUEUE_FULL  too many deliveries wait for it */
enum status webhooks_test(struct webhooks *webhooks, struct store_tx *tx,
                          const struct webhook *webhook, struct delivery_row *delivery,
                          struct error *error);

/* The row of a webhook, which borrows from it and from events_text. */
enum { WEBHOOK_EVENTS_SIZE = 192 };
struct webhook_row webhook_row_of(const struct webhook *webhook,
                                  char events_text[WEBHOOK_EVENTS_SIZE]);

#endif
