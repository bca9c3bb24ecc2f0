/*
 * gemm_vector.h - the body of a kernel (gemm_kernel.h) with vectors. The file of each
 * instruction set includes it once, and first defines
 *
 *   VECTOR_TARGET          the attribute of functions with these instructions
 *   VECTOR_INLINE          the same, of functions that are inlined everywhere
 *   LANES                  floats in a vector
 *   VECTORS                vectors in a row of the largest tile: 2
 *   ROWS, EACH_ROWS(of)    the most rows of a tile, and of(1) of(2) ... of(ROWS)
 *   ROWS_OF_UNITS, EACH_ROWS_OF_UNITS(of)   the same of a tile of units
 *   PREFETCHES             whether lines that are only written are prefetched
 *   vector                 the type
 *   vector_zero(), vector_of(float), vector_fma(x, y, chain)
 *   vector_load(from), vector_store(to, vector)
 *   vector_load_part(from, lanes), vector_store_part(to, vector, lanes)
 *                          only the first lanes, fewer than LANES, are accessed; the
 *                          others are read as zeros
 *
 * It defines multiply and add_units.
 *
 * A tile's chains are in registers from its first term to its last. Therefore every
 * loop over rows and vectors must be unrolled, and there is a function for each number
 * of rows, generated from one inline function with constant arguments: an accumulator
 * that is indexed by a variable would be in memory.
 *
 * Threads: as gemm_kernel.h.
 */
#include "engine/gemm/gemm_kernel.h"

#define UNROLLED _Pragma("GCC unroll 14")

_Static_assert(VECTORS == 2, "a tile has one vector or two");

/* The lanes of a tile's last vector. */
static inline size_t lanes_of_last(const struct product_tile *tile,
                                   const size_t vectors)
{
    return tile->columns - (vectors - 1) * LANES;
}

/* The lines arrive while the terms are added. */
VECTOR_INLINE void prefetch_rows(const struct product_tile *tile, const size_t rows,
                                 const size_t vectors)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t v = 0; v < vectors; v++)
            __builtin_prefetch(tile->z + i * tile->z_row + v * LANES, 1);
}

VECTOR_INLINE void clear(vector chains[][VECTORS], const size_t rows,
                         const size_t vectors)
{
    UNROLLED
    for (size_t i = 0; i < rows; i++)
        UNROLLED
    for (size_t v = 0; v < vectors; v++)
        chains[i][v] = vector_zero();
}

VECTOR_INLINE void begin(vector chains[][VECTORS], const struct product_tile *tile,
                         const size_t rows, const size_t vectors)
{
    const size_t last = vectors - 1, lanes = lanes_of_last(tile, vectors);
    const float *start = tile->start;

    if (start == NULL) {
        clear(chains, rows, vectors);
        if (PREFETCHES)
            prefetch_rows(tile, rows, vectors);
        return;
    }
    UNROLLED
    for (size_t i = 0; i < rows; i++, start += tile->start_row) {
        UNROLLED
        for (size_t v = 0; v < last; v++)
            chains[i][v] = vector_load(start + v * LANES);
        chains[i][last] = lanes == LANES
                              ? vector_load(start + last * LANES)
                              : vector_load_part(start + last * LANES, lanes);
    }
}

/* Continues the chains with the tile's runs, which begin at x and y. */
VECTOR_INLINE void add_runs(vector chains[][VECTORS], const struct product_tile *tile,
                            const float *x, const float *y, const size_t rows,
                            const size_t vectors)
{
    const size_t x_row = tile->x_row, x_term = tile->x_term, y_term = tile->y_term;
    const ptrdiff_t to_next_run =
        (ptrdiff_t)tile->x_run - (ptrdiff_t)(tile->terms * x_term);

    for (size_t r = tile->runs; r > 0; r--, x += to_next_run) {
        for (size_t t = tile->terms; t > 0; t--, x += x_term, y += y_term) {
            vector of_y[VECTORS];
            UNROLLED
            for (size_t v = 0; v < vectors; v++)
                of_y[v] = vector_load(y + v * LANES);
            UNROLLED
            for (size_t i = 0; i < rows; i++) {
                vector of_x = vector_of(x[i * x_row]);
                UNROLLED
                for (size_t v = 0; v < vectors; v++)
                    chains[i][v] = vector_fma(of_x, of_y[v], chains[i][v]);
            }
        }
    }
}

VECTOR_INLINE void end(vector chains[][VECTORS], const struct product_tile *tile,
                       const size_t rows, const size_t vectors)
{
    const size_t last = vectors - 1, lanes = lanes_of_last(tile, vectors);
    float *z = tile->z;

    UNROLLED
    for (size_t i = 0; i < rows; i++, z += tile->z_row) {
        UNROLLED
        for (size_t v = 0; v < last; v++)
            vector_store(z + v * LANES, chains[i][v]);
        if (lanes == LANES)
            vector_store(z + last * LANES, chains[i][last]);
        else
            vector_store_part(z + last * LANES, chains[i][last], lanes);
    }
}

/* rows and vectors are constants at every call. */
VECTOR_INLINE void multiply_rows(const struct product_tile *tile, const size_t rows,
                                 const size_t vectors)
{
    vector chains[ROWS][VECTORS];
    begin(chains, tile, rows, vectors);
    add_runs(chains, tile, tile->x, tile->y, rows, vectors);
    end(chains, tile, rows, vectors);
}

VECTOR_INLINE void add_units_rows(const struct product_tile *tile,
                                  struct product_units units, const size_t rows,
                                  const size_t vectors)
{
    const float *x = tile->x, *y = tile->y, *weight = units.weights;
    vector chains[ROWS_OF_UNITS][VECTORS], sums[ROWS_OF_UNITS][VECTORS];

    begin(sums, tile, rows, vectors);
    for (size_t u = units.count; u > 0; u--, weight += tile->runs) {
        clear(chains, rows, vectors);
        add_runs(chains, tile, x, y, rows, vectors);
        UNROLLED
        for (size_t i = 0; i < rows; i++)
            UNROLLED
        for (size_t v = 0; v < vectors; v++)
            sums[i][v] = vector_fma(vector_of(*weight), chains[i][v], sums[i][v]);
        x += tile->runs * tile->x_run;
        y += tile->runs * tile->terms * tile->y_term;
    }
    end(sums, tile, rows, vectors);
}

/* One vector if the columns fit into it. */
#define MULTIPLY_OF(rows)                                                              \
    VECTOR_TARGET static void multiply_##rows(const struct product_tile *tile)         \
    {                                                                                  \
        if (tile->columns <= LANES)                                                    \
            multiply_rows(tile, rows, 1);                                              \
        else                                                                           \
            multiply_rows(tile, rows, 2);                                              \
    }
#define ADD_UNITS_OF(rows)                                                             \
    VECTOR_TARGET static void add_units_##rows(const struct product_tile *tile,        \
                                               struct product_units units)             \
    {                                                                                  \
        if (tile->columns <= LANES)                                                    \
            add_units_rows(tile, units, rows, 1);                                      \
        else                                                                           \
            add_units_rows(tile, units, rows, 2);                                      \
    }
#define NAME_OF_MULTIPLY(rows)  multiply_##rows,
#define NAME_OF_ADD_UNITS(rows) add_units_##rows,

EACH_ROWS(MULTIPLY_OF)
EACH_ROWS_OF_UNITS(ADD_UNITS_OF)

static void multiply(const struct product_tile *tile)
{
    static void (*const tiles[ROWS])(const struct product_tile *tile) = {
        EACH_ROWS(NAME_OF_MULTIPLY)};
    tiles[tile->rows - 1](tile);
}

static void add_units(const struct product_tile *tile, struct product_units units)
{
    static void (*const tiles[ROWS_OF_UNITS])(const struct product_tile *tile,
                                              struct product_units units) = {
        EACH_ROWS_OF_UNITS(NAME_OF_ADD_UNITS)};
    tiles[tile->rows - 1](tile, units);
}
