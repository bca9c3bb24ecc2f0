#include <stdlib.h>
#include <string.h>
#include <microhttpd.h>

#include "accountant/ledger/ledger_view.h"
#include "api/views/budget_view.h"
#include "base/clock.h"
#include "service/access/access.h"
#include "service/access/four_eyes.h"
#include "service/audit/audit_event.h"
#include "service/datasets/budget_text.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/dataset_write.h"
#include "service/datasets/datasets.h"
#include "service/handlers/handlers.h"
#include "service/http/stale_read_retry.h"
#include "service/ingest/regrant.h"
#include "service/process/daemon_state.h"
#include "service/webhooks/webhook_events.h"

struct asking { /* a request for a further epoch of a dataset's budget */
    struct dataset *dataset;
    struct dataset_info info;
    /* The proposal, kept if a second person decides. */
    struct proposal proposal;
    enum acknowledged acknowledged; /* in this request */
};

static enum status find(struct daemon_state *context, const struct request *request,
                        struct asking *asking, struct error *error)
{
    const char *id = request->match.id;
    const struct access_question question = handler_question(request);
    enum status status =
        access_find_dataset(context, &question, id, &asking->dataset, error);
    if (status != ST_OK)
        return status;
    dataset_read(context->datasets, asking->dataset, &asking->info);
    if (dataset_spec(asking->dataset)->is_public)
        return error_set(error, ST_DATASET_PUBLIC, "\"%s\" is public: it has no budget",
                         id);
    if (asking->info.state == DATASET_DELETED)
        return error_set(error, ST_NOT_FOUND, "\"%s\" was deleted", id);
    if (proposal_bars(&asking->info.detail.proposal))
        return error_set(error, ST_GRANT_PENDING, "nothing is granted to \"%s\" yet",
                         id);
    return ST_OK;
}

static bool is_pending(const struct asking *asking)
{
    return proposal_state_at(&asking->info.detail.regrant,
                             asking->proposal.propose_ms) == PROPOSAL_PENDING;
}

/* Returns whether the same principal has already proposed exactly this, and no one has
 * decided it: the request was sent again. */
static bool is_repeated(const struct asking *asking)
{
    const struct proposal *before = &asking->info.detail.regrant;
    const struct grant *a = &before->further, *b = &asking->proposal.further;
    return is_pending(asking) &&
           person_equal(before->proposed_by, asking->proposal.proposed_by) &&
           a->epsilon == b->epsilon && a->delta == b->delta && a->order == b->order &&
           a->discovery_delta == b->discovery_delta;
}

static enum status tell(struct daemon_state *context, struct store_tx *tx,
                        const struct request *request, const struct asking *asking,
                        struct error *error)
{
    struct audit_event act;
    char *detail = proposal_act_render(&asking->proposal, dataset_spec(asking->dataset),
                                       asking->acknowledged);
    audit_event_begin(&act, context, request);
    act.row.detail = detail;
    enum status status = audit_trail_append(tx, &act.row, error);
    free(detail);
    return status;
}

static enum status propose(struct daemon_state *context, struct store_tx *tx,
                           const struct asking *asking, struct error *error)
{
    enum status status = dataset_propose(context->datasets, tx, asking->dataset,
                                         &asking->proposal, error);
    return status == ST_OK ? webhook_events_grant(context, tx, asking->dataset,
                                                  &asking->proposal, error)
                           : status;
}

static enum status grant(struct daemon_state *context, struct store_tx *tx,
                         const struct request *request, const struct asking *asking,
                         struct error *error)
{
    const struct ledger_promise promise = {&dataset_spec(asking->dataset)->id,
                                           &asking->proposal.further,
                                           &request->caller.principal, NULL};
    return regrant_make(context, tx, &promise, asking->acknowledged, error);
}

static enum status commit(struct daemon_state *context, const struct request *request,
                          const struct asking *asking, struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status =
        stale_read_retry_open(context, request, STORE_LEDGER, &tx, error);
    if (status != ST_OK)
        return status;
    status = asking->proposal.state == PROPOSAL_PENDING
                 ? propose(context, tx, asking, error)
                 : grant(context, tx, request, asking, error);
    if (status == ST_OK)
        status = tell(context, tx, request, asking, error);
    return daemon_state_end(context, tx, status, error);
}

/* Replies with the proposal, if it waits; otherwise with the budget and its new
 * epoch. */
static enum status reply(struct daemon_state *context, struct request *request,
                         const struct asking *asking, struct error *error)
{
    const struct dataset_spec *spec = dataset_spec(asking->dataset);
    char *text;
    if (asking->proposal.state == PROPOSAL_PENDING) {
        reply_json(&request->reply, MHD_HTTP_ACCEPTED,
                   proposal_render(&asking->proposal, spec, NULL, asking->acknowledged,
                                   clock_wall_ms()));
        return ST_OK;
    }
    enum status status = budget_text(&text, context->ledger, spec, error);
    if (status == ST_OK)
        reply_json(&request->reply, MHD_HTTP_OK, text);
    return status;
}

enum status handle_dataset_regrant(struct daemon_state *context,
                                   struct request *request, struct error *error)
{
    struct asking asking = {.proposal = {.propose_ms = clock_wall_s() * 1000}};
    struct proposal *proposal = &asking.proposal;
    enum status status = find(context, request, &asking, error);
    if (status == ST_OK)
        status = further_grant_parse(&proposal->further, &asking.acknowledged,
                                     request_text(request), error);
    if (status == ST_OK)
        status = regrant_check(context, &dataset_spec(asking.dataset)->id,
                               &proposal->further, asking.acknowledged, error);
    if (status != ST_OK)
        return status;
    memcpy(proposal->proposed_by, request->caller.principal.name,
           sizeof proposal->proposed_by);
    if (four_eyes_is_asked(context, &request->caller)) {
        proposal->state = PROPOSAL_PENDING;
        grant_id_make(&proposal->id);
    }
    if (is_repeated(&asking))
        *proposal = asking.info.detail.regrant;
    else if (is_pending(&asking))
        status = error_set(error, ST_GRANT_PENDING,
                           "another further epoch waits for a second person");
    else
        status = commit(context, request, &asking, error);
    return status == ST_OK ? reply(context, request, &asking, error) : status;
}
