/*
 * webhooks.h - whom to tell of events, and the outbox of what they are still to be told.
 *
 *   ACTIVE <-----> DISABLED   answered 410, or failed for five days (redelivery.h);
 *                             a test that is delivered makes it ACTIVE again
 *
 *   WAITING --> DELIVERED, FAILED    a delivery (courier.h)
 *
 * Invariants
 *   (1) A delivery's row is written in the transaction that makes its event happen: what
 *       is durable is told, after a crash too, and what is undone is not.
 *   (2) Webhooks are kept in memory, which follows when a transaction is durable.
 *       Deliveries are rows alone.
 *   (3) A webhook is told of the things of its project alone, unless whoever made it saw
 *       those of every project; and of nothing while no key of its owner is good.
 *   (4) Secrets are in no log and no answer but those that made them.
 *
 * Threads: any. The lock guards the list; it is held for no call of another file.
 */
#ifndef SERVICE_WEBHOOKS_H
#define SERVICE_WEBHOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/webhook_request.h"
#include "base/principal.h"
#include "service/access_keys.h"
#include "store/delivery_rows.h"
#include "store/webhook_rows.h"

struct webhooks; /* opaque */

enum {
    WEBHOOK_REASON_SIZE = 16,
    /* The list may hold this many for a moment: where several daemons share a store, one
     * reads what another created before it reads what the other had deleted first. */
    WEBHOOKS_HELD_MAX = 2 * LIMIT_WEBHOOKS,
};

struct webhook { /* a copy of one */
    struct webhook_id id;
    struct principal owner; /* name and project alone */
    bool everywhere;        /* it is told of the things of every project */
    struct webhook_request request;
    bool disabled;
    char reason[WEBHOOK_REASON_SIZE]; /* why it is: "gone", "failing"; else "" */
    uint8_t secret[SHA256_SIZE], old_secret[SHA256_SIZE];
    int64_t old_until_ms; /* until then the old secret signs too; 0: there is none */
    int64_t failing_ms;   /* since then no attempt has succeeded; 0: none fails */
    int64_t create_ms;
};

/* Reads all rows. keys, which must outlive it, say whose webhooks are told of anything.
 *   ST_CORRUPT  a row does not read back; the error names it
 *   ST_IO       the store cannot be read */
enum status webhooks_open(struct webhooks **out, struct store_tx *tx,
                          struct access_keys *keys, struct error *error);
void webhooks_close(struct webhooks *webhooks); /* NULL is allowed */

/* Has wake(context) called whenever something new waits in the outbox. Before the first
 * thread that tells of anything. */
void webhooks_watch(struct webhooks *webhooks, void (*wake)(void *context),
                    void *context);

/* Copies the webhook of that id; false where there is none. */
bool webhooks_find(struct webhooks *webhooks, const char *id, struct webhook *webhook);

/* The owner of the webhook of that id, in the same time whether there is one, which is
 * whether it answers true; else nobody. */
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

/* Puts the webhook of that id as another daemon has left its row in tx: it is as the row says
 * from now on, or is gone.
 *   ST_CORRUPT  the row does not read back
 *   ST_IO       the store is poisoned */
enum status webhooks_renew(struct webhooks *webhooks, struct store_tx *tx,
                           const char *id, struct error *error);

/* Whether its owner may be told of anything now (webhook_owner.h). */
bool webhooks_owner_has_key(const struct webhooks *webhooks,
                            const struct webhook *webhook);

struct webhook_subject { /* what an event is about */
    const struct dataset_id *dataset;
    const char *project; /* the dataset's */
};

/* Whether any active one, whose owner has a key, wants events of these types (a bit each)
 * about the subject. */
bool webhooks_want(struct webhooks *webhooks, unsigned types,
                   const struct webhook_subject *subject);

/* Writes down what these are to be told of the events, all about the subject.
 * One that LIMIT_DELIVERIES_WAITING wait for is left out, which is logged.
 *   ST_IO  the store is poisoned */
enum status webhooks_tell(struct webhooks *webhooks, struct store_tx *tx,
                          const struct webhook_subject *subject,
                          const struct webhook_event *events, size_t count,
                          struct error *error);

/* Writes down a test for the webhook, whatever its state; delivery borrows its texts from
 * the program.
 *   ST_KEY_ENDED   its owner has no key any more
 *   ST_QUEUE_FULL  too many wait for it */
enum status webhooks_test(struct webhooks *webhooks, struct store_tx *tx,
                          const struct webhook *webhook, struct delivery_row *delivery,
                          struct error *error);

/* The row of a webhook, which borrows from it and from events_text. */
enum { WEBHOOK_EVENTS_SIZE = 192 };
struct webhook_row webhook_row_of(const struct webhook *webhook,
                                  char events_text[WEBHOOK_EVENTS_SIZE]);

#endif
