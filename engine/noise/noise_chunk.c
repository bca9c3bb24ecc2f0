/* Each sample is one accepted trial of a ziggurat. The area under the Gaussian is
 * covered by 256 layers (noise_table.h); a trial is a random point of a random layer,
 * and is accepted if the point lies under the curve. noise_chunk.h defines r, U, V and
 * theta; D is the height of the curve above the point.
 *
 * A chunk is drawn array by array and not trial by trial, because of the first
 * invariant of noise_chunk.h:
 *
 *   propose           computes every trial's floor, and flags the few that the fast
 *                     test cannot accept
 *   pad_flagged       fills the list of flagged trials with dummies up to a fixed
 *                     number
 *   decide_flagged    decides each trial of the list in double (decide) or, if that is
 *                     not certain, in integers (noise_exact.h)
 *   settle            writes the refined floors back and lists the rejected places
 *   replace_rejected  fills these from the extra trials and, when those are used up,
 *                     which is very rare, from private blocks (extend)
 *
 * If the processor supports it, a kernel (noise_kernel.h) does the arithmetic of
 * propose and of decide_flagged for all but the last few trials, with the same results.
 *
 * Private blocks of the stream are used in rare cases: for flagged trials beyond the
 * words reserved for them, exact decisions, and extensions. */
#include "engine/noise/noise_chunk.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "engine/noise/noise_choice.h"
#include "engine/noise/noise_exact.h"

__extension__ typedef unsigned __int128 wide;

/* 2^-44 is sixteen times the proved error of a decision in double (noise.md 4.5). */
const struct noise_layout noise_layout = {
    .extras = NOISE_EXTRAS, .flags = NOISE_FLAGS, .margin = 0x1p-44};

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "the key stream is read as little-endian words");

struct draw { /* the arguments shared by the functions that draw one chunk */
    struct noise_chunk *chunk;
    struct stream *stream;
    const struct noise_position *position;
    const struct noise_layout *layout;
    unsigned trials;
    unsigned top; /* decisions: max(flagged, layout->flags) */
    const struct noise_kernel *kernel;
    struct noise_lanes lanes;
};

/* The private block of trial j, in chunk->own. */
static const uint64_t *read_own(const struct draw *draw, unsigned j)
{
    const struct noise_position *at = draw->position;
    uint64_t block = at->chunk * NOISE_CHUNK_BLOCKS + NOISE_CHUNK_BLOCKS / 2 + j;
    stream_read(draw->stream, draw->chunk->own, STREAM_BLOCK_SIZE,
                &(struct stream_position){at->key, at->query, block});
    return draw->chunk->own;
}

static uint64_t sign_of(uint64_t word)
{
    return -(word >> 63);
}

/* Computes every trial's floor with its sign, and lists in flagged the trials that the
 * fast test cannot accept: those near the layer's edge, and those whose floor later
 * bits of U could raise. */
static void propose(const struct draw *draw)
{
    const uint64_t carry = ((UINT64_C(1) << 52) - (UINT64_C(1) << 40)) << 12;
    struct noise_chunk *chunk = draw->chunk;
    unsigned count;
    for (unsigned j = draw->kernel->propose(&draw->lanes, &count); j < draw->trials;
         j++) {
        uint64_t word = chunk->words[j];
        uint64_t entry = chunk->table.entry[word >> 52 & (NOISE_LAYERS - 1)];
        wide product = (wide)(word << 12) * (entry & NOISE_WIDTH_MASK);
        uint64_t magnitude = (uint64_t)(product >> 64);
        chunk->candidate[j] = magnitude ^ sign_of(word);
        chunk->flagged[count] = j;
        count += (unsigned)(magnitude >> NOISE_FAST_SHIFT >= entry >> 52) |
                 (unsigned)((uint64_t)product >= carry);
    }
    chunk->flagged_count = count;
}

/* Fills the unused places among the first layout->flags with trials 0, 16, 32, ..., so
 * that the number of decisions does not reveal how many were needed. */
static void pad_flagged(struct draw *draw)
{
    struct noise_chunk *chunk = draw->chunk;
    for (unsigned k = 0; k < draw->layout->flags; k++) {
        uint32_t keep = -(uint32_t)(k < chunk->flagged_count);
        chunk->flagged[k] = (chunk->flagged[k] & keep) | (16 * k & ~keep);
    }
    draw->top = chunk->flagged_count > draw->layout->flags ? chunk->flagged_count
                                                           : draw->layout->flags;
}

static struct noise_trial flagged_trial(const struct draw *draw, unsigned k)
{
    const uint64_t *words = draw->chunk->words;
    unsigned j = draw->chunk->flagged[k];
    struct noise_trial trial = {.word = words[j]};
    if (k < draw->layout->flags) {
        trial.height = words[draw->trials + k];
        trial.fraction = words[draw->trials + draw->layout->flags + k];
    } else {
        const uint64_t *own = read_own(draw, j);
        trial.height = own[1];
        trial.fraction = own[2];
    }
    return trial;
}

/* E(x) = exp(-x^2 / 2) for x in [0, 14], to 2^-50. It calls no library function. */
static inline double gaussian(double x)
{
    const double shift = 0x1.8p52; /* adding it rounds to an integer */
    double t = -0.5 * x * x;
    double rounded = t * 1.4426950408889634 + shift;
    double n = rounded - shift;
    double r = (t - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
    double e = 1.0 / 6227020800.0;
    uint64_t bits;
    e = e * r + 1.0 / 479001600.0;
    e = e * r + 1.0 / 39916800.0;
    e = e * r + 1.0 / 3628800.0;
    e = e * r + 1.0 / 362880.0;
    e = e * r + 1.0 / 40320.0;
    e = e * r + 1.0 / 5040.0;
    e = e * r + 1.0 / 720.0;
    e = e * r + 1.0 / 120.0;
    e = e * r + 1.0 / 24.0;
    e = e * r + 1.0 / 6.0;
    e = e * r + 0.5;
    e = e * r + 1.0;
    e = e * r + 1.0;
    memcpy(&bits, &rounded, sizeof bits);
    bits = (bits + 1023) << 52; /* 2^n; shift's own low bits are zero */
    memcpy(&n, &bits, sizeof n);
    return e * n;
}

/* Returns D = f(x) - y in double, and in *magnitude the floor refined by theta. */
static inline double decide(const struct noise_table *table,
                            const struct noise_trial *trial, uint64_t *magnitude,
                            uint64_t *fraction)
{
    size_t layer = trial->word >> 52 & (NOISE_LAYERS - 1);
    uint64_t width = table->entry[layer] & NOISE_WIDTH_MASK;
    wide product = (wide)(trial->word << 12) * width;
    wide refined = (wide)(trial->fraction << 12) * width;
    uint64_t s = ((uint64_t)product >> 12) + (uint64_t)(refined >> 64);
    double u = (double)(int64_t)(trial->word & NOISE_WIDTH_MASK);
    double v = (double)(int64_t)(trial->height >> 12) * 0x1p-52;
    const struct noise_strip *strip = &table->strip[layer];

    *magnitude = (uint64_t)(product >> 64) + (s >> 52);
    *fraction = s;
    return gaussian(u * strip->width) - (strip->height * v + strip->base);
}

static bool decide_exact(const struct draw *draw, unsigned j,
                         const struct noise_trial *trial, uint64_t *magnitude)
{
    const uint64_t *own = read_own(draw, j);
    struct noise_digits digits = {
        .u_high = own[4], .u_low = own[3], .v_high = own[6], .v_low = own[5]};
    return noise_exact(&draw->chunk->table, trial, &digits, magnitude);
}

/* Returns whether the decision in double is certain. It uses fabs and not two
 * comparisons, because a branch on the sign of D would be a branch on acceptance. */
static inline bool certain(double gap, uint64_t fraction, double margin)
{
    return (fabs(gap) > margin) & (fraction != NOISE_WIDTH_MASK);
}

static void decide_flagged(const struct draw *draw)
{
    struct noise_chunk *chunk = draw->chunk;
    for (unsigned k = draw->kernel->decide(&draw->lanes); k < draw->top; k++) {
        struct noise_trial trial = flagged_trial(draw, k);
        chunk->gap[k] =
            decide(&chunk->table, &trial, &chunk->magnitude[k], &chunk->fraction[k]);
    }
    for (unsigned k = 0; k < draw->top; k++) {
        if (certain(chunk->gap[k], chunk->fraction[k], draw->layout->margin))
            continue;
        struct noise_trial trial = flagged_trial(draw, k);
        bool accepted =
            decide_exact(draw, chunk->flagged[k], &trial, &chunk->magnitude[k]);
        chunk->gap[k] = accepted ? 1 : -1;
    }
}

/* Stores the refined floors and lists the rejected places. *extra has one bit for each
 * extra trial; the bits of rejected trials are cleared. A dummy stores the value that
 * is already there and rejects nothing. */
static void settle(const struct draw *draw, uint64_t *extra)
{
    struct noise_chunk *chunk = draw->chunk;
    chunk->rejected_count = 0;
    for (unsigned k = 0; k < draw->top; k++) {
        uint32_t j = chunk->flagged[k];
        uint64_t real = -(uint64_t)(k < chunk->flagged_count);
        uint64_t value = chunk->magnitude[k] ^ sign_of(chunk->words[j]);
        uint64_t refused = real & -(uint64_t)(chunk->gap[k] <= 0);
        uint64_t beyond = -(uint64_t)(j >= NOISE_CHUNK);
        chunk->candidate[j] = (value & real) | (chunk->candidate[j] & ~real);
        *extra &= ~((UINT64_C(1) << (j & 63)) & refused & beyond);
        chunk->rejected[chunk->rejected_count] = j;
        chunk->rejected_count += (unsigned)(refused & ~beyond & 1);
    }
}

/* The next accepted trial after *j, from private blocks. */
static uint64_t extend(const struct draw *draw, unsigned *j)
{
    for (;; (*j)++) {
        uint64_t magnitude, fraction;
        CHECK(*j < NOISE_CHUNK_BLOCKS / 2);
        const uint64_t *own = read_own(draw, *j);
        struct noise_trial trial = {
            .word = own[0], .height = own[1], .fraction = own[2]};
        double gap = decide(&draw->chunk->table, &trial, &magnitude, &fraction);
        bool accepted = gap > 0;
        if (!certain(gap, fraction, draw->layout->margin))
            accepted = decide_exact(draw, *j, &trial, &magnitude);
        if (!accepted)
            continue;
        (*j)++;
        return magnitude ^ sign_of(trial.word);
    }
}

static void replace_rejected(const struct draw *draw, uint64_t extra)
{
    struct noise_chunk *chunk = draw->chunk;
    unsigned next = draw->trials;
    for (unsigned k = 0; k < chunk->rejected_count; k++) {
        uint64_t *place = &chunk->candidate[chunk->rejected[k]];
        if (extra == 0) {
            *place = extend(draw, &next);
        } else {
            *place = chunk->candidate[NOISE_CHUNK + __builtin_ctzll(extra)];
            extra &= extra - 1;
        }
    }
}

static struct noise_lanes lanes_of(struct noise_chunk *chunk,
                                   const struct noise_layout *layout)
{
    return (struct noise_lanes){.table = &chunk->table,
                                .words = chunk->words,
                                .candidate = chunk->candidate,
                                .flagged = chunk->flagged,
                                .gap = chunk->gap,
                                .fraction = chunk->fraction,
                                .magnitude = chunk->magnitude,
                                .trials = NOISE_CHUNK + layout->extras,
                                .flags = layout->flags};
}

void noise_chunk_draw(struct noise_chunk *chunk, struct stream *stream,
                      const struct noise_position *position,
                      const struct noise_layout *layout)
{
    struct draw draw = {.chunk = chunk,
                        .stream = stream,
                        .position = position,
                        .layout = layout,
                        .trials = NOISE_CHUNK + layout->extras,
                        .kernel = layout->kernel != NULL ? layout->kernel
                                                         : noise_choice_best(),
                        .lanes = lanes_of(chunk, layout)};
    uint64_t extra = UINT64_MAX >> (64 - layout->extras);
    size_t words = draw.trials + 2 * layout->flags;
    const struct stream_position from = {position->key, position->query,
                                         position->chunk * NOISE_CHUNK_BLOCKS};

    CHECK(position->chunk < UINT64_C(1) << 48);
    stream_read(stream, chunk->words, words * sizeof *chunk->words, &from);
    propose(&draw);
    pad_flagged(&draw);
    decide_flagged(&draw);
    settle(&draw, &extra);
    replace_rejected(&draw, extra);
}

void noise_chunk_wipe(struct noise_chunk *chunk)
{
    hash_zero(chunk->words, sizeof *chunk - offsetof(struct noise_chunk, words));
}
