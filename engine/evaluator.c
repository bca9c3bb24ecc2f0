#include "engine/evaluator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/rounding/small_floats.h"

struct portion {          /* the result of one micro-batch of the matrix */
    double loss, squares; /* squares: of the errors of a regression */
    size_t right;
};

struct evaluator {
    struct evaluator_setup setup;
    const float *parameters; /* of the current run */
    size_t rows, portion_count;
    struct portion *portions;
    uint32_t *indices; /* (records) 0, 1, 2, ... */
};

enum status evaluator_create(struct evaluator **out,
                             const struct evaluator_setup *setup, struct error *error)
{
    struct evaluator *evaluator = calloc(1, sizeof *evaluator);
    size_t records = (size_t)setup->matrix->records;
    CHECK(evaluator != NULL);
    evaluator->setup = *setup;
    evaluator->rows = workspace_rows(setup->workspaces[0]);
    evaluator->portion_count = (records + evaluator->rows - 1) / evaluator->rows;
    evaluator->portions = calloc(evaluator->portion_count, sizeof *evaluator->portions);
    evaluator->indices = calloc(records, sizeof *evaluator->indices);
    if (evaluator->portions == NULL || evaluator->indices == NULL) {
        evaluator_destroy(evaluator);
        return error_set(error, ST_NO_MEMORY, "no memory to evaluate %zu records",
                         records);
    }
    for (size_t i = 0; i < records; i++)
        evaluator->indices[i] = (uint32_t)i;
    *out = evaluator;
    return ST_OK;
}

void evaluator_destroy(struct evaluator *evaluator)
{
    if (evaluator == NULL)
        return;
    free(evaluator->portions);
    free(evaluator->indices);
    free(evaluator);
}

/* Copies the features of records [first, first + count) to the output of the frozen
 * layers. */
static void gather_features(struct feature_rows features, struct workspace *workspace,
                            size_t first, size_t count)
{
    struct rows rows = workspace_frozen_rows(workspace);
    for (size_t i = 0; i < count; i++)
        memcpy(rows.data + i * rows.stride,
               features.rows + (first + i) * features.width,
               features.width * sizeof *features.rows);
}

static void gather_targets(const struct matrix *matrix, struct workspace *workspace,
                           const uint32_t *indices, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (matrix->targets != NULL)
            workspace_classes(workspace)[i] = matrix_target(matrix, indices[i]);
        else
            workspace_values(workspace)[i] = matrix_value(matrix, indices[i]);
    }
}

static void forward(const struct evaluator *evaluator, struct workspace *workspace,
                    size_t first, size_t count)
{
    const struct feature_rows features = evaluator->setup.features;
    if (features.rows != NULL) {
        gather_features(features, workspace, first, count);
        workspace_forward_rest(workspace, evaluator->parameters, count);
        return;
    }
    matrix_gather(evaluator->setup.matrix, workspace_input(workspace),
                  workspace_stride(workspace), evaluator->indices + first, count);
    workspace_forward(workspace, evaluator->parameters, count);
}

static struct portion evaluate_portion(const struct evaluator *evaluator,
                                       struct workspace *workspace, size_t index)
{
    const struct matrix *matrix = evaluator->setup.matrix;
    size_t first = index * evaluator->rows, left = (size_t)matrix->records - first;
    size_t count = left < evaluator->rows ? left : evaluator->rows;
    struct portion portion = {0};
    forward(evaluator, workspace, first, count);
    gather_targets(matrix, workspace, evaluator->indices + first, count);
    workspace_loss(workspace);
    for (size_t i = 0; i < count; i++) {
        portion.loss += workspace_losses(workspace)[i];
        if (matrix->targets != NULL) {
            portion.right +=
                workspace_class(workspace, i) == workspace_classes(workspace)[i];
            continue;
        }
        double over =
            workspace_value(workspace, i) - (double)workspace_values(workspace)[i];
        portion.squares += over * over;
    }
    return portion;
}

static bool cancelled(const struct evaluator *evaluator)
{
    const atomic_bool *cancel = evaluator->setup.cancel;
    return cancel != NULL && atomic_load(cancel);
}

static void evaluate_member(void *context, unsigned member)
{
    struct evaluator *evaluator = context;
    unsigned size = team_size(evaluator->setup.team);
    size_t end = evaluator->portion_count * (member + 1) / size;
    struct workspace *workspace = evaluator->setup.workspaces[member];
    struct small_floats before = small_floats_drop();
    for (size_t p = evaluator->portion_count * member / size;
         p < end && !cancelled(evaluator); p++)
        evaluator->portions[p] = evaluate_portion(evaluator, workspace, p);
    small_floats_restore(before);
}

enum status evaluator_run(struct evaluator *evaluator, const float *parameters,
                          struct evaluation *evaluation, struct error *error)
{
    const struct matrix *matrix = evaluator->setup.matrix;
    double loss = 0, squares = 0, right = 0, records = (double)matrix->records;
    evaluator->parameters = parameters;
    team_run(evaluator->setup.team,
             &(struct team_work){
                 .run = evaluate_member,
                 .context = evaluator,
                 .shares = evaluator->portion_count,
                 .flops = records * network_forward_flops(evaluator->setup.network)});
    evaluator->parameters = NULL;
    if (cancelled(evaluator))
        return error_set(error, ST_CANCELLED, "cancelled");
    for (size_t p = 0; p < evaluator->portion_count; p++) {
        loss += evaluator->portions[p].loss;
        squares += evaluator->portions[p].squares;
        right += (double)evaluator->portions[p].right;
    }
    if (!isfinite(loss) || !isfinite(squares))
        return error_set(error, ST_INTERNAL,
                         "the loss on public records is not finite");
    *evaluation = (struct evaluation){.loss = loss / records};
    if (matrix->targets != NULL)
        evaluation->accuracy = right / records;
    else
        evaluation->rmse = sqrt(squares / records);
    return ST_OK;
}
