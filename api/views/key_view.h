/*
 * key_view.h - a key in API responses: everything except its secret, which only the
 * response that creates it contains.
 */
#ifndef API_VIEWS_KEY_VIEW_H
#define API_VIEWS_KEY_VIEW_H

#include "api/requests/key_policy.h"
#include "base/principal.h"

struct key_view {
    const char *id;
    const struct principal *principal; /* name, project, role, additional scopes */
    const struct key_policy *policy;
    const struct key_policy *proposed; /* waits for a second person; NULL: none */
    const char *proposed_by;           /* who proposed it, if there is one, and when */
    int64_t propose_ms;
    int64_t create_ms, expire_ms, revoke_ms; /* revoke_ms 0: not revoked */
    int64_t used_day;                        /* of the last use; 0: never used */
    int64_t now_ms;
    const char *secret; /* the whole key; NULL: it is not in the response */
};

/* Renders a key, to be freed:
 *  {"id","state":ACTIVE|EXPIRED|REVOKED,"owner","project","role","scopes","policy",
 *   "policy_proposed":null or {"policy","proposed_by","propose_time"},
 *   "create_time","expire_time","revoke_time","last_used":"2026-01-31" or null}
 * If there is a secret, "key" comes first. */
char *key_render(const struct key_view *view);

/* Returns "ACTIVE", "EXPIRED" or "REVOKED", as of now_ms. */
const char *key_state(int64_t now_ms, int64_t expire_ms, int64_t revoke_ms);

#endif
