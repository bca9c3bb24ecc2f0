/* Handlers that change a key's policy, which is the most that the key may do. A policy
 * that allows less takes effect at once. A policy that allows more waits for a second
 * person, if there is one, as a grant does. */
#include <stdlib.h>
#include <string.h>
#include <microhttpd.h>

#include "api/requests/key_request.h"
#include "api/requests/proposal.h"
#include "base/clock.h"
#include "service/access/access.h"
#include "service/access/four_eyes.h"
#include "service/audit/audit_event.h"
#include "service/handlers/handlers.h"
#include "service/http/stale_read_retry.h"
#include "service/identity/access_keys.h"
#include "service/identity/key_text.h"
#include "service/identity/policy_proposals.h"
#include "service/process/daemon_state.h"

static enum status find(struct daemon_state *context, const struct request *request,
                        struct access_key *key, struct error *error)
{
    const struct access_question question = handler_question(request);
    bool found = access_keys_find(context->keys, request->match.id, key);
    const struct access_object object = {found ? key->principal.project : NULL,
                                         key->principal.name};
    enum status status =
        access_check_thing(&question, "key", request->match.id, &object, error);
    if (status == ST_OK && !access_key_is_good(key, clock_wall_ms()))
        return error_set(error, ST_KEY_ENDED, "it was revoked or has expired");
    return status;
}

/* Appends to the audit trail what was requested or decided about a key's policy. A
 * principal that decides may not be allowed to see keys, so the act says whether the
 * proposal waits: it has no reason yet, and is not in effect. */
static enum status tell(struct daemon_state *context, const struct request *request,
                        struct store_tx *tx, const struct policy_proposal *proposal,
                        bool holds, const char *reason, struct error *error)
{
    struct audit_event act;
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    key_policy_write(&writer, "policy", &proposal->policy);
    json_write_text(&writer, "proposed_by", proposal->proposed_by);
    json_write_text(&writer, "reason", reason);
    if (!holds && reason[0] == '\0')
        json_write_flag(&writer, "waits", true);
    json_write_object_end(&writer);
    char *detail = json_writer_close(&writer);
    audit_event_begin(&act, context, request);
    act.row.object = proposal->key;
    act.row.detail = detail;
    enum status status = audit_trail_append(tx, &act.row, error);
    free(detail);
    return status;
}

/* The outcome of a proposal: it waits, it takes effect now, or it is rejected. */
enum outcome { OUTCOME_WAITS, OUTCOME_HOLDS, OUTCOME_REJECTED };

/* Does that, and appends the act to the audit trail. */
static enum status commit(struct daemon_state *context, const struct request *request,
                          const struct policy_proposal *proposal, enum outcome outcome,
                          const char *reason, struct error *error)
{
    struct store_tx *tx = NULL;
    struct policy_proposals *proposals = context->policy_proposals;
    bool holds = outcome == OUTCOME_HOLDS;
    enum status status = stale_read_retry_open(context, request, STORE_ROW, &tx, error);
    if (status != ST_OK)
        return status;
    if (holds)
        status = access_keys_limit(context->keys, tx, proposal->key, &proposal->policy,
                                   error);
    if (status == ST_OK)
        status = outcome == OUTCOME_WAITS
                     ? policy_proposals_put(proposals, tx, proposal, error)
                     : policy_proposals_drop(proposals, tx, proposal->key, error);
    if (status == ST_OK)
        status = tell(context, request, tx, proposal, holds, reason, error);
    return store_end(tx, status, error);
}

static void reply(struct daemon_state *context, struct request *request,
                  unsigned status)
{
    struct access_key key;
    access_keys_find(context->keys, request->match.id, &key);
    reply_header_add(&request->reply, "Cache-Control", "no-store");
    reply_json(&request->reply, status, key_text(context, &key, NULL));
}

/* Reads the body, and checks that such a key may have such a policy. */
static enum status read_asked(struct request *request, const struct access_key *key,
                              struct policy_proposal *proposal, struct error *error)
{
    struct key_request asked = {.principal = key->principal, .days = 1};
    enum status status =
        key_policy_request_parse(&proposal->policy, request_text(request), error);
    asked.policy = proposal->policy;
    return status == ST_OK
               ? key_request_check_policy(&asked, &request->caller.principal, error)
               : status;
}

enum status handle_key_policy(struct daemon_state *context, struct request *request,
                              struct error *error)
{
    struct access_key key;
    struct policy_proposal proposal = {.propose_ms = clock_wall_ms()};
    enum status status = find(context, request, &key, error);
    if (status == ST_OK)
        status = read_asked(request, &key, &proposal, error);
    if (status != ST_OK)
        return status;
    memcpy(proposal.key, key.id, sizeof proposal.key);
    memcpy(proposal.proposed_by, request->caller.principal.name,
           sizeof proposal.proposed_by);
    bool waits = four_eyes_is_asked(context, &request->caller) &&
                 !key_policy_is_within(&proposal.policy, &key.policy);
    status = commit(context, request, &proposal, waits ? OUTCOME_WAITS : OUTCOME_HOLDS,
                    "", error);
    if (status == ST_OK)
        reply(context, request, waits ? MHD_HTTP_ACCEPTED : MHD_HTTP_OK);
    return status;
}

/* --- decisions --- */

/* Checks that this principal may decide: it is neither the proposer nor the key's
 * owner. */
static enum status check_second(const struct access_key *key,
                                const struct policy_proposal *proposal,
                                const struct principal *principal, struct error *error)
{
    if (person_equal(proposal->proposed_by, principal->name) ||
        principal_equal(&key->principal, principal))
        return error_set(error, ST_SECOND_PERSON,
                         "neither who proposed it nor the key's owner decides it");
    return ST_OK;
}

struct decision {
    /* The policy that is approved; NULL: the waiting proposal is rejected. */
    const struct key_policy *named;
    char reason[GRANT_REASON_SIZE];
};

static enum status decide(struct daemon_state *context, struct request *request,
                          const struct decision *decision, struct error *error)
{
    struct access_key key;
    struct policy_proposal proposal;
    enum status status = find(context, request, &key, error);
    if (status == ST_OK && !policy_proposals_find(context->policy_proposals, key.id,
                                                  clock_wall_ms(), &proposal))
        status = error_set(error, ST_GRANT_DECIDED, "no policy of it waits");
    if (status == ST_OK)
        status = check_second(&key, &proposal, &request->caller.principal, error);
    if (status == ST_OK && decision->named != NULL)
        status = policy_proposal_check_named(&proposal, decision->named, error);
    if (status == ST_OK)
        status = commit(context, request, &proposal,
                        decision->named != NULL ? OUTCOME_HOLDS : OUTCOME_REJECTED,
                        decision->reason, error);
    if (status == ST_OK)
        reply(context, request, MHD_HTTP_OK);
    return status;
}

enum status handle_key_policy_approve(struct daemon_state *context,
                                      struct request *request, struct error *error)
{
    struct key_policy named;
    struct decision decision = {.named = &named};
    enum status status =
        policy_approval_parse(&named, decision.reason, request_text(request), error);
    return status == ST_OK ? decide(context, request, &decision, error) : status;
}

enum status handle_key_policy_reject(struct daemon_state *context,
                                     struct request *request, struct error *error)
{
    struct decision decision = {0};
    enum status status = decision_parse(decision.reason, request_text(request), error);
    return status == ST_OK ? decide(context, request, &decision, error) : status;
}
