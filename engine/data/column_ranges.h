/*
 * column_ranges.h - narrower ranges for some of a dataset's numeric columns, which a
 * model uses instead of the declared ranges.
 *
 * An import stores a number v of a column declared over [L, H] as
 *
 *   x = (2 v - L - H) / (H - L), clipped to [-1, 1]
 *
 * Over [l, h], which lies in [L, H], the number becomes
 *
 *   y = clip(gain x + offset)
 *   gain = (H - L) / (h - l),  offset = (L + H - l - h) / (h - l)
 *
 * This equals the encoding of v over [l, h] by encode.h up to an error of 2^-23 gain: x
 * is known to 2^-24, and the line is evaluated in float32. So a model that was trained
 * on y predicts with a schema that declares these ranges and is otherwise the same.
 *
 * Ownership: owns its names.
 */
#ifndef ENGINE_DATA_COLUMN_RANGES_H
#define ENGINE_DATA_COLUMN_RANGES_H

#include <stddef.h>

#include "base/status.h"
#include "engine/data/rescaling.h"
#include "engine/data/schema.h"

/* A range is at least this share of the declared one, so that eight binary digits of
 * the stored values remain to distinguish the numbers of a column. */
#define COLUMN_RANGES_SHARE_MIN 0x1p-16

struct column_range {
    char *column; /* its name, owned */
    double low, high;
};

struct column_ranges { /* zeroed: none */
    size_t count;
    struct column_range *items;
};

void column_ranges_fini(struct column_ranges *ranges); /* a zeroed one is allowed */

/* Adds a range to the end. The name is copied. */
void column_ranges_add(struct column_ranges *ranges, const char *column, double low,
                       double high);

/* Returns the range of a column; NULL if there is none. */
const struct column_range *column_ranges_find(const struct column_ranges *ranges,
                                              const char *column);

/* Checks that the ranges fit the schema: each is of a numeric column that is a feature,
 * at most one per column, within the declared range and no narrower than the share
 * above.
 *   ST_INVALID  error->text says which does not fit, and why */
enum status column_ranges_check(const struct column_ranges *ranges,
                                const struct schema *schema, struct error *error);

/* narrowed = a copy of the schema with these ranges, which were checked, instead of its
 * own. Everything except its columns is borrowed from schema. Release it with
 * column_ranges_release, before the schema is released. Without ranges, narrowed equals
 * the schema. */
void column_ranges_narrow(struct schema *narrowed, const struct column_ranges *ranges,
                          const struct schema *schema);
void column_ranges_release(struct schema *narrowed, const struct schema *schema);

/* rescaling = the lines above; the caller releases it (rescaling_fini). Without ranges
 * it is zeroed. */
void column_ranges_rescale(struct rescaling *rescaling,
                           const struct column_ranges *ranges,
                           const struct schema *schema);

#endif
