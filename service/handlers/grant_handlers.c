/* A pending grant is stored in its dataset's row (api/requests/proposal.h), so the
 * decision, the dataset, its GRANT entry and the act are one transaction. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <microhttpd.h>

#include "api/http/query.h"
#include "api/limits.h"
#include "api/requests/proposal.h"
#include "base/check.h"
#include "base/clock.h"
#include "service/access/access.h"
#include "service/audit/audit_event.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/dataset_write.h"
#include "service/datasets/datasets.h"
#include "service/handlers/handlers.h"
#include "service/http/pagination.h"
#include "service/http/stale_read_retry.h"
#include "service/ingest/dataset_declare.h"
#include "service/ingest/regrant.h"
#include "service/process/daemon_state.h"
#include "service/webhooks/webhook_events.h"

/* A grant, and the dataset whose row has it. */
struct found {
    struct dataset *dataset;
    struct dataset_info info;
    struct proposal proposal; /* NONE: there is no such grant */
};

/* A dataset has three places for proposals: one for the grant that it declares, one for
 * the last further epoch of its budget, one for the last discovery. */
enum { PLACE_DECLARED, PLACE_FURTHER, PLACE_WORDS, PLACES };

static struct found grant_at(struct datasets *datasets, size_t place)
{
    struct found found = {.dataset = datasets_at(datasets, place / PLACES)};
    dataset_read(datasets, found.dataset, &found.info);
    switch (place % PLACES) {
    case PLACE_DECLARED: found.proposal = found.info.detail.proposal; break;
    case PLACE_FURTHER: found.proposal = found.info.detail.regrant; break;
    default: found.proposal = found.info.detail.words; break;
    }
    return found;
}

/* Finds the grant of the request's path. A principal that may not see the dataset does
 * not see its grant. */
static enum status find(struct daemon_state *context, const struct request *request,
                        struct found *found, struct error *error)
{
    const char *id = request->match.id;
    const struct access_question question = handler_question(request);
    for (size_t place = PLACES * datasets_count(context->datasets); place-- > 0;) {
        *found = grant_at(context->datasets, place);
        if (found->proposal.state != PROPOSAL_NONE &&
            strcmp(found->proposal.id.text, id) == 0 &&
            access_sees_dataset(&question, found->dataset))
            return ST_OK;
    }
    return error_set(error, ST_NOT_FOUND, "no grant \"%s\"", id);
}

/* Returns what the approval of the proposal has to confirm; nothing once it is decided,
 * or if it could not be granted now. */
static enum acknowledged needed_by(struct daemon_state *context,
                                   const struct proposal *proposal,
                                   const struct dataset_spec *spec)
{
    enum acknowledged needed = ACKNOWLEDGED_NOTHING;
    if (spec->is_public || proposal_is_words(proposal) ||
        proposal_state_at(proposal, clock_wall_ms()) != PROPOSAL_PENDING)
        return ACKNOWLEDGED_NOTHING;
    if (!proposal_is_further(proposal))
        return acknowledgement_needed(spec->grant.epsilon, spec->grant.delta, 0);
    enum status status =
        regrant_needs(context, &spec->id, &proposal->further, &needed, NULL);
    return status == ST_OK ? needed : ACKNOWLEDGED_NOTHING;
}

/* Renders a grant. A pending one says which grant it would replace, so that an officer
 * knows that someone else has approved another promise before. */
static char *grant_text(struct daemon_state *context, const struct proposal *proposal,
                        const struct dataset *dataset)
{
    struct grant granted;
    const struct dataset_spec *spec = dataset_spec(dataset);
    const int64_t now_ms = clock_wall_ms();
    bool replaces = !proposal_is_further(proposal) && !proposal_is_words(proposal) &&
                    proposal_state_at(proposal, now_ms) == PROPOSAL_PENDING &&
                    dataset_declare_granted(context, &spec->id, &granted);
    return proposal_render(proposal, spec, replaces ? &granted : NULL,
                           needed_by(context, proposal, spec), now_ms);
}

enum status handle_grant_get(struct daemon_state *context, struct request *request,
                             struct error *error)
{
    struct found found;
    enum status status = find(context, request, &found, error);
    if (status != ST_OK)
        return status;
    reply_header_add(&request->reply, "Cache-Control", "no-store");
    request_answer(request, grant_text(context, &found.proposal, found.dataset));
    return ST_OK;
}

/* --- the list --- */

struct grant_list {
    struct access_question question; /* whether an item is listed */
    struct daemon_state *context;
    struct datasets *datasets;
    unsigned states; /* a bit for each, from PENDING on */
    int64_t now_ms;
};

static bool grant_seen(void *context, size_t place)
{
    const struct grant_list *list = context;
    return access_sees_dataset(&list->question,
                               datasets_at(list->datasets, place / PLACES));
}

/* A pending grant of a deleted dataset is left out. */
static bool grant_wanted(void *context, size_t place)
{
    const struct grant_list *list = context;
    const struct found found = grant_at(list->datasets, place);
    enum proposal_state state = proposal_state_at(&found.proposal, list->now_ms);
    bool is_moot = state == PROPOSAL_PENDING && found.info.state == DATASET_DELETED;
    return state != PROPOSAL_NONE && !is_moot &&
           (list->states >> (state - PROPOSAL_PENDING) & 1) != 0;
}

static char *grant_line(void *context, size_t place)
{
    const struct grant_list *list = context;
    const struct found found = grant_at(list->datasets, place);
    return grant_text(list->context, &found.proposal, found.dataset);
}

/* A grant lapses without any row changing, so the tag contains the hour too. */
enum status handle_grant_list(struct daemon_state *context, struct request *request,
                              struct error *error)
{
    enum { MS_PER_HOUR = 3600000, DESCENDING = 0 };
    static const char *const directions[] = {"desc", "asc", NULL};
    char tag[80];
    unsigned direction = DESCENDING;
    struct grant_list list = {handler_question(request), context, context->datasets,
                              (1u << PROPOSAL_STATE_COUNT) - 1, clock_wall_ms()};
    uint64_t version = datasets_version(context->datasets);
    struct pagination_source source = {
        .name = "grants",
        .count = PLACES * datasets_count(context->datasets),
        .seen = grant_seen,
        .wanted = grant_wanted,
        .text = grant_line,
        .context = &list,
        .tag = tag,
    };
    bool good = query_choices(&list.states, "state", request_query(request, "state"),
                              proposal_state_names, error) == ST_OK;
    good = query_choice(&direction, "order", request_query(request, "order"),
                        directions, error) == ST_OK &&
           good;
    if (!good)
        return ST_INVALID;
    source.ascending = direction != DESCENDING;
    snprintf(tag, sizeof tag, "\"%s-%llu-%lld\"", context->nonce,
             (unsigned long long)version, (long long)(list.now_ms / MS_PER_HOUR));
    return pagination_reply(request, &source, error);
}

/* --- decisions --- */

struct decision {
    struct found found; /* before the decision */
    struct proposal decided;
    enum acknowledged acknowledged; /* in the request that decides */
};

/* Grants what was proposed, in the name of the proposer. A public dataset has no
 * budget. A discovery is charged when it is run. */
static enum status grant(struct daemon_state *context, struct store_tx *tx,
                         const struct decision *decision, struct error *error)
{
    struct principal proposer;
    const struct proposal *decided = &decision->decided;
    const struct dataset_spec *spec = dataset_spec(decision->found.dataset);
    bool is_further = proposal_is_further(decided);
    CHECK(principal_parse(&proposer, decided->proposed_by));
    const struct ledger_promise promise = {
        &spec->id, is_further ? &decided->further : &spec->grant, &proposer,
        &decided->decision};
    if (spec->is_public || decided->state != PROPOSAL_APPROVED ||
        proposal_is_words(decided))
        return ST_OK;
    return is_further
               ? regrant_make(context, tx, &promise, decision->acknowledged, error)
               : dataset_declare_grant(context, tx, &promise, error);
}

static enum status tell(struct daemon_state *context, struct store_tx *tx,
                        const struct request *request, const struct decision *decision,
                        struct error *error)
{
    struct audit_event act;
    const struct dataset_spec *spec = dataset_spec(decision->found.dataset);
    char *detail =
        proposal_act_render(&decision->decided, spec, decision->acknowledged);
    audit_event_begin(&act, context, request);
    act.row.object = spec->id.text;
    act.row.detail = detail;
    enum status status = audit_trail_append(tx, &act.row, error);
    free(detail);
    return status;
}

static enum status commit(struct daemon_state *context, const struct request *request,
                          const struct decision *decision, struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status =
        stale_read_retry_open(context, request, STORE_LEDGER, &tx, error);
    if (status != ST_OK)
        return status;
    status = grant(context, tx, decision, error);
    if (status == ST_OK)
        status = dataset_decide(context->datasets, tx, decision->found.dataset,
                                &decision->decided, error);
    if (status == ST_OK && decision->decided.state == PROPOSAL_APPROVED)
        status = webhook_events_grant(context, tx, decision->found.dataset,
                                      &decision->decided, error);
    if (status == ST_OK)
        status = tell(context, tx, request, decision, error);
    return store_end(tx, status, error);
}

/* Checks that this principal can make the decision now. */
static enum status check(const struct decision *decision,
                         const struct principal *principal, struct error *error)
{
    const struct proposal *proposal = &decision->found.proposal;
    struct principal proposer;
    CHECK(principal_parse(&proposer, proposal->proposed_by));
    if (decision->found.info.state == DATASET_DELETED)
        return error_set(error, ST_NOT_FOUND, "its dataset was deleted");
    switch (proposal_state_at(proposal, clock_wall_ms())) {
    case PROPOSAL_PENDING: break;
    case PROPOSAL_LAPSED:
        return error_set(error, ST_GRANT_DECIDED,
                         "nobody decided it within %d days, so it lapsed",
                         LIMIT_GRANT_DAYS);
    case PROPOSAL_NONE:
    case PROPOSAL_APPROVED:
    case PROPOSAL_REJECTED:
        return error_set(error, ST_GRANT_DECIDED, "it was decided before");
    }
    if (principal_equal(&proposer, principal))
        return error_set(error, ST_SECOND_PERSON,
                         "who proposed a grant does not decide it");
    return ST_OK;
}

/* The second person confirms what the first has confirmed, in a request of their
 * own. */
static enum status check_acknowledged(struct daemon_state *context,
                                      const struct decision *decision,
                                      struct error *error)
{
    const struct dataset_spec *spec = dataset_spec(decision->found.dataset);
    const struct proposal *proposal = &decision->found.proposal;
    if (proposal_is_further(proposal))
        return regrant_check(context, &spec->id, &proposal->further,
                             decision->acknowledged, error);
    return acknowledgement_check(decision->acknowledged,
                                 needed_by(context, proposal, spec), error);
}

/* Returns whether the same principal has made the same decision before: the request was
 * sent again. */
static bool is_repeated(const struct decision *decision,
                        const struct principal *principal)
{
    const struct proposal *before = &decision->found.proposal;
    const struct proposal *again = &decision->decided;
    return before->state == again->state &&
           person_equal(before->decision.approved_by, principal->name) &&
           strcmp(before->decision.reason, again->decision.reason) == 0;
}

static enum status read_decision(struct decision *decision,
                                 char reason[GRANT_REASON_SIZE],
                                 struct request *request, enum proposal_state state,
                                 struct error *error)
{
    return state == PROPOSAL_APPROVED
               ? grant_approval_parse(reason, &decision->acknowledged,
                                      request_text(request), error)
               : decision_parse(reason, request_text(request), error);
}

static enum status decide(struct daemon_state *context, struct request *request,
                          enum proposal_state state, struct error *error)
{
    struct decision decision = {.acknowledged = ACKNOWLEDGED_NOTHING};
    struct grant_approval how = {0};
    enum status status = read_decision(&decision, how.reason, request, state, error);
    if (status == ST_OK)
        status = find(context, request, &decision.found, error);
    if (status != ST_OK)
        return status;
    memcpy(how.approved_by, request->caller.principal.name, sizeof how.approved_by);
    decision.decided = decision.found.proposal;
    decision.decided.state = state;
    decision.decided.decision = how;
    decision.decided.decide_ms = clock_wall_s() * 1000;
    if (is_repeated(&decision, &request->caller.principal)) {
        decision.decided = decision.found.proposal;
    } else {
        status = check(&decision, &request->caller.principal, error);
        if (status == ST_OK && state == PROPOSAL_APPROVED)
            status = check_acknowledged(context, &decision, error);
        if (status == ST_OK)
            status = commit(context, request, &decision, error);
    }
    if (status == ST_OK)
        reply_json(&request->reply, MHD_HTTP_OK,
                   grant_text(context, &decision.decided, decision.found.dataset));
    return status;
}

enum status handle_grant_approve(struct daemon_state *context, struct request *request,
                                 struct error *error)
{
    return decide(context, request, PROPOSAL_APPROVED, error);
}

enum status handle_grant_reject(struct daemon_state *context, struct request *request,
                                struct error *error)
{
    return decide(context, request, PROPOSAL_REJECTED, error);
}
