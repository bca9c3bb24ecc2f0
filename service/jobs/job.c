#include "service/jobs/job.h"

#include <math.h>
#include <stdlib.h>

#include "service/http/cached_response.h"

struct job_body *job_body(const struct job *job)
{
    return job_text_body(job->kept);
}

const struct holdout_score *job_score_of(const struct job *job,
                                         const struct job_now *now)
{
    bool has_model = now->has_model && !now->model_is_gone;
    if (has_model && job->later_score.score.is_known)
        return &job->later_score;
    return now->state == JOB_SUCCEEDED && job->own_score.score.is_known
               ? &job->own_score
               : NULL;
}

struct job_view job_view_of(const struct job *job, const struct job_now *now)
{
    const struct job_body *body = job_body(job);
    const struct job_plan *plan = &body->plan;
    const struct train_spec *train = &plan->request.train;
    return (struct job_view){
        .id = &job->id,
        .caption = &job->caption,
        .state = job_state_name(now->state),
        .state_reason =
            now->reason != REASON_NONE ? job_reason_name(now->reason) : NULL,
        .attempt = now->attempt,
        .request = &plan->request,
        .sweep = &plan->sweep,
        .step = now->made.progress.step,
        .steps = train->steps,
        .is_private = job->is_private,
        .noise_multiplier = train->noise_multiplier,
        .sampling_rate = (double)train->batch_size / (double)train->records,
        .epsilon_planned = job->epsilon_planned,
        .epsilon_spent = now->made.progress.epsilon_spent,
        .authorised_steps = now->made.progress.authorised_steps,
        .ledger_seq = job->ledger_seq,
        .measurement_noise = plan->quality.noise_multiplier,
        .measurement_seq = job->measurement_seq,
        .quality = now->state == JOB_SUCCEEDED ? body->quality : NULL,
        .holdout = job_score_of(job, now),
        .regression = job->regression,
        .point_count = now->made.point_count,
        .points = body->points,
        .released_count = now->made.released_count,
        .released = body->released,
        .model = now->has_model ? &now->model : NULL,
        .model_is_gone = now->model_is_gone,
        .drawn = &job->drawn,
        .create_ms = job->create_ms,
        .project = job->project,
        .created_by = job->owner,
        .log = &body->log,
        .start_ms = now->start_ms,
        .cancel_ms = now->cancel_ms,
        .end_ms = now->end_ms,
        .queue_position = now->queue_position,
        .seconds_left = now->seconds_left,
        .traceparent = body->trace.parent,
    };
}

uint64_t job_seconds_left(uint64_t step, uint64_t steps, int64_t elapsed_s)
{
    if (step == 0 || elapsed_s <= 0)
        return 0;
    double left = ceil((double)elapsed_s * (double)(steps - step) / (double)step);
    return left > 1 ? (uint64_t)left : 1;
}

void job_destroy(void *item)
{
    struct job *job = item;
    if (job == NULL)
        return;
    cached_response_drop(job->answer);
    free(job->line);
    free(job->changes.points);
    free(job->changes.released);
    caption_fini(&job->caption);
    job_text_destroy(job->kept);
    free(job);
}
