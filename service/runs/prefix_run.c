#include "service/runs/prefix_run.h"

#include "service/config/config.h"
#include "service/datasets/datasets.h"
#include "service/jobs/statistics_runs.h"
#include "service/process/daemon_state.h"

enum status prefix_run_open(struct prefix_run *run, struct daemon_state *context,
                            struct statistics_run *survey, struct error *error)
{
    const char *id = survey->prefix.start.weights;
    const struct schema *schema =
        &dataset_spec(datasets_find(context->datasets, survey->dataset.text))->schema;
    struct weights_source own, body;
    struct scaled_prefix_setup setup = {.model = &survey->prefix,
                                        .data = schema_shape(schema),
                                        .threads = context->config->threads};
    run->weights.loan.cancel = &survey->stop;
    if (id[0] != '\0') {
        enum status status = initial_weights_find(&run->weights, context, id, error);
        if (status != ST_OK)
            return status;
        setup.weights = initial_weights_source(&run->weights, &own, &body);
    }
    enum status status = scaled_prefix_open(&run->layers, &setup, error);
    if (status != ST_OK)
        return status;
    run->source = scaled_prefix_source(run->layers);
    survey->statistics.items[0].moments.source = &run->source;
    return ST_OK;
}

void prefix_run_close(struct prefix_run *run, const struct daemon_state *context)
{
    scaled_prefix_close(run->layers);
    initial_weights_release(&run->weights, context);
    *run = (struct prefix_run){0};
}
