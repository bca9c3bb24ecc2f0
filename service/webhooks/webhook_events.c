#include "service/webhooks/webhook_events.h"

#include "accountant/ledger/ledger_view.h"
#include "api/requests/proposal.h"
#include "api/requests/webhook_event.h"
#include "api/views/sweep_view.h"
#include "base/check.h"
#include "base/clock.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/datasets.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/job_plan.h"
#include "service/jobs/jobs.h"
#include "service/jobs/sweeps.h"
#include "service/process/daemon_state.h"
#include "service/process/job_state.h"
#include "service/webhooks/webhooks.h"

static const double low_shares[] = {0.5, 0.2, 0.1}; /* in falling order */
static const double exhausted_share = 0.001;
static const unsigned budget_types =
    1u << EVENT_BUDGET_LOW | 1u << EVENT_BUDGET_EXHAUSTED;

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

struct news { /* the events of one transaction */
    struct webhook_event events[2 + 2 * PARTS_MAX];
    size_t count;
};

/* Appends the events that the open transaction causes for the budget of a part, at most
 * two. like has the members that they share. */
static void append_budget(struct news *news, const struct webhook_event *like,
                          const struct ledger_left *left)
{
    struct webhook_event low = *like, exhausted = *like;
    low.type = EVENT_BUDGET_LOW;
    exhausted.type = EVENT_BUDGET_EXHAUSTED;
    for (size_t i = 0; i < sizeof low_shares / sizeof *low_shares; i++)
        if (falls_to(left, low_shares[i]))
            low.left = low_shares[i];
    if (low.left > 0)
        news->events[news->count++] = low;
    if (left->before >= exhausted_share && left->after < exhausted_share)
        news->events[news->count++] = exhausted;
}

/* Appends the events for the budgets of all parts; a part that was not charged has
 * none. A message has no field for a part's name, so two parts that fall together send
 * equal messages. Reads only the second and the traceparent of cause. */
static enum status append_budgets(struct daemon_state *context, struct news *news,
                                  const struct dataset_id *dataset,
                                  const struct webhook_event *cause,
                                  struct error *error)
{
    const struct division division = ledger_division(context->ledger, dataset);
    const struct webhook_event like = {.id = dataset->text,
                                       .state = dataset_state_names[DATASET_READY],
                                       .second = cause->second,
                                       .traceparent = cause->traceparent};
    for (unsigned p = 0; p < division_parts(&division); p++) {
        struct ledger_left left;
        const struct ledger_part part = {dataset, (enum part)p};
        enum status status = ledger_left(context->ledger, &part, &left, error);
        if (status != ST_OK)
            return status;
        append_budget(news, &like, &left);
    }
    return ST_OK;
}

/* If the job's sweep has ended with this job, appends that event and adds its type to
 * *types. Reads only the second and the traceparent of like. */
static void append_sweep(struct daemon_state *context, struct store_tx *tx,
                         const struct job *job, struct news *news, unsigned *types)
{
    struct sweep_course course;
    const struct webhook_event *like = &news->events[0];
    bool cancelled = like->type == EVENT_JOB_CANCELLED;
    if (!sweeps_end_run(context->sweeps, tx, job, cancelled, &course) ||
        course.open > 0)
        return;
    const struct webhook_event ended = {
        .type = course.cancelled > 0 ? EVENT_SWEEP_CANCELLED : EVENT_SWEEP_ENDED,
        .id = job_plan(job)->sweep.id.text,
        .state = sweep_state_name(true),
        .second = like->second,
        .traceparent = like->traceparent};
    *types |= 1u << ended.type;
    news->events[news->count++] = ended;
}

enum status webhook_events_job_ended(struct daemon_state *context, struct store_tx *tx,
                                     const struct job *job, const struct job_move *move,
                                     struct error *error)
{
    const struct job_plan *plan = job_plan(job);
    const struct dataset_id *dataset = &plan->request.dataset;
    const struct webhook_subject subject = {dataset, job_project(job)};
    const struct webhook_event ended = {.type = type_of(move->state),
                                        .id = job_id(job)->text,
                                        .state = job_state_name(move->state),
                                        .second = move->second,
                                        .traceparent = job_trace(job)->parent};
    struct news news = {.events = {ended}, .count = 1};
    unsigned types = 1u << ended.type | budget_types;
    enum status status = ST_OK;
    append_sweep(context, tx, job, &news, &types);
    if (!webhooks_want(context->webhooks, types, &subject))
        return ST_OK;
    if (plan->is_private)
        status = append_budgets(context, &news, dataset, &ended, error);
    return status == ST_OK ? webhooks_tell(context->webhooks, tx, &subject, news.events,
                                           news.count, error)
                           : status;
}

enum status webhook_events_charged(struct daemon_state *context, struct store_tx *tx,
                                   const struct webhook_events_charge *charge,
                                   struct error *error)
{
    const struct webhook_subject subject = {charge->dataset, charge->project};
    const struct webhook_event cause = {.second = charge->second};
    struct news news = {.count = 0};
    if (!webhooks_want(context->webhooks, budget_types, &subject))
        return ST_OK;
    enum status status = append_budgets(context, &news, charge->dataset, &cause, error);
    if (status != ST_OK || news.count == 0)
        return status;
    return webhooks_tell(context->webhooks, tx, &subject, news.events, news.count,
                         error);
}

enum status webhook_events_imported(struct daemon_state *context, struct store_tx *tx,
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

enum status webhook_events_grant(struct daemon_state *context, struct store_tx *tx,
                                 const struct dataset *dataset,
                                 const struct proposal *proposal, struct error *error)
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
