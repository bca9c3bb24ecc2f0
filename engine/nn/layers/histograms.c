#include "engine/nn/layers/histograms.h"

#include <string.h>

/* Rounding x + 1 may reach the next edge, and never passes it. */
static uint32_t number_cell(float x)
{
    const float half = HISTOGRAM_CELLS / 2;
    if (!(x > -1.0F))
        return 0;
    if (x >= 1.0F)
        return HISTOGRAM_CELLS - 1;
    uint32_t cell = (uint32_t)((x + 1.0F) * half);
    cell = cell < HISTOGRAM_CELLS ? cell : HISTOGRAM_CELLS - 1;
    return cell - (x < (float)cell / half - 1.0F ? 1 : 0);
}

/* Reads all words, so that the time does not depend on the record's. */
static uint32_t word_cell(const float *words, uint32_t count)
{
    uint32_t cell = count;
    for (uint32_t k = count; k-- > 0;)
        cell = words[k] > 0.5F ? k : cell;
    return cell;
}

static uint32_t column_cell(const struct histograms *histograms, size_t column,
                            const float *record)
{
    const float *features = record + histograms->features[column];
    return histograms_is_number(histograms, column)
               ? number_cell(*features)
               : word_cell(features, histograms->widths[column]);
}

uint32_t histograms_cells_max(const struct histograms *histograms)
{
    uint32_t most = 0;
    for (size_t s = 0; s < histograms->shapes; s++) {
        uint32_t cells = histograms_cells(histograms, s);
        most = cells > most ? cells : most;
    }
    return most;
}

uint32_t histograms_side_cells(const struct histograms *histograms, size_t column)
{
    return histograms_is_number(histograms, column)
               ? (uint32_t)HISTOGRAM_SIDE_CELLS
               : histograms_cells(histograms, column);
}

uint32_t histograms_side_cell(const struct histograms *histograms, size_t column,
                              uint32_t cell)
{
    return histograms_is_number(histograms, column)
               ? cell / (HISTOGRAM_CELLS / HISTOGRAM_SIDE_CELLS)
               : cell;
}

static uint32_t pair_cell(const struct histograms *histograms, size_t pair,
                          uint32_t left, uint32_t right)
{
    const uint32_t *sides = histograms->sides[pair];
    return histograms_side_cell(histograms, sides[0], left) *
               histograms_side_cells(histograms, sides[1]) +
           histograms_side_cell(histograms, sides[1], right);
}

void histograms_rows(const struct histograms *histograms, float *rows,
                     const float *record)
{
    uint32_t cells[MODEL_COLUMNS_MAX];
    for (size_t i = 0; i < histograms->columns; i++) {
        cells[i] = column_cell(histograms, i, record);
        rows[i] = (float)(histograms->first[i] + cells[i]);
    }
    for (size_t k = 0; k < histograms->pairs; k++) {
        const uint32_t *sides = histograms->sides[k];
        size_t shape = histograms->columns + k;
        rows[shape] =
            (float)(histograms->first[shape] +
                    pair_cell(histograms, k, cells[sides[0]], cells[sides[1]]));
    }
    rows[histograms->shapes - 1] = (float)histograms->first[histograms->shapes - 1];
}

uint64_t histograms_lay_out(struct histograms *histograms,
                            const struct model_columns *columns, size_t width)
{
    uint64_t rows = 0;
    uint32_t feature = 0;
    size_t shape = 0;
    histograms->columns = columns->count > 0 ? columns->count : width;
    histograms->pairs = columns->pair_count;
    histograms->shapes = histograms->columns + histograms->pairs + 1;
    for (; shape < histograms->columns; shape++) {
        uint32_t own = columns->count > 0 ? columns->widths[shape] : 1;
        histograms->features[shape] = feature;
        histograms->widths[shape] = own;
        histograms->first[shape] = (uint32_t)rows;
        rows += own == 1 ? (uint32_t)HISTOGRAM_CELLS : own + 1;
        histograms->first[shape + 1] = (uint32_t)rows;
        feature += own;
    }
    memcpy(histograms->sides, columns->pairs, sizeof columns->pairs);
    for (size_t k = 0; k < histograms->pairs; k++, shape++) {
        const uint32_t *sides = histograms->sides[k];
        histograms->first[shape] = (uint32_t)rows;
        rows += (uint64_t)histograms_side_cells(histograms, sides[0]) *
                histograms_side_cells(histograms, sides[1]);
    }
    histograms->first[shape] = (uint32_t)rows;
    histograms->first[shape + 1] = (uint32_t)rows + 1;
    return rows + 1;
}
