/*
 * train_spec.h - all that defines a training run. It holds public values only; the
 * service fills it from a checked request, and the trainer runs exactly this.
 *
 * Ownership: a train_spec owns its model (train_spec_fini).
 */
#ifndef ENGINE_TRAIN_SPEC_H
#define ENGINE_TRAIN_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mechanism.h"
#include "engine/dp/algorithm.h"
#include "engine/dp/optimizer.h"
#include "engine/nn/model_spec.h"

struct train_spec {
    struct algorithm_spec algorithm;
    struct model_spec model;
    struct optimizer_spec optimizer;
    enum relation relation;
    uint64_t records;    /* n, public */
    uint64_t batch_size; /* expected; sampling rate = batch_size / n */
    uint64_t steps;
    double noise_multiplier; /* 0 where the algorithm is not private */
};

void train_spec_fini(struct train_spec *spec); /* a zeroed one is allowed */

/* What the algorithm plans from. The answer borrows spec. */
struct algorithm_inputs train_spec_inputs(const struct train_spec *spec);

/* *m = the mechanism of spec at spec->noise_multiplier (plan in algorithm.h). */
enum status train_spec_mechanism(struct mechanism *m, const struct train_spec *spec,
                                 struct error *error);

#endif
