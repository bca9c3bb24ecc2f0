/*
 * stepper_setup.h - the arguments of stepper_create.
 */
#ifndef ENGINE_DP_STEPPER_SETUP_H
#define ENGINE_DP_STEPPER_SETUP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/data/matrix.h"
#include "engine/dp/group.h"
#include "engine/dp/noise_plan.h"
#include "engine/dp/optimizer.h"
#include "engine/dp/views.h"
#include "engine/nn/network.h"
#include "engine/noise/noise_key.h"
#include "engine/parallel/team.h"

struct stepper_setup { /* borrowed until destroy, except rows and optimizer's spec */
    const struct network *network;
    const struct matrix *data;
    struct team *team;
    const struct group *group; /* NULL: a group of one */
    float *parameters;         /* (network_parameters) updated by stepper_update */
    const struct optimizer_spec *optimizer;
    const double *class_weights; /* (classes) see workspace_weigh_classes; NULL: none */
    uint64_t steps;
    uint64_t records;       /* n, the units of data (matrix_units) */
    uint64_t batch_size;    /* expected */
    struct view_spec views; /* views of each row in a step; a count of 0: none */
    bool is_public;         /* stepper_average is allowed, and noise is NULL */
    bool drops_gradient;    /* only stepper_descend is used, which touches a
                                     * small part of the gradient's memory */
    const struct noise_plan *noise; /* its grids determine how large cells can be */
    bool uses_error_memory; /* stepper_error_feedback and stepper_deal are used */
    bool uses_differences;  /* stepper_move_from is used */
    bool uses_subsets;      /* stepper_draw_subset is used */
    bool reads_inputs;      /* the clip rule reads the inputs of all layers */
    const atomic_bool *cancel;
    const struct noise_key *seed; /* tests; NULL: getrandom */
};

#endif
