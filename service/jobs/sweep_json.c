#include "service/jobs/sweep_json.h"

#include <math.h>
#include <stdlib.h>

#include "accountant/ledger/ledger_view.h"
#include "api/views/sweep_view.h"
#include "base/check.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/job_plan.h"
#include "service/jobs/job_score.h"
#include "service/process/daemon_state.h"

static struct sweep_line line_of(struct jobs *jobs, const struct job *job)
{
    const struct job_plan *plan = job_plan(job);
    struct job_progress progress = job_shown(jobs, job);
    struct sweep_line line = {
        .run = &plan->sweep,
        .job = job_id(job),
        .state = job_state_name(job_state(jobs, job)),
        .step = progress.step,
        .steps = plan->request.train.steps,
        .epsilon_planned = plan->epsilon_planned,
        .epsilon_spent = progress.epsilon_spent,
        .noise_multiplier = plan->request.train.noise_multiplier,
    };
    job_score(jobs, job, &line.holdout);
    line.evaluated = job_evaluation(jobs, job, &line.evaluation);
    line.has_model = job_model(jobs, job, &line.model);
    return line;
}

/* The score by which runs are compared, the greater the better: the newest score on the
 * holdout, which was paid for, or else the quality shown on a public dataset, which
 * costs nothing. NaN if the run has nothing to compare, or no model. */
static double score_of(const struct sweep_line *line, bool regression)
{
    double figure = (double)NAN;
    if (line->evaluated)
        figure = line->evaluation.quality;
    if (line->holdout.score.is_known)
        figure = line->holdout.score.value;
    if (!line->has_model)
        return (double)NAN;
    return regression ? -figure : figure;
}

/* If scores are equal, returns the first. */
static const struct sweep_line *best_of(const struct sweep_line *lines, size_t count,
                                        bool regression)
{
    const struct sweep_line *best = NULL;
    for (size_t i = 0; i < count; i++) {
        double score = score_of(&lines[i], regression);
        if (isfinite(score) && (best == NULL || score > score_of(best, regression)))
            best = &lines[i];
    }
    return best;
}

struct shown_sweep { /* the runs of a sweep that exist */
    const struct sweep_id *id;
    const struct job *any; /* one of its runs */
    struct job *const *runs;
    size_t count;
};

/* Computes what the existing runs have spent, composed: epsilon at the grant's
 * delta. */
static double spent_together(const struct daemon_state *context,
                             const struct shown_sweep *sweep, double *delta)
{
    struct balance balance;
    struct curve sum = {0}, charge;
    const struct dataset_id *dataset = &job_plan(sweep->any)->request.dataset;
    if (ledger_balance(context->ledger, dataset, &balance, NULL) != ST_OK)
        return (double)NAN;
    *delta = balance.curve_delta;
    for (size_t i = 0; i < sweep->count; i++) {
        uint64_t steps = job_shown(context->jobs, sweep->runs[i]).authorised_steps;
        const struct mechanism *m = &job_plan(sweep->runs[i])->mechanism;
        if (steps > 0 && m->run_count > 0 &&
            filter_charge(&charge, m, steps, NULL) == ST_OK)
            curve_add(&sum, &charge);
    }
    return budget_spent_epsilon(&sum, balance.curve_delta);
}

static char *render(const struct daemon_state *context, const struct shown_sweep *sweep,
                    enum sweep_extent extent)
{
    struct jobs *jobs = context->jobs;
    double delta = (double)NAN;
    size_t by_state[JOB_STATE_COUNT] = {0}, open = 0;
    struct sweep_line *lines = calloc(sweep->count + 1, sizeof *lines);
    const struct job_plan *plan = job_plan(sweep->any);
    bool regression = job_is_regression(sweep->any);
    CHECK(lines != NULL);
    for (size_t i = 0; i < sweep->count; i++) {
        enum job_state state = job_state(jobs, sweep->runs[i]);
        by_state[state]++;
        open += !job_state_is_terminal(state);
        lines[i] = line_of(jobs, sweep->runs[i]);
    }
    const struct sweep_view view = {
        .id = sweep->id,
        .dataset = plan->request.dataset.text,
        .evaluation =
            plan->request.has_evaluation ? plan->request.evaluation.text : NULL,
        .project = job_project(sweep->any),
        .created_by = job_owner(sweep->any),
        .create_ms = job_create_ms(sweep->any),
        .is_private = plan->is_private,
        .regression = regression,
        .ended = open == 0,
        .runs = plan->sweep.runs,
        .epsilon = plan->sweep.epsilon,
        .epsilon_spent = extent == SWEEP_WHOLE && plan->is_private
                             ? spent_together(context, sweep, &delta)
                             : (double)NAN,
        .delta = delta,
        .state_names = job_state_names,
        .by_state = by_state,
        .state_count = JOB_STATE_COUNT,
        .lines = lines,
        .line_count = sweep->count,
        .winner = best_of(lines, sweep->count, regression),
    };
    char *answer = sweep_render(&view, extent);
    free(lines);
    return answer;
}

static char *render_sweep(const struct daemon_state *context, const struct sweep *sweep,
                          enum sweep_extent extent)
{
    size_t count;
    struct job **runs = sweep_runs(sweep, &count);
    const struct shown_sweep shown = {sweep_id(sweep), sweep_any_run(sweep), runs,
                                      count};
    char *answer = render(context, &shown, extent);
    free(runs);
    return answer;
}

char *sweep_json(const struct daemon_state *context, const struct sweep *sweep)
{
    return render_sweep(context, sweep, SWEEP_WHOLE);
}

char *sweep_new_text(const struct daemon_state *context, const struct sweep_id *id,
                     struct job *const *runs, size_t count)
{
    const struct shown_sweep shown = {id, runs[0], runs, count};
    return render(context, &shown, SWEEP_WHOLE);
}

char *sweep_summary_text(const struct daemon_state *context, const struct sweep *sweep)
{
    return render_sweep(context, sweep, SWEEP_SUMMARY);
}
