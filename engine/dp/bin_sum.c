#include "engine/dp/bin_sum.h"

#include <math.h>

#include "base/check.h"

/* Covers the rounding of a norm, of a factor and of their product. */
static const double margin = 1 - 0x1p-40;

/* Returns the factor that clips b, or 0 if it is not finite. */
static double factor_of(const float *b, size_t outputs, double clip_norm)
{
    double square = 0;
    for (size_t o = 0; o < outputs; o++)
        square += (double)b[o] * (double)b[o];
    if (!isfinite(square))
        return 0;
    double norm = sqrt(square);
    return margin * (norm > clip_norm ? clip_norm / norm : 1);
}

static void add_row(const struct bin_sum *sum, uint32_t cell, const float *b,
                    int64_t unit_rows, int64_t *sums)
{
    CHECK(cell < histograms_cells(sum->histograms, sum->shape));
    size_t bin = sum->bins[cell], outputs = sum->histograms->outputs;
    if (sum->counts) {
        sums[bin] += (int64_t)sum->scale / unit_rows;
        return;
    }
    double factor = factor_of(b, outputs, sum->clip_norm) * sum->scale;
    if (!(factor > 0))
        return;
    for (size_t o = 0; o < outputs; o++)
        sums[bin * outputs + o] += (int64_t)(factor * (double)b[o]) / unit_rows;
}

void bin_sum_add(const struct bin_sum *sum, struct workspace *workspace,
                 const float *weights, size_t rows, int64_t *sums)
{
    struct rows cells = workspace_frozen_rows(workspace);
    uint32_t first_row = sum->histograms->first[sum->shape];
    size_t unit = workspace_unit_rows(workspace);
    for (size_t first = 0; first < rows; first += unit) {
        int64_t own = 0;
        for (size_t row = first; row < first + unit; row++)
            own += weights[row] > 0;
        for (size_t row = first; row < first + unit; row++)
            if (weights[row] > 0) {
                float read = cells.data[row * cells.stride + sum->shape];
                add_row(sum, (uint32_t)read - first_row,
                        workspace_slopes(workspace, row), own, sums);
            }
    }
}
