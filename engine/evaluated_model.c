#include "engine/evaluated_model.h"

#include <stdlib.h>

#include "base/check.h"
#include "engine/model_file/model_file.h"
#include "engine/rounding/blas.h"

/* Rows of a micro-batch: at least UNIT_ROWS_MAX, and as many as predict uses. */
enum { ROWS = PREDICTOR_ROWS };
_Static_assert((int)ROWS >= (int)UNIT_ROWS_MAX, "a unit lies in one micro-batch");

struct evaluated_model {
    struct network *network;
    struct model_values values;
    struct data_shape data;
    struct team *team;
    struct workspace **workspaces; /* (team_size) */
    const atomic_bool *cancel;
};

static enum status compile(struct network **network,
                           const struct evaluated_model_setup *setup,
                           struct error *error)
{
    const struct predictor_source *source = &setup->source;
    const struct network_shape shape = {
        .features = source->data.features,
        .outputs = model_spec_outputs(source->model, source->data.classes)};
    return network_create_of_units(network, source->model, shape, setup->unit_rows,
                                   error);
}

enum status evaluated_model_memory(uint64_t *memory,
                                   const struct evaluated_model_setup *setup,
                                   const struct quality_plan *plan, struct error *error)
{
    struct network *network = NULL;
    enum status status = compile(&network, setup, error);
    if (status != ST_OK)
        return status;
    uint64_t member = workspace_size(network, ROWS);
    if (plan != NULL)
        member += holdout_evaluation_size(plan, ROWS);
    *memory = network_floats(network) * sizeof(float) + setup->threads * member;
    network_destroy(network);
    return ST_OK;
}

static enum status create_workspaces(struct evaluated_model *model, struct error *error)
{
    enum status status = ST_OK;
    unsigned size = team_size(model->team);
    model->workspaces = calloc(size, sizeof *model->workspaces);
    CHECK(model->workspaces != NULL);
    for (unsigned m = 0; status == ST_OK && m < size; m++)
        status = workspace_create(&model->workspaces[m], model->network, ROWS, error);
    return status;
}

enum status evaluated_model_open(struct evaluated_model **out,
                                 const struct evaluated_model_setup *setup,
                                 struct error *error)
{
    struct evaluated_model *model = calloc(1, sizeof *model);
    CHECK(model != NULL);
    model->data = setup->source.data;
    model->cancel = setup->cancel;
    blas_use_one_thread();
    enum status status = ST_OK;
    if (!blas_rounding_is_exact())
        status =
            error_set(error, ST_NOT_FLOAT_SAFE, "floats are not rounded to nearest");
    if (status == ST_OK)
        status = compile(&model->network, setup, error);
    if (status == ST_OK)
        status = model_values_open(&model->values, &setup->source.files, model->network,
                                   error);
    if (status == ST_OK)
        status = team_create(&model->team, setup->threads, error);
    if (status == ST_OK)
        status = create_workspaces(model, error);
    if (status != ST_OK) {
        evaluated_model_close(model);
        return status;
    }
    *out = model;
    return ST_OK;
}

void evaluated_model_close(struct evaluated_model *model)
{
    if (model == NULL)
        return;
    for (unsigned m = 0; model->workspaces != NULL && m < team_size(model->team); m++)
        workspace_destroy(model->workspaces[m]);
    free(model->workspaces);
    team_destroy(model->team);
    model_values_close(&model->values);
    network_destroy(model->network);
    free(model);
}

static enum status check_matrix(const struct evaluated_model *model,
                                const struct matrix *matrix, struct error *error)
{
    if (matrix->features == model->data.features &&
        matrix->classes == model->data.classes)
        return ST_OK;
    return error_set(error, ST_INVALID, "the records have other features or targets");
}

enum status evaluated_model_score(struct evaluated_model *model,
                                  const struct matrix *matrix,
                                  struct evaluation *evaluation, struct error *error)
{
    struct evaluator *evaluator = NULL;
    const struct evaluator_setup setup = {.network = model->network,
                                          .matrix = matrix,
                                          .team = model->team,
                                          .workspaces = model->workspaces,
                                          .cancel = model->cancel};
    enum status status = check_matrix(model, matrix, error);
    if (status == ST_OK)
        status = evaluator_create(&evaluator, &setup, error);
    if (status == ST_OK)
        status = evaluator_run(evaluator, model->values.floats, evaluation, error);
    evaluator_destroy(evaluator);
    return status;
}

enum status evaluated_model_measure(struct evaluated_model *model,
                                    const struct quality_plan *plan,
                                    const struct matrix *holdout, double *released,
                                    struct error *error)
{
    const struct holdout_evaluation_setup setup = {.plan = plan,
                                                   .matrix = holdout,
                                                   .parameters = model->values.floats,
                                                   .team = model->team,
                                                   .workspaces = model->workspaces,
                                                   .cancel = model->cancel};
    enum status status = check_matrix(model, holdout, error);
    return status == ST_OK ? holdout_evaluation_run(&setup, released, error) : status;
}
