/*
 * rescaling.h - features of stored records over other ranges than the import's: a straight
 * line for each feature, clipped.
 *
 *   out = gain x + offset, clipped to [-1, 1]
 *
 * Which lines (column_ranges.h) is public, and out depends on the record's own x alone: what
 * is proved of records holds of records that are so mapped.
 *
 * Ownership: a rescaling owns its numbers. Threads: it may be read by any.
 */
#ifndef ENGINE_DATA_RESCALING_H
#define ENGINE_DATA_RESCALING_H

#include <stddef.h>

struct rescaling { /* zeroed: none */
    size_t features;
    float *gain, *offset; /* (features) finite */
};

/* Every feature in [-1, 1] stays as it is: gains of 1, offsets of 0. */
void rescaling_init(struct rescaling *rescaling, size_t features);
void rescaling_fini(struct rescaling *rescaling); /* a zeroed one is allowed */

/* row (features) = itself over the other ranges. */
void rescaling_apply(const struct rescaling *rescaling, float *row);

#endif
