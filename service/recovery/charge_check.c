#include "service/recovery/charge_check.h"

#include <string.h>

#include "accountant/ledger/entry.h"
#include "accountant/ledger/ledger_view.h"
#include "accountant/pricing/figures.h"
#include "base/status.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/jobs.h"
#include "service/process/job_state.h"
#include "store/rows/ledger_rows.h"

/* A figure is the result of a numeric search, and another version's search may end at a
 * slightly different value. */
static const double figure_slack = 1e-6;

static enum status wrong(const struct job *job, const char *what, struct error *error)
{
    return error_set(error, ST_CORRUPT, "table job, row %s: %s", job_id(job)->text,
                     what);
}

struct looking {
    struct jobs *jobs;
    struct ledger *ledger;
    enum status status;
    struct error *error;
};

/* Computes what this many steps of the mechanism that the entry reserves cost. */
static enum status charged(double *epsilon, const struct ledger_row *row,
                           const struct job *job, uint64_t steps, struct error *error)
{
    struct mechanism m = {0};
    struct figure figure = {0};
    enum parts parts;
    bool good =
        entry_reserve_parse(&m, &parts, row) &&
        figure_epsilon(&figure, &m, steps, job_plan(job)->request.delta, NULL) == ST_OK;
    mechanism_fini(&m);
    *epsilon = figure.epsilon;
    return good ? ST_OK
                : wrong(job, "what was reserved has no price at its delta", error);
}

static enum status check_epsilon(const struct ledger_row *row, const struct job *job,
                                 const struct job_progress *shown, struct error *error)
{
    double least = 0, planned = job_plan(job)->epsilon_planned;
    if (shown->authorised_steps == 0)
        return shown->epsilon_spent == 0
                   ? ST_OK
                   : wrong(job, "it shows an epsilon of no steps", error);
    enum status status = charged(&least, row, job, shown->authorised_steps, error);
    if (status != ST_OK)
        return status;
    if (planned < least)
        least = planned;
    if (shown->epsilon_spent >= least * (1 - figure_slack) &&
        shown->epsilon_spent <= planned)
        return ST_OK;
    return wrong(job, "its epsilon is not that of the steps that were charged", error);
}

static bool see_entry(void *context, const struct ledger_row *row)
{
    struct looking *looking = context;
    const struct job *job = jobs_find(looking->jobs, row->job);
    if (strcmp(row->kind, "RESERVE") != 0 || job == NULL ||
        !job_state_is_terminal(job_state(looking->jobs, job)))
        return true;
    const struct job_progress shown = job_recorded(looking->jobs, job);
    if (shown.authorised_steps != ledger_authorised(looking->ledger, job_id(job)))
        looking->status =
            wrong(job, "its authorised steps are not those that were charged",
                  looking->error);
    else
        looking->status = check_epsilon(row, job, &shown, looking->error);
    return looking->status == ST_OK;
}

enum status charge_check_run(struct jobs *jobs, struct ledger *ledger,
                             struct store_tx *tx, struct error *error)
{
    struct looking looking = {jobs, ledger, ST_OK, error};
    const struct ledger_range all = {.after = 0};
    enum status status = ledger_rows_walk(tx, &all, see_entry, &looking, error);
    return status == ST_OK ? looking.status : status;
}
