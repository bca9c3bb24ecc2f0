/*
 * training_inside.h - what a training holds; for training.c and training_release.c alone.
 */
#ifndef ENGINE_DP_TRAINING_INSIDE_H
#define ENGINE_DP_TRAINING_INSIDE_H

#include "engine/dp/batch.h"
#include "engine/dp/residue.h"
#include "engine/dp/training.h"
#include "engine/dp/worker.h"
#include "engine/noise/noise.h"
#include "engine/sampling/partition.h"
#include "engine/sampling/sampler.h"

enum { SPAN_STEP = NOISE_CHUNK }; /* a member's part of a vector is whole chunks */

struct training {
    struct training_setup setup;
    size_t dim;
    uint64_t step, query; /* query counts the releases of this step */
    size_t bins;          /* the bins of the last pass's histogram */
    struct noise_source *noise_source, *sampling_source, *drop_source;
    struct noise_key noise_key, sampling_key, drop_key; /* this step's */
    struct sampler *sampler;
    struct batch batch;
    struct shared_sum sum;
    struct partition partition;              /* where the setup keeps a residue */
    struct selection selection;              /* where it uses subsets */
    struct parameter_step *motion;           /* where it uses differences */
    struct residue_squares *residue_squares; /* (team size) */
    size_t lock_count;                       /* locks of sum that were initialised */
    float *gradient;                         /* (dim) as it was released */
    struct optimizer *optimizer;
    struct worker **workers; /* (team size) */
    struct noise **noises;   /* (team size) */
    bool *finite;            /* (team size) what each found in the last update */
};

/* A member's part of the flat vector. */
struct span training_span(const struct training *training, unsigned member);

void training_clear_counts(struct training *training);

#endif
