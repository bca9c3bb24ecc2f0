#include "service/notice.h"

#include "accountant/ledger_view.h"
#include "base/check.h"
#include "base/clock.h"

static const double low_shares[] = {0.1, 0.2, 0.5}; /* the least first */
static const double exhausted_share = 0.001;

static enum webhook_event_type type_of(enum job_state state)
{
    CHECK(job_state_is_terminal(state));
    return state == JOB_SUCCEEDED ? EVENT_JOB_SUCCEEDED
           : state == JOB_FAILED  ? EVENT_JOB_FAILED
                                  : EVENT_JOB_CANCELLED;
}

static bool falls_to(const struct ledger_left *left, double share)
{
    return left->before > share && left->after <= share;
}

/* Writes what the open transaction makes of the budget of a part: at most two events.
 * Answers how many. */
static size_t append_budget(struct webhook_event *events,
                            const struct ledger_left *left)
{
    size_t count = 0;
    for (size_t i = 0; i < sizeof low_shares / sizeof *low_shares && count == 0; i++)
        if (falls_to(left, low_shares[i]))
            events[count++] =
                (struct webhook_event){.type = EVENT_BUDGET_LOW, .left = low_shares[i]};
    if (left->before >= exhausted_share && left->after < exhausted_share)
        events[count++] = (struct webhook_event){.type = EVENT_BUDGET_EXHAUSTED};
    return count;
}

enum status notice_job_ended(struct context *context, struct store_tx *tx,
                             const struct job *job, const struct job_move *move,
                             struct error *error)
{
    enum { EVENTS_MAX = 1 + 2 * PARTS_MAX };
    const unsigned budget_types = 1u << EVENT_BUDGET_LOW | 1u << EVENT_BUDGET_EXHAUSTED;
    const struct job_plan *plan = job_plan(job);
    const struct dataset_id *dataset = &plan->request.dataset;
    const struct webhook_subject subject = {dataset, job_project(job)};
    const enum webhook_event_type type = type_of(move->state);
    struct ledger_left left;
    struct webhook_event events[EVENTS_MAX] = {{.type = type,
                                                .id = job_id(job)->text,
                                                .state = job_state_name(move->state),
                                                .second = move->second,
                                                .traceparent = job_trace(job)->parent}};
    size_t count = 1;
    if (!webhooks_want(context->webhooks, 1u << type | budget_types, &subject))
        return ST_OK;
    for (unsigned p = 0; plan->is_private && p < division_parts(&plan->division); p++) {
        const struct ledger_part part = {dataset, (enum part)p};
        enum status status = ledger_left(context->ledger, &part, &left, error);
        if (status != ST_OK)
            return status;
        count += append_budget(events + count, &left);
    }
    for (size_t i = 1; i < count; i++) {
        events[i].id = dataset->text;
        events[i].state = dataset_state_names[DATASET_READY];
        events[i].second = move->second;
        events[i].traceparent = job_trace(job)->parent;
    }
    return webhooks_tell(context->webhooks, tx, &subject, events, count, error);
}

enum status notice_charged(struct context *context, struct store_tx *tx,
                           const struct notice_charge *charge, struct error *error)
{
    enum { EVENTS_MAX = 3 }; /* the first is a job's, of which there is none */
    const unsigned budget_types = 1u << EVENT_BUDGET_LOW | 1u << EVENT_BUDGET_EXHAUSTED;
    const struct webhook_subject subject = {charge->dataset, charge->project};
    struct webhook_event events[EVENTS_MAX] = {{0}};
    struct ledger_left left;
    if (!webhooks_want(context->webhooks, budget_types, &subject))
        return ST_OK;
    const struct ledger_part part = {charge->dataset, PART_TRAIN};
    enum status status = ledger_left(context->ledger, &part, &left, error);
    if (status != ST_OK)
        return status;
    size_t count = append_budget(events, &left);
    for (size_t i = 1; i < count; i++) {
        events[i].id = charge->dataset->text;
        events[i].state = dataset_state_names[DATASET_READY];
        events[i].second = charge->second;
    }
    if (count == 1)
        return ST_OK;
    return webhooks_tell(context->webhooks, tx, &subject, events + 1, count - 1, error);
}

enum status notice_imported(struct context *context, struct store_tx *tx,
                            const struct dataset *dataset, int64_t second,
                            struct error *error)
{
    const struct dataset_id *id = &dataset_spec(dataset)->id;
    const struct webhook_subject subject = {id, dataset_owner(dataset)->project};
    const struct webhook_event event = {.type = EVENT_DATASET_IMPORTED,
                                        .id = id->text,
                                        .state = dataset_state_names[DATASET_READY],
                                        .second = second};
    if (!webhooks_want(context->webhooks, 1u << event.type, &subject))
        return ST_OK;
    return webhooks_tell(context->webhooks, tx, &subject, &event, 1, error);
}

enum status notice_grant(struct context *context, struct store_tx *tx,
                         const struct dataset *dataset, const struct proposal *proposal,
                         struct error *error)
{
    const struct webhook_subject subject = {&dataset_spec(dataset)->id,
                                            dataset_owner(dataset)->project};
    bool pending = proposal->state == PROPOSAL_PENDING;
    const struct webhook_event event = {.type = pending ? EVENT_GRANT_PENDING
                                                        : EVENT_GRANT_APPROVED,
                                        .id = proposal->id.text,
                                        .state = proposal_state_name(proposal->state),
                                        .second = clock_wall_s()};
    CHECK(pending || proposal->state == PROPOSAL_APPROVED);
    if (!webhooks_want(context->webhooks, 1u << event.type, &subject))
        return ST_OK;
    return webhooks_tell(context->webhooks, tx, &subject, &event, 1, error);
}
