#include "engine/sampling/fixed_size_subset.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/hash.h"
#include "engine/sampling/word_stream.h"

enum { WORD_BITS = 64 };

__extension__ typedef unsigned __int128 wide;

/* A number that is uniform in [0, count): of the 2^64 words, those that would make some
 * numbers more likely than others are drawn again (Lemire 2019). */
static size_t draw_below(struct word_stream *words, size_t count)
{
    uint64_t uneven = -(uint64_t)count % count;
    wide product;
    do
        product = (wide)word_stream_next(words) * count;
    while ((uint64_t)product < uneven);
    return (size_t)(product >> 64);
}

static size_t word_count(size_t records)
{
    return (records + WORD_BITS - 1) / WORD_BITS;
}

size_t fixed_size_subset_size(size_t records)
{
    return word_count(records) * sizeof(uint64_t);
}

enum status fixed_size_subset_init(struct fixed_size_subset *subset, size_t records,
                                   struct error *error)
{
    *subset = (struct fixed_size_subset){.records = records};
    subset->members = calloc(word_count(records), sizeof *subset->members);
    if (subset->members == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory to choose from %zu records",
                         records);
    return ST_OK;
}

void fixed_size_subset_fini(struct fixed_size_subset *subset)
{
    free(subset->members);
    *subset = (struct fixed_size_subset){0};
}

/* Adds place to the subset; returns false if it was already there. */
static bool join(struct fixed_size_subset *subset, size_t place)
{
    uint64_t bit = UINT64_C(1) << place % WORD_BITS;
    uint64_t *word = &subset->members[place / WORD_BITS];
    bool is_new = (*word & bit) == 0;
    *word |= bit;
    return is_new;
}

void fixed_size_subset_draw(struct fixed_size_subset *subset, uint32_t *indices,
                            struct index_range range, size_t size,
                            const struct noise_key *key)
{
    struct word_stream words;
    size_t count = 0;
    CHECK(size > 0 && size <= range.count && range.count <= subset->records);
    word_stream_open(&words, key, NONCE_FIXED_SIZE_SUBSET);
    for (size_t j = range.count - size; j < range.count; j++)
        if (!join(subset, draw_below(&words, j + 1)))
            CHECK(join(subset, j));
    for (size_t w = 0; w < word_count(range.count); w++) {
        uint64_t left = subset->members[w];
        for (; left != 0; left &= left - 1)
            indices[count++] =
                (uint32_t)(range.first + w * WORD_BITS + (size_t)__builtin_ctzll(left));
    }
    CHECK(count == size);
    word_stream_close(&words);
    hash_zero(subset->members, fixed_size_subset_size(range.count));
}
