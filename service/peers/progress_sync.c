#include "service/peers/progress_sync.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/status.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/job_plan.h"
#include "service/jobs/job_told.h"
#include "service/jobs/jobs.h"
#include "service/process/daemon_state.h"
#include "service/process/job_state.h"
#include "store/rows/claim_rows.h"

/* --- this daemon's --- */

struct told {                   /* what has to be written */
    struct claim_progress *all; /* (count), owned */
    size_t count;
};

/* Adds what is shown of a job that runs here, if that is more than was written. */
static void note(struct told *told, struct daemon_state *context, struct job *job)
{
    if (!atomic_load(job_here_flag(job)))
        return;
    const struct job_progress shown = job_shown(context->jobs, job);
    if (shown.step <= job_told(job)->step &&
        shown.authorised_steps <= job_told(job)->authorised)
        return;
    told->all[told->count++] = (struct claim_progress){
        .job = *job_id(job), .step = shown.step, .authorised = shown.authorised_steps};
    job_told(job)->step = shown.step;
    job_told(job)->authorised = shown.authorised_steps;
}

static struct told gather(struct daemon_state *context)
{
    size_t count;
    struct told told = {0};
    struct job **active = jobs_active(context->jobs, &count);
    told.all = calloc(count + 1, sizeof *told.all);
    CHECK(told.all != NULL);
    for (size_t i = 0; i < count; i++)
        note(&told, context, active[i]);
    free(active);
    return told;
}

static enum status write(struct daemon_state *context, const struct told *told,
                         struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status = store_begin(context->store, STORE_MARK, &tx, error);
    if (status != ST_OK)
        return status;
    for (size_t i = 0; i < told->count && status == ST_OK; i++) {
        const struct claim_progress *one = &told->all[i];
        status = claim_row_say(tx, store_daemon(context->store), &one->job, one->step,
                               one->authorised, error);
    }
    return store_end(tx, status, error);
}

/* Writes the row of a job that runs here, if it shows an evaluation that is not written
 * yet. */
static enum status write_points(struct daemon_state *context, struct job *job,
                                struct error *error)
{
    size_t points = job_shown_points(context->jobs, job);
    if (!atomic_load(job_here_flag(job)) || points <= job_told(job)->points)
        return ST_OK;
    job_told(job)->points = points;
    return job_save(context->jobs, context->store, job, error);
}

static enum status write_rows(struct daemon_state *context, struct error *error)
{
    size_t count;
    enum status status = ST_OK;
    struct job **active = jobs_active(context->jobs, &count);
    for (size_t i = 0; i < count && status == ST_OK; i++)
        status = write_points(context, active[i], error);
    free(active);
    return status;
}

enum status progress_sync_tell(struct daemon_state *context, struct error *error)
{
    struct told told = gather(context);
    enum status status = told.count > 0 ? write(context, &told, error) : ST_OK;
    free(told.all);
    return status == ST_OK ? write_rows(context, error) : status;
}

/* --- the others' --- */

static bool take(void *argument, const struct claim_progress *said)
{
    struct daemon_state *context = argument;
    struct job *job = jobs_find(context->jobs, said->job.text);
    if (job == NULL || atomic_load(job_here_flag(job)) ||
        job_state_is_terminal(job_state(context->jobs, job)))
        return true;
    const struct job_plan *plan = job_plan(job);
    if (said->step > plan->request.train.steps ||
        said->authorised > plan->request.train.steps)
        return true; /* no run of ours can get there */
    const struct job_progress known = job_recorded(context->jobs, job);
    const struct job_progress now = {.step = said->step,
                                     .authorised_steps = said->authorised,
                                     .epsilon_spent =
                                         job_plan_spent(plan, said->authorised)};
    bool is_further =
        now.step > known.step || now.authorised_steps > known.authorised_steps;
    if (is_further && now.step >= known.step &&
        now.authorised_steps >= known.authorised_steps)
        job_record(context->jobs, job, &now, NULL);
    return true;
}

enum status progress_sync_look(struct daemon_state *context, struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status;
    do {
        status = store_begin(context->store, STORE_READ, &tx, error);
        if (status != ST_OK)
            return status;
        status = claim_rows_walk_said(tx, store_daemon(context->store), take, context,
                                      error);
    } while (store_again(tx, &status, error));
    return status;
}
