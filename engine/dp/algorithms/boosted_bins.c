#include "engine/dp/algorithms/boosted_bins.h"

uint32_t boosted_bins_cells(uint32_t *bins, uint32_t cells)
{
    for (uint32_t k = 0; k < cells; k++)
        bins[k] = k;
    return cells;
}

uint32_t boosted_bins_equal(uint32_t *bins, uint32_t cells, uint32_t most)
{
    uint32_t count = most < cells ? most : cells;
    for (uint32_t k = 0; k < cells; k++)
        bins[k] = (uint32_t)((uint64_t)k * count / cells);
    return count;
}

uint32_t boosted_bins_quantiles(uint32_t *bins, const double *counts, uint32_t cells,
                                double share)
{
    uint32_t bin = 0;
    double sum = 0;
    for (uint32_t k = 0; k < cells; k++) {
        if (sum >= share) {
            bin++;
            sum = 0;
        }
        bins[k] = bin;
        sum += counts[k];
    }
    return bin + 1;
}
