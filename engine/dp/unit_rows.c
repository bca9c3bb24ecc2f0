#include "engine/dp/unit_rows.h"

#include <stdbool.h>

#include "base/check.h"
#include "base/hash.h"
#include "engine/nn/network.h"

_Static_assert(UNIT_ROWS_MAX * sizeof(uint32_t) <= STREAM_BLOCK_SIZE,
               "one block of the stream has a word for each row");

static bool holds(const uint32_t *rows, size_t count, uint32_t row)
{
    for (size_t k = 0; k < count; k++)
        if (rows[k] == row)
            return true;
    return false;
}

/* Floyd's draw of count of the numbers below of: all subsets are equally likely, except
 * for a deviation of 2^-32, because the range need not divide the number of values of a
 * word. The time does not depend on the numbers drawn. */
static void draw_subset(uint32_t *rows, uint32_t of, size_t count,
                        const uint32_t *words)
{
    for (size_t k = 0; k < count; k++) {
        uint32_t last = of - (uint32_t)(count - k);
        uint32_t row = (uint32_t)((uint64_t)words[k] * (last + UINT64_C(1)) >> 32);
        rows[k] = holds(rows, k, row) ? last : row;
    }
}

size_t unit_rows_draw(uint32_t *rows, const struct matrix *matrix, uint32_t unit,
                      struct unit_draw draw, struct stream *stream)
{
    uint32_t words[UNIT_ROWS_MAX];
    struct matrix_unit own = matrix_unit(matrix, unit);
    const struct stream_position from = {.key = draw.key, .nonce = unit};

    CHECK(draw.count <= UNIT_ROWS_MAX);
    bool takes_all = own.count <= draw.count;
    stream_read(stream, words, sizeof words, &from);
    draw_subset(rows, takes_all ? (uint32_t)draw.count : own.count, draw.count, words);
    for (uint32_t k = 0; k < draw.count; k++)
        rows[k] = own.first + (!takes_all ? rows[k] : k < own.room ? k : 0);
    hash_zero(words, sizeof words);
    return takes_all ? own.count : draw.count;
}
