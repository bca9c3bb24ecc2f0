#include "service/planning/plan_refusal.h"

#include <string.h>

#include "accountant/ledger/ledger_view.h"
#include "accountant/pricing/balance_room.h"
#include "accountant/pricing/figures.h"
#include "api/views/problem.h"
#include "service/access/policy.h"
#include "service/planning/standardisation.h"
#include "service/process/daemon_state.h"

struct denied_event { /* what the members of a budget's 409 point to */
    struct problem problem;
    struct outlook outlook; /* of the part with the least left, among the parts that are
                               read */
    double available[LEDGER_WEIGHTED], orders[LEDGER_WEIGHTED];
};

static void refusal_fill(struct daemon_state *context, const struct policy_asked *asked,
                         struct denied_event *refusal)
{
    const struct mechanism *m = asked->mechanism;
    const struct ledger_question question = {asked->dataset, m, 1, asked->parts,
                                             asked->purchase};
    const struct balance *balance = &refusal->outlook.balance;
    struct problem *problem = &refusal->problem;
    struct balance left;
    struct balance_room room;
    problem->has_most_steps = m->run_count == 1;
    if (ledger_outlook(context->ledger, &question, &refusal->outlook, NULL) != ST_OK)
        return;
    left = *balance;
    if (standardisation_hold(&left, context, asked->purchase, NULL) != ST_OK ||
        balance_room_find(&room, m, &left, asked->delta, NULL) != ST_OK)
        return;
    problem->largest_epsilon = room.largest_epsilon;
    problem->most_steps = room.most_steps;
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        size_t at = balance->weighted[i];
        double free =
            balance->capacity[i] - balance->committed.at[at] - balance->held.at[at];
        refusal->orders[i] = curve_orders[at];
        refusal->available[i] = free > 0 ? free : 0;
    }
    problem->has_room = true;
    problem->needed = &refusal->outlook.charge;
    problem->available = refusal->available;
    problem->available_orders = refusal->orders;
}

/* Returns whether the error is about the evaluation on a holdout, of a job or of a
 * sweep's job. */
static bool is_measurement(const struct error *error)
{
    return strncmp(error->pointer, "/evaluation", 11) == 0 ||
           strncmp(error->pointer, "/job/evaluation", 15) == 0;
}

void plan_refuse(struct daemon_state *context, struct request *request,
                 const struct policy_asked *asked, size_t count,
                 const struct error *error)
{
    struct denied_event refusal = {0};
    const struct policy_inquiry inquiry = {&request->caller.principal, asked, count};
    bool is_budget =
        error->status == ST_BUDGET_EXHAUSTED || error->status == ST_BUDGET_HELD;
    struct policy_breach breach;
    if (asked->dataset != NULL)
        request->about = *asked->dataset;
    /* An error of the evaluation on a holdout concerns that part's budget, which has no
     * room for a smaller one. */
    if (is_budget && !is_measurement(error) && asked->mechanism->run_count > 0)
        refusal_fill(context, asked, &refusal);
    if (error->status == ST_POLICY_VIOLATION &&
        policy_find_breach(context, &inquiry, &breach, NULL) == ST_OK &&
        breach.member != NULL) {
        refusal.problem.policy = breach.member;
        refusal.problem.policy_limit = breach.limit;
    }
    request_refuse(request, error, &refusal.problem);
}
