#include "service/model_text.h"

#include "api/model_view.h"
#include "base/check.h"

char *model_text(const struct context *context, const struct model_row *row)
{
    struct evaluation_point point;
    const struct job *job = jobs_find(context->jobs, row->job.text);
    CHECK(job != NULL);
    const struct job_request *request = &job_plan(job)->request;
    struct model_course course = {
        .dataset = request->dataset.text,
        .algorithm = request->train.algorithm.algorithm->name,
        .regression = job_is_regression(job),
    };
    if (job_evaluation(context->jobs, job, &point))
        course.evaluation = &point;
    return model_render(row, &course);
}
