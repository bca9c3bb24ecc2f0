/* A tile's chains are in registers from its first term to its last. Therefore every
 * loop over rows and vectors must be unrolled, and there is a function for each number
 * of rows, generated from one inline function with constant arguments: an accumulator
 * that is indexed by a variable would be in memory. */
#include "engine/gemm/gemm_avx512.h"

#if PRODUCT_HAS_AVX512

#include <immintrin.h>

#include "engine/gemm/gemm_avx2.h"

#define TILE_TARGET __attribute__((target("avx512f,prfchw")))
#define TILE_INLINE static inline __attribute__((always_inline))
#define UNROLLED    _Pragma("GCC unroll 14")

enum { ROWS = 14, ROWS_OF_UNITS = 7, LANES = 16, VECTORS = PANEL_COLUMNS / LANES };

static bool available(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx2");
}

/* The lanes of a vector that begins at column first. */
TILE_INLINE __mmask16 lanes_of(size_t columns, size_t first)
{
    size_t left = columns > first ? columns - first : 0;
    return (__mmask16)(left < LANES ? (1U << left) - 1 : 0xffffU);
}

/* Prefetches the lines that will be written and were not read: they arrive while the
 * terms are added. */
TILE_TARGET TILE_INLINE void prefetch_rows(const struct product_tile *tile,
                                           const size_t rows, const size_t vectors)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t v = 0; v < vectors; v++)
            __builtin_prefetch(tile->z + i * tile->z_row + v * LANES, 1);
}

TILE_TARGET TILE_INLINE void begin(__m512 chains[][VECTORS],
                                   const struct product_tile *tile, const size_t rows,
                                   const size_t vectors)
{
    const __mmask16 lanes[VECTORS] = {lanes_of(tile->columns, 0),
                                      lanes_of(tile->columns, LANES)};
    const float *start = tile->start;

    UNROLLED
    for (size_t i = 0; i < rows; i++)
        UNROLLED
    for (size_t v = 0; v < vectors; v++)
        chains[i][v] = start == NULL
                           ? _mm512_setzero_ps()
                           : _mm512_maskz_loadu_ps(
                                 lanes[v], start + i * tile->start_row + v * LANES);
    if (start == NULL)
        prefetch_rows(tile, rows, vectors);
}

/* Continues the chains with the tile's runs, which begin at x and y. */
TILE_TARGET TILE_INLINE void add_runs(__m512 chains[][VECTORS],
                                      const struct product_tile *tile, const float *x,
                                      const float *y, const size_t rows,
                                      const size_t vectors)
{
    const size_t x_row = tile->x_row, x_term = tile->x_term, y_term = tile->y_term;
    const ptrdiff_t to_next_run =
        (ptrdiff_t)tile->x_run - (ptrdiff_t)(tile->terms * x_term);

    for (size_t r = tile->runs; r > 0; r--, x += to_next_run) {
        for (size_t t = tile->terms; t > 0; t--, x += x_term, y += y_term) {
            __m512 of_y[VECTORS];
            UNROLLED
            for (size_t v = 0; v < vectors; v++)
                of_y[v] = _mm512_loadu_ps(y + v * LANES);
            UNROLLED
            for (size_t i = 0; i < rows; i++) {
                __m512 of_x = _mm512_set1_ps(x[i * x_row]);
                UNROLLED
                for (size_t v = 0; v < vectors; v++)
                    chains[i][v] = _mm512_fmadd_ps(of_x, of_y[v], chains[i][v]);
            }
        }
    }
}

TILE_TARGET TILE_INLINE void end(__m512 chains[][VECTORS],
                                 const struct product_tile *tile, const size_t rows,
                                 const size_t vectors)
{
    const __mmask16 lanes[VECTORS] = {lanes_of(tile->columns, 0),
                                      lanes_of(tile->columns, LANES)};
    UNROLLED
    for (size_t i = 0; i < rows; i++)
        UNROLLED
    for (size_t v = 0; v < vectors; v++)
        _mm512_mask_storeu_ps(tile->z + i * tile->z_row + v * LANES, lanes[v],
                              chains[i][v]);
}

/* rows and vectors are constants at every call. */
TILE_TARGET TILE_INLINE void multiply_rows(const struct product_tile *tile,
                                           const size_t rows, const size_t vectors)
{
    __m512 chains[ROWS][VECTORS];
    begin(chains, tile, rows, vectors);
    add_runs(chains, tile, tile->x, tile->y, rows, vectors);
    end(chains, tile, rows, vectors);
}

/* A unit's chains and the sums over units are in registers, half of the registers
 * each. */
TILE_TARGET TILE_INLINE void add_units_rows(const struct product_tile *tile,
                                            struct product_units units,
                                            const size_t rows, const size_t vectors)
{
    const float *x = tile->x, *y = tile->y, *weight = units.weights;
    __m512 chains[ROWS_OF_UNITS][VECTORS], sums[ROWS_OF_UNITS][VECTORS];

    begin(sums, tile, rows, vectors);
    for (size_t u = units.count; u > 0; u--, weight += tile->runs) {
        UNROLLED
        for (size_t i = 0; i < rows; i++)
            UNROLLED
        for (size_t v = 0; v < vectors; v++)
            chains[i][v] = _mm512_setzero_ps();
        add_runs(chains, tile, x, y, rows, vectors);
        UNROLLED
        for (size_t i = 0; i < rows; i++)
            UNROLLED
        for (size_t v = 0; v < vectors; v++)
            sums[i][v] =
                _mm512_fmadd_ps(_mm512_set1_ps(*weight), chains[i][v], sums[i][v]);
        x += tile->runs * tile->x_run;
        y += tile->runs * tile->terms * tile->y_term;
    }
    end(sums, tile, rows, vectors);
}

/* One vector if the columns fit into it. */
#define TILE_OF(rows)                                                                  \
    TILE_TARGET static void multiply_##rows(const struct product_tile *tile)           \
    {                                                                                  \
        if (tile->columns <= LANES)                                                    \
            multiply_rows(tile, rows, 1);                                              \
        else                                                                           \
            multiply_rows(tile, rows, 2);                                              \
    }

TILE_OF(1)
TILE_OF(2)
TILE_OF(3)
TILE_OF(4)
TILE_OF(5)
TILE_OF(6)
TILE_OF(7)
TILE_OF(8)
TILE_OF(9)
TILE_OF(10)
TILE_OF(11)
TILE_OF(12)
TILE_OF(13)
TILE_OF(14)

#define UNITS_OF(rows)                                                                 \
    TILE_TARGET static void add_units_##rows(const struct product_tile *tile,          \
                                             struct product_units units)               \
    {                                                                                  \
        if (tile->columns <= LANES)                                                    \
            add_units_rows(tile, units, rows, 1);                                      \
        else                                                                           \
            add_units_rows(tile, units, rows, 2);                                      \
    }

UNITS_OF(1)
UNITS_OF(2)
UNITS_OF(3)
UNITS_OF(4)
UNITS_OF(5)
UNITS_OF(6)
UNITS_OF(7)

static void multiply(const struct product_tile *tile)
{
    static void (*const tiles[ROWS])(const struct product_tile *tile) = {
        multiply_1,  multiply_2,  multiply_3,  multiply_4, multiply_5,
        multiply_6,  multiply_7,  multiply_8,  multiply_9, multiply_10,
        multiply_11, multiply_12, multiply_13, multiply_14};
    tiles[tile->rows - 1](tile);
}

static void add_units(const struct product_tile *tile, struct product_units units)
{
    static void (*const tiles[ROWS_OF_UNITS])(const struct product_tile *tile,
                                              struct product_units units) = {
        add_units_1, add_units_2, add_units_3, add_units_4,
        add_units_5, add_units_6, add_units_7};
    tiles[tile->rows - 1](tile, units);
}

const struct gemm_kernel gemm_avx512 = {.name = "avx512",
                                        .rows = ROWS,
                                        .rows_of_units = ROWS_OF_UNITS,
                                        .columns = PANEL_COLUMNS,
                                        .available = available,
                                        .multiply = multiply,
                                        .add_units = add_units,
                                        .transpose = gemm_avx2_transpose};

#endif
