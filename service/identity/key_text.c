#include "service/identity/key_text.h"

#include "api/views/key_view.h"
#include "base/clock.h"
#include "service/identity/access_keys.h"
#include "service/identity/policy_proposals.h"
#include "service/process/daemon_state.h"

char *key_text(const struct daemon_state *context, const struct access_key *key,
               const char *secret)
{
    struct policy_proposal proposal = {0};
    int64_t now_ms = clock_wall_ms();
    bool waits =
        policy_proposals_find(context->policy_proposals, key->id, now_ms, &proposal);
    const struct key_view view = {
        .id = key->id,
        .principal = &key->principal,
        .policy = &key->policy,
        .proposed = waits ? &proposal.policy : NULL,
        .proposed_by = proposal.proposed_by,
        .propose_ms = proposal.propose_ms,
        .create_ms = key->create_ms,
        .expire_ms = key->expire_ms,
        .revoke_ms = key->revoke_ms,
        .used_day = key->used_day,
        .now_ms = now_ms,
        .secret = secret,
    };
    return key_render(&view);
}
