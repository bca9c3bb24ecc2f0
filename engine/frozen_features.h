/*
 * frozen_features.h - what the frozen layers below the first trained one make of every row
 * of a dataset, computed once for a run instead of once for each use of a record.
 *
 *   matrix --frozen nodes, once--> features --gathered for each batch--> the other nodes
 *
 * They are a function of the row and of its index alone, so a run that reads them is, bit
 * for bit, the run that computes them anew each time. That rests on rows that round alike
 * wherever they stand (row_class.h), so it is not done where there are several classes.
 *
 * Features are raw data (privacy.md P9). They lie in a file in the dataset's own folder, of
 * mode 0600, which has no name from its first byte on: it is gone with the run, however
 * that ends, and nothing can be asked for it.
 *
 * Threads: one caller; the team's threads are its own.
 */
#ifndef ENGINE_FROZEN_FEATURES_H
#define ENGINE_FROZEN_FEATURES_H

#include <stdatomic.h>

#include "base/status.h"
#include "engine/data/matrix.h"
#include "engine/dp/stepper.h"
#include "engine/parallel/team.h"
#include "engine/rounding/row_class.h"
#include "engine/train_spec.h"

struct frozen_features; /* opaque */

struct frozen_features_setup { /* borrowed for the call */
    const struct train_spec *spec;
    const struct matrix *matrix;
    const float *parameters;
    const struct row_classes *rows;
    struct team *team;
    struct stepper *stepper; /* lends its workspaces */
    const char *folder;      /* where the file lies; NULL: nowhere */
    const atomic_bool *cancel;
};

/* Computes the features of every row, and has the stepper read them. *out stays as it is
 * where they are made anew in each step: where the spec says so, there are none that a run
 * shares, rows round unlike, units are persons, or the disk has no room.
 *   ST_CANCELLED  the flag was seen */
enum status frozen_features_create(struct frozen_features **out,
                                   const struct frozen_features_setup *setup,
                                   struct error *error);
void frozen_features_destroy(struct frozen_features *features); /* NULL is allowed */

#endif
