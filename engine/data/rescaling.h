/*
 * rescaling.h - maps features of stored records to ranges other than the import's: a
 * linear function for each feature, clipped.
 *
 *   out = gain x + offset, clipped to [-1, 1]
 *
 * The linear functions (column_ranges.h) are public, and out depends only on the
 * record's own x. So a proof about records holds for mapped records too.
 *
 * Ownership: a rescaling owns its numbers. Threads: any thread may read it.
 */
#ifndef ENGINE_DATA_RESCALING_H
#define ENGINE_DATA_RESCALING_H

#include <stddef.h>

struct rescaling { /* zeroed: none */
    size_t features;
    float *gain, *offset; /* (features) finite */
};

/* Sets gains of 1 and offsets of 0, which leave every feature in [-1, 1] unchanged. */
void rescaling_init(struct rescaling *rescaling, size_t features);
void rescaling_fini(struct rescaling *rescaling); /* a zeroed one is allowed */

/* Maps row (features) in place. */
void rescaling_apply(const struct rescaling *rescaling, float *row);

#endif
