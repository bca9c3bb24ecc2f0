#include "engine/gemm/panel_transpose.h"

#if PROCESSOR_X86_64

#include <immintrin.h>

#define TRANSPOSE_TARGET __attribute__((target("avx2")))
#define UNROLLED         _Pragma("GCC unroll 8")

enum { SQUARE = 8 };

/* Transposes eight rows of eight floats, in registers, to eight columns of the
 * panel. */
TRANSPOSE_TARGET static inline __attribute__((always_inline)) void
transpose_square(float *panel, const float *from, size_t stride)
{
    __m256 rows[SQUARE], pairs[SQUARE], fours[SQUARE];

    UNROLLED
    for (size_t i = 0; i < SQUARE; i++)
        rows[i] = _mm256_loadu_ps(from + i * stride);
    UNROLLED
    for (size_t i = 0; i < SQUARE; i += 2) {
        pairs[i] = _mm256_unpacklo_ps(rows[i], rows[i + 1]);
        pairs[i + 1] = _mm256_unpackhi_ps(rows[i], rows[i + 1]);
    }
    UNROLLED
    for (size_t i = 0; i < SQUARE; i += 4)
        UNROLLED
    for (size_t k = 0; k < 2; k++) {
        fours[i + 2 * k] = _mm256_shuffle_ps(pairs[i + k], pairs[i + k + 2], 0x44);
        fours[i + 2 * k + 1] = _mm256_shuffle_ps(pairs[i + k], pairs[i + k + 2], 0xee);
    }
    UNROLLED
    for (size_t k = 0; k < SQUARE / 2; k++) {
        _mm256_storeu_ps(panel + k * PANEL_COLUMNS,
                         _mm256_permute2f128_ps(fours[k], fours[k + 4], 0x20));
        _mm256_storeu_ps(panel + (k + SQUARE / 2) * PANEL_COLUMNS,
                         _mm256_permute2f128_ps(fours[k], fours[k + 4], 0x31));
    }
}

/* Transposes the columns that no square of eight covers. */
static void transpose_edge(float *panel, struct product_source from, size_t first)
{
    for (size_t r = 0; r < from.rows; r++)
        for (size_t c = first; c < from.columns; c++)
            panel[c * PANEL_COLUMNS + r] = from.at[r * from.stride + c];
}

TRANSPOSE_TARGET
void panel_transpose(float *panel, struct product_source from)
{
    size_t rows = from.rows / SQUARE * SQUARE, columns = from.columns / SQUARE * SQUARE;

    for (size_t r = 0; r < rows; r += SQUARE)
        for (size_t c = 0; c < columns; c += SQUARE)
            transpose_square(panel + c * PANEL_COLUMNS + r,
                             from.at + r * from.stride + c, from.stride);
    struct product_source below = from, beside = from;
    below.at += rows * from.stride;
    below.rows -= rows;
    beside.rows = rows;
    transpose_edge(panel + rows, below, 0);
    transpose_edge(panel, beside, columns);
}

#endif
