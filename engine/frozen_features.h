/*
 * frozen_features.h - the outputs of the frozen layers below the first trained one, for
 * every row of a matrix, computed once instead of at each use of a record.
 *
 *   matrix --frozen nodes, once--> features --gathered for a batch--> the other nodes
 *
 * Features depend only on the row and its index, so a run that reads them gives, bit
 * for bit, the same result as a run that computes them again at each use (noise.md
 * 2.5).
 *
 * If there is a cache, a run uses the features that an earlier run computed for the
 * same dataset with the same layers (frozen_prefix.h), and adds its own features to the
 * cache.
 *
 * Threads: one caller; it uses the threads of the team.
 */
#ifndef ENGINE_FROZEN_FEATURES_H
#define ENGINE_FROZEN_FEATURES_H

#include <stdatomic.h>

#include "base/status.h"
#include "engine/data/matrix.h"
#include "engine/dp/stepper.h"
#include "engine/feature_cache.h"
#include "engine/parallel/team.h"
#include "engine/train_spec.h"

/* The place where features are stored. */
struct feature_place {
    const char *folder;          /* of the datasets; NULL: features are not stored */
    struct feature_cache *cache; /* NULL: features exist as long as the run */
    const char *dataset;         /* its id; needed with a cache */
};

struct frozen_features_setup { /* borrowed for the call */
    const struct train_spec *spec;
    const struct matrix *matrix;
    const float *parameters;
    struct team *team;
    struct stepper *stepper; /* lends its workspaces */
    struct feature_place place;
    const atomic_bool *cancel;
};

/* Return whether the rows of batches, or the rows of an evaluation, may be read from
 * features. */
bool frozen_features_serve(const struct frozen_features_setup *setup);
bool frozen_features_serve_evaluation(const struct frozen_features_setup *setup);

/* Computes the features of every row, with a reference for the caller. *out is
 * unchanged if the disk has no room or cannot be written to: features are then computed
 * at each use.
 *   ST_CANCELLED  the flag was seen */
enum status frozen_features_make(struct feature_file **out,
                                 const struct frozen_features_setup *setup,
                                 struct error *error);

#endif
