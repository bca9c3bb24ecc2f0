#include "service/webhooks/webhook_owner.h"

#include <string.h>

#include "api/http/roles.h"
#include "base/clock.h"
#include "service/identity/access_keys.h"

bool webhook_owner_sees_everything(const struct principal *principal)
{
    return principal_reach(principal, SCOPE_JOBS_READ) == REACH_EVERYWHERE &&
           principal_reach(principal, SCOPE_BUDGETS_READ) == REACH_EVERYWHERE;
}

static bool speaks_for(const struct access_key *key, const struct principal *owner,
                       bool everywhere)
{
    const struct principal *bearer = &key->principal;
    return access_key_is_good(key, clock_wall_ms()) && principal_equal(bearer, owner) &&
           strcmp(bearer->project, owner->project) == 0 &&
           principal_reach(bearer, SCOPE_WEBHOOKS_ADMIN) != REACH_NONE &&
           (!everywhere || webhook_owner_sees_everything(bearer));
}

/* Keys are never removed, so indices stay valid. */
bool webhook_owner_has_key(struct access_keys *keys, const struct principal *owner,
                           bool everywhere)
{
    size_t count = access_keys_count(keys);
    if (count == 0)
        return principal_equal(owner, &principal_local);
    for (size_t i = 0; i < count; i++) {
        struct access_key key;
        access_keys_at(keys, i, &key);
        if (speaks_for(&key, owner, everywhere))
            return true;
    }
    return false;
}
