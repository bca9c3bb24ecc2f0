/*
 * webhook_owner.h - whether the owner of a webhook may be told of anything today. A webhook
 * outlives the request that made it, and so what its sender could do then is asked anew
 * whenever there is something to tell, and again when it is sent.
 *
 * It speaks for its owner as long as there is a key, neither revoked nor expired, of that
 * owner in that project, that has the scope of webhooks and, where the webhook is told of
 * every project, still sees every project. Whoever comes by single sign-on alone has no
 * key, so nothing would end a webhook of theirs: they make none. While there are no keys
 * at all, the local principal's are told.
 *
 * Threads: any.
 */
#ifndef SERVICE_WEBHOOK_OWNER_H
#define SERVICE_WEBHOOK_OWNER_H

#include <stdbool.h>

#include "base/principal.h"
#include "service/access_keys.h"

/* Whether the principal sees the jobs and budgets of every project. */
bool webhook_owner_sees_everything(const struct principal *principal);

/* Whether owner, a name in a project, has such a key now. */
bool webhook_owner_has_key(struct access_keys *keys, const struct principal *owner,
                           bool everywhere);

#endif
