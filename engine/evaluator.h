/*
 * evaluator.h - evaluates a model on a public dataset. A team runs every record of a
 * matrix through the model.
 *
 * The result does not depend on the number of threads: the partial results are added in
 * a fixed order.
 *
 * Threads: one caller.
 */
#ifndef ENGINE_EVALUATOR_H
#define ENGINE_EVALUATOR_H

#include <stdatomic.h>

#include "base/status.h"
#include "engine/data/matrix.h"
#include "engine/dp/feature_rows.h"
#include "engine/nn/network.h"
#include "engine/nn/workspace.h"
#include "engine/parallel/team.h"

struct evaluator; /* opaque */

struct evaluator_setup { /* all borrowed until destroy */
    const struct network *network;
    const struct matrix *matrix;
    struct team *team;
    struct workspace *const *workspaces; /* (team_size) a member uses its own */
    const atomic_bool *cancel;           /* or NULL */
    /* of the matrix; rows NULL: features are computed each time */
    struct feature_rows features;
};

/*   ST_NO_MEMORY  an allocation failed */
enum status evaluator_create(struct evaluator **out,
                             const struct evaluator_setup *setup, struct error *error);
void evaluator_destroy(struct evaluator *evaluator); /* NULL is allowed */

struct evaluation {
    double loss;     /* mean over the evaluation matrix, in the model's loss */
    double accuracy; /* classification: share of correct classes; else 0 */
    double rmse;     /* regression: in mapped units; else 0 */
};

/* Evaluates the model of these parameters.
 *   ST_CANCELLED  the flag was seen
 *   ST_INTERNAL   the loss is not finite: the model has no answer for some record */
enum status evaluator_run(struct evaluator *evaluator, const float *parameters,
                          struct evaluation *evaluation, struct error *error);

#endif
