/*
 * frozen_features.h - what the frozen layers below the first trained one make of every row
 * of a matrix, computed once instead of once for each use of a record.
 *
 *   matrix --frozen nodes, once--> features --gathered for each batch--> the other nodes
 *
 * They are a function of the row and of its index alone, so a run that reads them is, bit
 * for bit, the run that computes them anew each time (noise.md 2.5).
 *
 * Where there is a cache, a run begins with the features that an earlier one made of the
 * same dataset with the same layers (frozen_prefix.h), and leaves its own.
 *
 * Threads: one caller; the team's threads are its own.
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

/* Where features lie. */
struct feature_place {
    const char *folder;          /* the datasets'; NULL: none are kept */
    struct feature_cache *cache; /* NULL: they live as long as who made them */
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

/* Whether the rows of batches, or of an evaluation, may be read from features. */
bool frozen_features_serve(const struct frozen_features_setup *setup);
bool frozen_features_serve_evaluation(const struct frozen_features_setup *setup);

/* The features of every row, held by the caller. *out stays as it is where the disk has no
 * room or cannot be written to: they are made anew each time.
 *   ST_CANCELLED  the flag was seen */
enum status frozen_features_make(struct feature_file **out,
                                 const struct frozen_features_setup *setup,
                                 struct error *error);

#endif
