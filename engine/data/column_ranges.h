/*
 * column_ranges.h - narrower ranges for some of a dataset's numeric columns, over which a
 * model takes them in place of the declared ones.
 *
 * An import keeps a number v of a column declared over [L, H] as x = (2 v - L - H) / (H - L),
 * clipped to [-1, 1]. Over [l, h], which lies in [L, H], it is
 *
 *   y = clip(gain x + offset),  gain = (H - L) / (h - l),  offset = (L + H - l - h) / (h - l)
 *
 * which is what encode.h makes of v over [l, h], to 2^-23 gain: x is known to 2^-24, and the
 * line is evaluated in float32. So a model that was trained on y predicts by a schema in which
 * these ranges are declared, and nothing else differs.
 *
 * Ownership: owns its names.
 */
#ifndef ENGINE_DATA_COLUMN_RANGES_H
#define ENGINE_DATA_COLUMN_RANGES_H

#include <stddef.h>

#include "base/status.h"
#include "engine/data/rescaling.h"
#include "engine/data/schema.h"

/* A range is at least this share of the declared one: of what is stored of a column eight
 * binary digits are left to tell its numbers apart. */
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

/* NULL: there is none of that column. */
const struct column_range *column_ranges_find(const struct column_ranges *ranges,
                                              const char *column);

/* Whether the schema's records can be taken over these ranges: each is of a numeric column
 * that is a feature, at most one of a column, in the declared range and no narrower than the
 * share above.
 *   ST_INVALID  error->text says which is not, and why */
enum status column_ranges_check(const struct column_ranges *ranges,
                                const struct schema *schema, struct error *error);

/* narrowed = the schema with these ranges, which were checked, in place of its own. All but
 * its columns is borrowed: it is released with column_ranges_release, and before the schema
 * is. Without ranges it is the schema itself. */
void column_ranges_narrow(struct schema *narrowed, const struct column_ranges *ranges,
                          const struct schema *schema);
void column_ranges_release(struct schema *narrowed, const struct schema *schema);

/* rescaling = the lines above, to be finished; of no ranges a zeroed one. */
void column_ranges_rescale(struct rescaling *rescaling,
                           const struct column_ranges *ranges,
                           const struct schema *schema);

#endif
