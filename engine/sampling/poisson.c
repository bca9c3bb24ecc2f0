/* At small rates, block_draw.h draws the batch. At other rates, the records are
 * processed in parts of 2^14 indices. A part's bytes are read from the key stream at
 * once, and every index whose byte is below the threshold's first byte is in the batch.
 * If the two are equal, 56 further bits of a second stream decide (settle_tie); these
 * are drawn a few at a time, because a tie happens once in 256 indices. */
#include "engine/sampling/poisson.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "engine/sampling/block_draw.h"

enum {
    PART = POISSON_PART,  /* indices whose bytes are drawn at once */
    TIES = 64,            /* words drawn at once for ties */
    TIE_BLOCKS = PART / 8 /* counters of a part in the stream of ties */
};

struct poisson {
    struct stream *stream;
    uint64_t bytes[PART / 8]; /* those of one part, little-endian */
    uint64_t ties[TIES];
    size_t tie_count, tie_next; /* words drawn from the part's ties, and words used */
    struct block_draw blocks;
};

struct draw {
    struct poisson *poisson;
    const struct noise_key *key;
    uint64_t part;
    uint8_t edge;   /* top byte of the threshold: a smaller byte is in */
    uint64_t below; /* the threshold's other 56 bits */
};

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "the key stream is read as little-endian words");

struct poisson *poisson_create(void)
{
    struct poisson *poisson = calloc(1, sizeof *poisson);
    CHECK(poisson != NULL);
    poisson->stream = stream_create();
    return poisson;
}

void poisson_destroy(struct poisson *poisson)
{
    if (poisson == NULL)
        return;
    stream_destroy(poisson->stream);
    hash_zero(poisson, sizeof *poisson);
    free(poisson);
}

/* Returns whether the 56 further bits are below the threshold's, for an index whose
 * byte equals edge. */
static bool settle_tie(const struct draw *draw)
{
    struct poisson *poisson = draw->poisson;
    if (poisson->tie_next == poisson->tie_count) {
        uint64_t block = draw->part * TIE_BLOCKS + poisson->tie_count / 8;
        const struct stream_position from = {draw->key->bytes, 1, block};
        stream_read(poisson->stream, poisson->ties, sizeof poisson->ties, &from);
        poisson->tie_count += TIES;
    }
    return poisson->ties[poisson->tie_next++ % TIES] >> 8 < draw->below;
}

/* Returns whether one of eight bytes is at most edge. edge < 127, so that no carry
 * crosses bytes. */
static bool one_is_low(uint64_t word, uint8_t edge)
{
    const uint64_t ones = UINT64_MAX / 255;
    return ((word - ones * (edge + 1U)) & ~word & ones * 128) != 0;
}

static size_t draw_part(const struct draw *draw, uint32_t *indices, uint32_t first,
                        uint32_t count)
{
    const uint64_t *words = draw->poisson->bytes;
    size_t drawn = 0;
    for (uint32_t k = 0; k < count; k += 8) {
        uint64_t word = words[k / 8];
        uint32_t end = count - k < 8 ? count - k : 8;
        if (draw->edge < 127 && !one_is_low(word, draw->edge))
            continue;
        for (uint32_t j = 0; j < end; j++, word >>= 8) {
            uint8_t byte = (uint8_t)word;
            if (byte < draw->edge || (byte == draw->edge && settle_tie(draw)))
                indices[drawn++] = first + k + j;
        }
    }
    return drawn;
}

static size_t draw_all(uint32_t *indices, struct poisson_range range)
{
    for (uint32_t i = range.first; i < range.end; i++)
        *indices++ = i;
    return range.end - range.first;
}

static size_t draw_blocks(struct poisson *poisson, uint32_t *indices,
                          struct poisson_range range, uint64_t threshold,
                          const struct noise_key *key)
{
    if (threshold == 0)
        return 0;
    size_t drawn =
        block_draw_range(&poisson->blocks, poisson->stream, indices,
                         (struct block_range){range.first, range.end}, threshold, key);
    block_draw_wipe(&poisson->blocks);
    return drawn;
}

size_t poisson_draw(struct poisson *poisson, uint32_t *indices, uint32_t records,
                    double rate, const struct noise_key *key)
{
    return poisson_draw_range(poisson, indices, (struct poisson_range){0, records},
                              rate, key);
}

size_t poisson_draw_range(struct poisson *poisson, uint32_t *indices,
                          struct poisson_range range, double rate,
                          const struct noise_key *key)
{
    size_t drawn = 0;
    CHECK(rate > 0 && rate <= 1 && range.first % PART == 0);
    if (rate == 1)
        return draw_all(indices, range);
    uint64_t threshold = (uint64_t)ldexp(rate, 64); /* below 2^64: rounded down */
    if (threshold <= BINOMIAL_THRESHOLD_MAX)
        return draw_blocks(poisson, indices, range, threshold, key);
    struct draw draw = {.poisson = poisson,
                        .key = key,
                        .part = range.first / PART,
                        .edge = (uint8_t)(threshold >> 56),
                        .below = threshold & (UINT64_MAX >> 8)};
    for (uint32_t first = range.first; first < range.end; first += PART, draw.part++) {
        uint32_t count = range.end - first < PART ? range.end - first : PART;
        const struct stream_position from = {key->bytes, 0,
                                             (uint64_t)first / STREAM_BLOCK_SIZE};
        stream_read(poisson->stream, poisson->bytes, (count + 7) / 8 * 8, &from);
        poisson->tie_count = poisson->tie_next = 0;
        drawn += draw_part(&draw, indices + drawn, first, count);
    }
    hash_zero(poisson->bytes, sizeof poisson->bytes);
    hash_zero(poisson->ties, sizeof poisson->ties);
    return drawn;
}
