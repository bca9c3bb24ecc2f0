/*
 * batch_split.h - into how many pieces a stepper cuts a batch, and how long they are:
 * cells of a grid, or on public data pieces of an even length (batch.h). All of it
 * follows from the setup's public numbers.
 *
 * Threads: pure.
 */
#ifndef ENGINE_DP_BATCH_SPLIT_H
#define ENGINE_DP_BATCH_SPLIT_H

#include <stddef.h>
#include <stdint.h>

#include "engine/dp/stepper_setup.h"

/* How many records' sum on public data is one product: enough for a fast one, and few
 * enough that each of two threads gets some of a batch of 256, or of fewer images. */
size_t batch_split_even_rows(const struct stepper_setup *setup);

/* The most pieces that a batch of that many records is cut into: by the grid with the
 * most cells, or evenly on public data. */
size_t batch_split_count_max(const struct stepper_setup *setup, uint64_t records);

/* The most records that a piece is planned for. */
size_t batch_split_rows_max(const struct stepper_setup *setup);

#endif
