/*
 * frozen_prefix.h - a digest of all that the features of a dataset's rows follow from:
 *
 *   layers    that make them, where among their nodes the features are taken, and weights,
 *             to the bit
 *   rows      which of them are seen, how they are stored, and the ranges over which this
 *             job reads them (rescaling.h)
 *
 * Two runs with equal digests on one dataset make the same features, bit for bit: a
 * record's are the same in every row. The kernels are the process's, and no digest outlives
 * that.
 *
 * Threads: pure.
 */
#ifndef ENGINE_FROZEN_PREFIX_H
#define ENGINE_FROZEN_PREFIX_H

#include "base/hash.h"
#include "engine/data/matrix.h"
#include "engine/train_spec.h"

struct frozen_prefix {
    const struct train_spec *spec; /* compiled */
    const float *parameters;       /* (network_floats) */
    const struct matrix *matrix;
};

void frozen_prefix_digest(const struct frozen_prefix *prefix,
                          uint8_t digest[SHA256_SIZE]);

#endif
