/*
 * key_view.h - a key as answered: all but its secret, which is in the answer that makes it
 * and never again.
 */
#ifndef API_KEY_VIEW_H
#define API_KEY_VIEW_H

#include "api/key_policy.h"
#include "base/principal.h"

struct key_view {
    const char *id;
    const struct principal *principal; /* name, project, role, scopes beside it */
    const struct key_policy *policy;
    const struct key_policy *proposed; /* that waits for a second person; NULL: none */
    const char *proposed_by;           /* where it does, and when it was */
    int64_t propose_ms;
    int64_t create_ms, expire_ms, revoke_ms; /* revoke_ms 0: it is not */
    int64_t used_day;                        /* the last; 0: it never was */
    int64_t now_ms;
    const char *secret; /* the key whole; NULL: it is not answered */
};

/* {"id","state":ACTIVE|EXPIRED|REVOKED,"owner","project","role","scopes","policy",
 *  "policy_proposed":null or {"policy","proposed_by","propose_time"},
 *  "create_time","expire_time","revoke_time","last_used":"2026-01-31" or null}, and first
 *  "key" where there is a secret. To be freed. */
char *key_render(const struct key_view *view);

/* "ACTIVE", "EXPIRED" or "REVOKED", as of now_ms. */
const char *key_state(int64_t now_ms, int64_t expire_ms, int64_t revoke_ms);

#endif
