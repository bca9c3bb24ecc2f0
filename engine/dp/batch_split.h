/*
 * batch_split.h - how many pieces a stepper cuts a batch into, and how long they are:
 * cells of a grid, or on public data pieces of an even length (batch.h). All results
 * follow from the setup's public numbers.
 *
 * Threads: pure.
 */
#ifndef ENGINE_DP_BATCH_SPLIT_H
#define ENGINE_DP_BATCH_SPLIT_H

#include <stddef.h>
#include <stdint.h>

#include "engine/dp/stepper_setup.h"

/* The records of a piece on public data, whose sum is one product: enough to make the
 * product fast, and few enough that each of two threads gets a part of a batch of 256,
 * or of fewer images. */
size_t batch_split_even_rows(const struct stepper_setup *setup);

/* The most pieces that are stored for a batch of the given records: the cells of the
 * grid that has most, or pieces of even length on public data. */
size_t batch_split_count_max(const struct stepper_setup *setup, uint64_t records);

/* The most records that a piece is planned for. */
size_t batch_split_rows_max(const struct stepper_setup *setup);

#endif
