#include "service/models/model_json.h"

#include "api/views/model_view.h"
#include "base/check.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/job_score.h"
#include "service/jobs/jobs.h"
#include "service/models/models.h"
#include "service/process/daemon_state.h"

char *model_json(const struct daemon_state *context, const struct model_row *row)
{
    struct evaluation_point point;
    struct holdout_score score;
    const struct job *job = jobs_find_ever(context->jobs, row->job.text);
    CHECK(job != NULL);
    struct caption caption = model_caption(context->models, row);
    struct model_course course = {
        .caption = &caption,
        .dataset = job_dataset(job)->text,
        .algorithm = job_algorithm(job)->name,
        .regression = job_is_regression(job),
    };
    if (job_evaluation(context->jobs, job, &point))
        course.evaluation = &point;
    if (job_score(context->jobs, job, &score))
        course.holdout = &score;
    char *text = model_render(row, &course);
    caption_fini(&caption);
    return text;
}
