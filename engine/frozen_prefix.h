/*
 * frozen_prefix.h - a digest of everything that determines the features of a dataset's
 * rows:
 *
 *   layers    that compute them, the node whose outputs are the features, and weights,
 *             to the bit
 *   rows      which of them are used, how they are stored, and the ranges over which
 *             this job reads them (rescaling.h)
 *
 * Two runs with equal digests on one dataset compute the same features, bit for bit: a
 * record's features are the same in every row. The digest does not cover the kernels,
 * because they are fixed for the process and no digest outlives it.
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

/* Feeds the first `layers` entries of the model's list to the hash: kinds and members. */
void frozen_prefix_feed_layers(struct sha256 *hash, const struct model_spec *model,
                               size_t layers);

#endif
