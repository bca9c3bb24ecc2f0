#include "engine/sampling/block_draw.h"

#include <stdbool.h>

#include "base/check.h"
#include "base/hash.h"
#include "engine/sampling/word_stream.h"

enum { GROUP_COUNTERS_BITS = 20 }; /* log2 of a group's counters in the stream */

struct walk { /* iterates over the blocks of one group */
    struct block_draw *draw;
    struct stream *stream;
    const struct noise_key *key;
    uint64_t counter; /* of the next words to read */
    size_t next;      /* the next word to use */
    uint32_t *indices;
    size_t drawn;
    struct block_range range;
};

static void read_words(struct walk *walk)
{
    const struct stream_position from = {walk->key->bytes, NONCE_BLOCK_DRAW,
                                         walk->counter};
    stream_read(walk->stream, walk->draw->words, sizeof walk->draw->words, &from);
    walk->counter += sizeof walk->draw->words / STREAM_BLOCK_SIZE;
    walk->next = 0;
}

static uint64_t next_word(struct walk *walk)
{
    if (walk->next == BLOCK_DRAW_WORDS)
        read_words(walk);
    return walk->draw->words[walk->next++];
}

/* Inserts the place into the taken ones, which are ascending; returns false if it is
 * already taken. */
static bool take_place(struct block_draw *draw, size_t taken, uint64_t place)
{
    size_t at = taken;
    for (; at > 0 && draw->places[at - 1] >= place; at--)
        if (draw->places[at - 1] == place)
            return false;
    for (size_t k = taken; k > at; k--)
        draw->places[k] = draw->places[k - 1];
    draw->places[at] = place;
    return true;
}

/* Draws which of the block's coins show heads: all sets of that size have the same
 * probability. */
static void draw_places(struct walk *walk, uint64_t heads)
{
    unsigned bits = walk->draw->law.block_bits;
    for (size_t taken = 0; taken < heads;)
        taken += take_place(walk->draw, taken, next_word(walk) >> (64 - bits));
}

static void draw_block(struct walk *walk, uint64_t block, uint64_t heads)
{
    uint64_t start = block << walk->draw->law.block_bits;
    draw_places(walk, heads);
    for (size_t k = 0; k < heads; k++) {
        uint64_t index = start + walk->draw->places[k];
        if (index >= walk->range.first && index < walk->range.end)
            walk->indices[walk->drawn++] = (uint32_t)index;
    }
}

/* Draws from the group's blocks, without those after the range. */
static void draw_group(struct walk *walk, uint64_t group)
{
    struct block_draw *draw = walk->draw;
    uint64_t first = group * BLOCK_DRAW_GROUP;
    walk->counter = group << GROUP_COUNTERS_BITS;
    read_words(walk);
    for (size_t k = 0; k < BLOCK_DRAW_GROUP; k++) {
        draw->heads[k] = binomial_law_count(&draw->law, draw->words + walk->next);
        walk->next += BINOMIAL_LIMBS;
    }
    for (size_t k = 0; k < BLOCK_DRAW_GROUP; k++) {
        if ((first + k) << draw->law.block_bits >= walk->range.end)
            break;
        draw_block(walk, first + k, draw->heads[k]);
    }
}

size_t block_draw_range(struct block_draw *draw, struct stream *stream,
                        uint32_t *indices, struct block_range range, uint64_t threshold,
                        const struct noise_key *key)
{
    _Static_assert(BLOCK_DRAW_WORDS >= BLOCK_DRAW_GROUP * BINOMIAL_LIMBS,
                   "one reading has the numbers of a group");
    struct walk walk = {
        .draw = draw, .stream = stream, .key = key, .indices = indices, .range = range};
    if (draw->law.threshold != threshold)
        binomial_law_init(&draw->law, threshold);
    uint64_t group_size = (uint64_t)BLOCK_DRAW_GROUP << draw->law.block_bits;
    for (uint64_t group = range.first / group_size; group * group_size < range.end;
         group++)
        draw_group(&walk, group);
    return walk.drawn;
}

void block_draw_wipe(struct block_draw *draw)
{
    hash_zero(draw->words, sizeof draw->words);
    hash_zero(draw->heads, sizeof draw->heads);
    hash_zero(draw->places, sizeof draw->places);
}
