/*
 * boosted_bins.h - how the cells of a shape (layers/histograms.h) are joined to the bins
 * that boosting releases sums of. Bins are computed from released counts and public
 * numbers only, so they cost nothing more.
 *
 * Threads: pure.
 */
#ifndef ENGINE_DP_ALGORITHMS_BOOSTED_BINS_H
#define ENGINE_DP_ALGORITHMS_BOOSTED_BINS_H

#include <stddef.h>
#include <stdint.h>

/* bins (cells) = the bin of each cell, in order from 0. All return the number of bins. */

/* Each cell is a bin. */
uint32_t boosted_bins_cells(uint32_t *bins, uint32_t cells);

/* At most `most` bins, which differ by at most one cell. */
uint32_t boosted_bins_equal(uint32_t *bins, uint32_t cells, uint32_t most);

/* A bin ends with the cell at which its noisy counts reach `share` together. The cells
 * after the last of these bins are a bin too.
 *   counts  (cells) noisy: may be negative
 *   share   > 0 */
uint32_t boosted_bins_quantiles(uint32_t *bins, const double *counts, uint32_t cells,
                                double share);

#endif
