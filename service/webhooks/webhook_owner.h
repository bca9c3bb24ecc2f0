/*
 * webhook_owner.h - whether events may be sent to a webhook today. A webhook outlives
 * the request that made it, so the rights of its owner are checked again whenever there
 * is an event, and again when it is sent.
 *
 * Events are sent as long as there is a key, neither revoked nor expired, of that owner
 * in that project, that has the scope of webhooks and, if the webhook gets events of
 * every project, still sees every project. A person who comes only through single
 * sign-on has no key, so nothing would end a webhook of theirs: they cannot make one.
 * While there are no keys at all, webhooks of the local principal get their events.
 *
 * Threads: any.
 */
#ifndef SERVICE_WEBHOOKS_WEBHOOK_OWNER_H
#define SERVICE_WEBHOOKS_WEBHOOK_OWNER_H

#include <stdbool.h>

struct access_keys;
struct principal;

/* Returns whether the principal may see the jobs and budgets of every project. */
bool webhook_owner_sees_everything(const struct principal *principal);

/* Returns whether owner, a name in a project, has such a key now. */
bool webhook_owner_has_key(struct access_keys *keys, const struct principal *owner,
                           bool everywhere);

#endif
