#include "service/runs/run_inputs.h"

#include "service/datasets/datasets.h"
#include "service/jobs/job_facts.h"
#include "service/planning/usable_dataset.h"
#include "service/process/daemon_state.h"

/* Makes both matrices scale their records by the ranges that the job names. */
static void rescale(struct run_inputs *inputs, struct daemon_state *context,
                    const struct job_request *request)
{
    const struct dataset *dataset =
        datasets_find(context->datasets, request->dataset.text);
    column_ranges_rescale(&inputs->rescaling, &request->scaling.ranges,
                          &dataset_spec(dataset)->schema);
    inputs->data.rows.rescaling = &inputs->rescaling;
    inputs->evaluation.rows.rescaling = &inputs->rescaling;
}

static enum status open_data(struct run_inputs *inputs, struct daemon_state *context,
                             struct job *job, struct error *error)
{
    const struct job_plan *plan = job_plan(job);
    const struct job_request *request = &plan->request;
    const atomic_bool *cancel = job_stop_flag(job);
    enum status status =
        verified_matrix_open(context, &request->dataset, cancel, &inputs->data, error);
    if (status == ST_OK)
        matrix_select(&inputs->data.rows, &plan->division, PART_TRAIN);
    if (status == ST_OK && request->measurement.is_asked) {
        status = verified_matrix_open(context, &request->dataset, cancel,
                                      &inputs->evaluation, error);
        if (status == ST_OK)
            matrix_select(&inputs->evaluation.rows, &plan->division, PART_HOLDOUT);
    }
    if (status == ST_OK && request->has_evaluation)
        status = verified_matrix_open(context, &request->evaluation, cancel,
                                      &inputs->evaluation, error);
    if (status == ST_OK && request->scaling.ranges.count > 0)
        rescale(inputs, context, request);
    return status;
}

/* If the weights are gone, the job ends before any record is read. */
enum status run_inputs_open(struct run_inputs *inputs, struct daemon_state *context,
                            struct job *job, struct error *error)
{
    const struct job_request *request = &job_plan(job)->request;
    const char *weights = request->train.model.start.weights;
    struct datasets *datasets = context->datasets;
    enum status status = usable_dataset_check_order(
        datasets, datasets_find(datasets, request->dataset.text), "", error);
    inputs->weights.loan.cancel = job_stop_flag(job);
    if (status == ST_OK && weights[0] != '\0')
        status = initial_weights_find(&inputs->weights, context, weights, error);
    if (status == ST_OK)
        status = standardise_wait(&inputs->standardise, context, job, error);
    return status == ST_OK ? open_data(inputs, context, job, error) : status;
}

void run_inputs_close(struct run_inputs *inputs, struct daemon_state *context)
{
    verified_matrix_close(&inputs->evaluation, context);
    verified_matrix_close(&inputs->data, context);
    initial_weights_release(&inputs->weights, context);
    rescaling_fini(&inputs->rescaling);
    feature_scale_fini(&inputs->standardise.scale);
}
