/*
 * merge_table.h - the merges of a byte-pair encoding: the rank of a pair of tokens, and
 * the token that the pair becomes.
 *
 * A merge's rank is its place in the list, from 0; a lower rank is merged first.
 *
 * Threads: any thread may search it.
 */
#ifndef ENGINE_TEXT_MERGE_TABLE_H
#define ENGINE_TEXT_MERGE_TABLE_H

#include <stdint.h>

#include "base/status.h"

#define MERGE_ABSENT UINT32_MAX

struct merge {
    uint32_t left, right, result; /* ids of tokens */
};

struct merge_table; /* opaque */

/* Copies merges[0..count); all ids are below `vocabulary`. count may be 0.
 *   ST_INVALID    two merges have one pair: repeated has their ranks, the lower one first
 *   ST_NO_MEMORY */
enum status merge_table_create(struct merge_table **out, const struct merge *merges,
                               uint32_t count, uint32_t vocabulary,
                               uint32_t repeated[2]);
void merge_table_destroy(struct merge_table *table); /* NULL is allowed */

/* Returns the rank of the pair, or MERGE_ABSENT. Takes a logarithm of the number of
 * merges that have this left token. */
uint32_t merge_table_find(const struct merge_table *table, uint32_t left,
                          uint32_t right);

/* Returns the merge of a rank. */
const struct merge *merge_table_at(const struct merge_table *table, uint32_t rank);

#endif
