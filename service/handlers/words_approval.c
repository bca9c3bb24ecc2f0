#include "service/handlers/words_approval.h"

#include <stdlib.h>
#include <string.h>
#include <microhttpd.h>

#include "accountant/mechanisms/discovery.h"
#include "api/requests/proposal.h"
#include "base/check.h"
#include "base/clock.h"
#include "service/audit/audit_event.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/dataset_write.h"
#include "service/datasets/datasets.h"
#include "service/http/stale_read_retry.h"
#include "service/process/daemon_state.h"
#include "service/webhooks/webhook_events.h"

enum { MS_PER_S = 1000 };

bool words_approval_is_asked(const struct request *request,
                             const struct statistics_plan *plan)
{
    return statistics_are_words(&plan->request.statistics) &&
           request->caller.principal.via != VIA_LOCAL;
}

static struct proposed_words words_of(const struct statistics_plan *plan)
{
    const struct schema *schema = &dataset_spec(plan->dataset)->schema;
    const char *name = plan->request.statistics.items[0].axes[0].column;
    uint32_t column = 0;
    while (strcmp(schema->columns[column].name, name) != 0)
        column++;
    return (struct proposed_words){
        .column = column,
        .threshold = plan->mechanism.discovery.threshold,
        .deviation = discovery_deviation(&plan->mechanism),
        .delta = discovery_delta(&plan->mechanism),
    };
}

static struct proposal proposal_of(struct daemon_state *context,
                                   const struct dataset *dataset)
{
    struct dataset_info info;
    dataset_read(context->datasets, dataset, &info);
    return info.detail.words;
}

void words_approval_find(struct daemon_state *context,
                         const struct statistics_plan *plan, struct dataset **approved)
{
    const struct proposed_words asked = words_of(plan);
    struct dataset *dataset =
        datasets_find(context->datasets, plan->request.dataset.text);
    const struct proposal proposal = proposal_of(context, dataset);
    bool is_good = proposal.state == PROPOSAL_APPROVED &&
                   proposal.words.statistics.text[0] == '\0' &&
                   proposed_words_same(&proposal.words, &asked);
    *approved = is_good ? dataset : NULL;
}

/* --- proposing --- */

static enum status
append_to_audit_trail(struct daemon_state *context, struct store_tx *tx,
                      const struct request *request, const struct proposal *proposal,
                      const struct dataset *dataset, struct error *error)
{
    struct audit_event act;
    char *detail =
        proposal_act_render(proposal, dataset_spec(dataset), ACKNOWLEDGED_NOTHING);
    audit_event_begin(&act, context, request);
    act.row.object = dataset_spec(dataset)->id.text;
    act.row.detail = detail;
    enum status status = audit_trail_append(tx, &act.row, error);
    free(detail);
    return status;
}

static enum status commit(struct daemon_state *context, const struct request *request,
                          struct dataset *dataset, const struct proposal *proposal,
                          struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status =
        stale_read_retry_open(context, request, STORE_LEDGER, &tx, error);
    if (status != ST_OK)
        return status;
    status = dataset_propose(context->datasets, tx, dataset, proposal, error);
    if (status == ST_OK)
        status = webhook_events_grant(context, tx, dataset, proposal, error);
    if (status == ST_OK)
        status = append_to_audit_trail(context, tx, request, proposal, dataset, error);
    return daemon_state_end(context, tx, status, error);
}

enum status words_approval_propose(struct daemon_state *context,
                                   struct request *request,
                                   const struct statistics_plan *plan,
                                   struct error *error)
{
    const int64_t now_ms = clock_wall_s() * MS_PER_S;
    struct dataset *dataset =
        datasets_find(context->datasets, plan->request.dataset.text);
    struct proposal before = proposal_of(context, dataset);
    struct proposal proposal = proposal_make(request->caller.principal.name, now_ms);
    enum status status = ST_OK;
    proposal.words = words_of(plan);
    bool waits = proposal_state_at(&before, now_ms) == PROPOSAL_PENDING;
    if (waits && proposed_words_same(&before.words, &proposal.words))
        proposal = before;
    else if (waits)
        status = error_set(error, ST_GRANT_PENDING,
                           "another discovery of \"%s\" waits for a second person",
                           plan->request.dataset.text);
    else
        status = commit(context, request, dataset, &proposal, error);
    if (status == ST_OK)
        reply_json(&request->reply, MHD_HTTP_ACCEPTED,
                   proposal_render(&proposal, dataset_spec(dataset), NULL,
                                   ACKNOWLEDGED_NOTHING, now_ms));
    return status;
}
