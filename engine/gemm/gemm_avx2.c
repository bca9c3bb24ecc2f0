/* The same method as in gemm_avx512.c, with half as many registers of half the
 * width. */
#include "engine/gemm/gemm_avx2.h"

#if PRODUCT_HAS_AVX2

#include <immintrin.h>

#define TILE_TARGET __attribute__((target("avx2,fma")))
#define TILE_INLINE static inline __attribute__((always_inline))
#define UNROLLED    _Pragma("GCC unroll 8")

enum { ROWS = 6, LANES = 8, VECTORS = 2 };

static bool available(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

/* The lanes of a vector that begins at column first. */
TILE_TARGET TILE_INLINE __m256i lanes_of(size_t columns, size_t first)
{
    static const int ends[2 * LANES] = {-1, -1, -1, -1, -1, -1, -1, -1};
    size_t left = columns > first ? columns - first : 0;
    const int *from = ends + (left < LANES ? LANES - left : 0);
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

TILE_TARGET TILE_INLINE void begin(__m256 chains[][VECTORS],
                                   const struct product_tile *tile, const size_t rows)
{
    const __m256i lanes[VECTORS] = {lanes_of(tile->columns, 0),
                                    lanes_of(tile->columns, LANES)};
    const float *start = tile->start;

    UNROLLED
    for (size_t i = 0; i < rows; i++)
        UNROLLED
    for (size_t v = 0; v < VECTORS; v++)
        chains[i][v] =
            start == NULL
                ? _mm256_setzero_ps()
                : _mm256_maskload_ps(start + i * tile->start_row + v * LANES, lanes[v]);
}

/* Continues the chains with the tile's runs, which begin at x and y. */
TILE_TARGET TILE_INLINE void add_runs(__m256 chains[][VECTORS],
                                      const struct product_tile *tile, const float *x,
                                      const float *y, const size_t rows)
{
    const size_t x_row = tile->x_row, x_term = tile->x_term, y_term = tile->y_term;
    const ptrdiff_t to_next_run =
        (ptrdiff_t)tile->x_run - (ptrdiff_t)(tile->terms * x_term);

    for (size_t r = tile->runs; r > 0; r--, x += to_next_run) {
        for (size_t t = tile->terms; t > 0; t--, x += x_term, y += y_term) {
            const __m256 of_y[VECTORS] = {_mm256_loadu_ps(y),
                                          _mm256_loadu_ps(y + LANES)};
            UNROLLED
            for (size_t i = 0; i < rows; i++) {
                __m256 of_x = _mm256_set1_ps(x[i * x_row]);
                UNROLLED
                for (size_t v = 0; v < VECTORS; v++)
                    chains[i][v] = _mm256_fmadd_ps(of_x, of_y[v], chains[i][v]);
            }
        }
    }
}

TILE_TARGET TILE_INLINE void end(__m256 chains[][VECTORS],
                                 const struct product_tile *tile, const size_t rows)
{
    const __m256i lanes[VECTORS] = {lanes_of(tile->columns, 0),
                                    lanes_of(tile->columns, LANES)};
    UNROLLED
    for (size_t i = 0; i < rows; i++)
        UNROLLED
    for (size_t v = 0; v < VECTORS; v++)
        _mm256_maskstore_ps(tile->z + i * tile->z_row + v * LANES, lanes[v],
                            chains[i][v]);
}

/* rows is a constant at every call. */
TILE_TARGET TILE_INLINE void multiply_rows(const struct product_tile *tile,
                                           const size_t rows)
{
    __m256 chains[ROWS][VECTORS];
    begin(chains, tile, rows);
    add_runs(chains, tile, tile->x, tile->y, rows);
    end(chains, tile, rows);
}

TILE_TARGET static void multiply(const struct product_tile *tile)
{
    switch (tile->rows) {
    case 1: multiply_rows(tile, 1); break;
    case 2: multiply_rows(tile, 2); break;
    case 3: multiply_rows(tile, 3); break;
    case 4: multiply_rows(tile, 4); break;
    case 5: multiply_rows(tile, 5); break;
    default: multiply_rows(tile, ROWS); break;
    }
}

/* A unit's chains are in registers, and the sums over units in memory, which is
 * accessed once a unit: if each had half of the registers, the chains would be too few
 * to keep a processor busy. */
TILE_TARGET TILE_INLINE void add_units_rows(const struct product_tile *tile,
                                            struct product_units units,
                                            const size_t rows)
{
    const float *x = tile->x, *y = tile->y, *weight = units.weights;
    __m256 chains[ROWS][VECTORS], sums[ROWS][VECTORS];

    begin(sums, tile, rows);
    for (size_t u = units.count; u > 0; u--, weight += tile->runs) {
        UNROLLED
        for (size_t i = 0; i < rows; i++)
            UNROLLED
        for (size_t v = 0; v < VECTORS; v++)
            chains[i][v] = _mm256_setzero_ps();
        add_runs(chains, tile, x, y, rows);
        UNROLLED
        for (size_t i = 0; i < rows; i++)
            UNROLLED
        for (size_t v = 0; v < VECTORS; v++)
            sums[i][v] =
                _mm256_fmadd_ps(_mm256_set1_ps(*weight), chains[i][v], sums[i][v]);
        x += tile->runs * tile->x_run;
        y += tile->runs * tile->terms * tile->y_term;
    }
    end(sums, tile, rows);
}

TILE_TARGET static void add_units(const struct product_tile *tile,
                                  struct product_units units)
{
    switch (tile->rows) {
    case 1: add_units_rows(tile, units, 1); break;
    case 2: add_units_rows(tile, units, 2); break;
    case 3: add_units_rows(tile, units, 3); break;
    case 4: add_units_rows(tile, units, 4); break;
    case 5: add_units_rows(tile, units, 5); break;
    default: add_units_rows(tile, units, ROWS); break;
    }
}

/* Transposes eight rows of eight floats, in registers, to eight columns of the
 * panel. */
TILE_TARGET TILE_INLINE void transpose_square(float *panel, const float *from,
                                              size_t stride)
{
    __m256 rows[LANES], pairs[LANES], fours[LANES];

    UNROLLED
    for (size_t i = 0; i < LANES; i++)
        rows[i] = _mm256_loadu_ps(from + i * stride);
    UNROLLED
    for (size_t i = 0; i < LANES; i += 2) {
        pairs[i] = _mm256_unpacklo_ps(rows[i], rows[i + 1]);
        pairs[i + 1] = _mm256_unpackhi_ps(rows[i], rows[i + 1]);
    }
    UNROLLED
    for (size_t i = 0; i < LANES; i += 4)
        UNROLLED
    for (size_t k = 0; k < 2; k++) {
        fours[i + 2 * k] = _mm256_shuffle_ps(pairs[i + k], pairs[i + k + 2], 0x44);
        fours[i + 2 * k + 1] = _mm256_shuffle_ps(pairs[i + k], pairs[i + k + 2], 0xee);
    }
    UNROLLED
    for (size_t k = 0; k < LANES / 2; k++) {
        _mm256_storeu_ps(panel + k * PANEL_COLUMNS,
                         _mm256_permute2f128_ps(fours[k], fours[k + 4], 0x20));
        _mm256_storeu_ps(panel + (k + LANES / 2) * PANEL_COLUMNS,
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

TILE_TARGET
void gemm_avx2_transpose(float *panel, struct product_source from)
{
    size_t rows = from.rows / LANES * LANES, columns = from.columns / LANES * LANES;

    for (size_t r = 0; r < rows; r += LANES)
        for (size_t c = 0; c < columns; c += LANES)
            transpose_square(panel + c * PANEL_COLUMNS + r,
                             from.at + r * from.stride + c, from.stride);
    struct product_source below = from, beside = from;
    below.at += rows * from.stride;
    below.rows -= rows;
    beside.rows = rows;
    transpose_edge(panel + rows, below, 0);
    transpose_edge(panel, beside, columns);
}

const struct gemm_kernel gemm_avx2 = {.name = "avx2",
                                      .rows = ROWS,
                                      .rows_of_units = ROWS,
                                      .columns = VECTORS * LANES,
                                      .available = available,
                                      .multiply = multiply,
                                      .add_units = add_units,
                                      .transpose = gemm_avx2_transpose};

#endif
