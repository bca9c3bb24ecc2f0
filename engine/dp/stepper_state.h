/*
 * stepper_state.h - the members of a stepper; only for stepper.c and its test. A file
 * that includes this header could read a sum without its noise.
 */
#ifndef ENGINE_DP_STEPPER_STATE_H
#define ENGINE_DP_STEPPER_STATE_H

#include <stdatomic.h>

#include "engine/dp/batch.h"
#include "engine/dp/error_memory.h"
#include "engine/dp/micro_batch.h"
#include "engine/dp/reduction.h"
#include "engine/dp/release.h"
#include "engine/dp/step_seeds.h"
#include "engine/dp/stepper_setup.h"
#include "engine/sampling/fixed_size_subset.h"
#include "engine/sampling/partition.h"
#include "engine/sampling/sampler.h"

struct stepper {
    struct stepper_setup setup;
    size_t dim;
    struct feature_rows features; /* of the data; NULL rows: none were computed */
    uint64_t step;
    size_t counters; /* of the last sum: the bins of its histogram, or one for signs */
    struct step_seeds keys;
    struct sampler *sampler;
    struct partition partition;      /* if the setup uses an error memory */
    struct fixed_size_subset subset; /* if it uses subsets */
    struct batch batch;
    struct parameter_step *parameter_step; /* if it uses differences */
    struct micro_batch **micro_batches;    /* (team size) */
    struct reduction reduction;            /* the step's sum */
    struct error_memory_squares *squares;  /* (team size) each member's part */
    struct release release;
    struct optimizer *optimizer;
    double noise_variance; /* of a coordinate of the gradient, by its plan */
    atomic_bool diverged;  /* this step has updated a parameter to a value that is not
                           * finite */
};

#endif
