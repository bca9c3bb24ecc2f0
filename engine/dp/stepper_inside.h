/*
 * stepper_inside.h - what a stepper holds; for stepper.c and stepper_release.c alone.
 */
#ifndef ENGINE_DP_STEPPER_INSIDE_H
#define ENGINE_DP_STEPPER_INSIDE_H

#include "engine/dp/batch.h"
#include "engine/noise/noise.h"
#include "engine/sampling/partition.h"
#include "engine/dp/error_memory.h"
#include "engine/sampling/sampler.h"
#include "engine/dp/stepper.h"
#include "engine/dp/micro_batch.h"

enum { SPAN_STEP = NOISE_CHUNK }; /* a member's part of a vector is whole chunks */

struct stepper {
    struct stepper_setup setup;
    size_t dim;
    uint64_t step, query; /* query counts the releases of this step */
    size_t bins;          /* the bins of the last sum's histogram */
    struct noise_source *noise_source, *sampling_source, *drop_source;
    struct noise_key noise_key, sampling_key, drop_key; /* this step's */
    struct sampler *sampler;
    struct batch batch;
    struct reduction reduction;
    struct partition partition;      /* where the setup uses an error memory */
    struct fixed_size_subset subset; /* where it uses subsets */
    struct parameter_step *motion;   /* where it uses differences */
    struct error_memory_squares *error_memory_squares; /* (team size) */
    size_t lock_count; /* locks of sum that were initialised */
    float *gradient;   /* (dim) as it was released */
    struct optimizer *optimizer;
    struct micro_batch **micro_batches; /* (team size) */
    struct noise **noises;              /* (team size) */
    bool *finite; /* (team size) what each found in the last update */
};

/* A member's part of the flat vector. */
struct span stepper_span(const struct stepper *stepper, unsigned member);

void stepper_clear_counts(struct stepper *stepper);

#endif
