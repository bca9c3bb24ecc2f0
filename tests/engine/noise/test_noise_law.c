/* Goal: draws follow floor(N(0, 2^72)) far out and in their low bits, and the base
 * strip, which holds the tail, accepts by its law down to heights that no battery
 * reaches. Method: the battery of noise.md 7 on 2^21 draws, or 2^27 (FULL); the strip's
 * own trials with heights scaled down by 2^0 ... 2^60. The sampler's source is part of
 * this program, so that the test can call single trials. */
#include "engine/noise/noise_chunk.c" // NOLINT: its decisions are static
#include "tests/engine/dp/noise_law_oracle.h"

static const uint8_t key[STREAM_KEY_SIZE] = {9, 4, 1};

static bool full(void)
{
    return getenv("FULL") != NULL;
}

static struct noise_chunk *chunk_create(void)
{
    struct noise_chunk *chunk = calloc(1, sizeof *chunk);
    assert_non_null(chunk);
    noise_table_init(&chunk->table);
    return chunk;
}

struct bits { /* counts of bits 0-11 and 14-25 */
    double low[4096], high[4096];
};

static void check_uniform(const double *cells, double count)
{
    double chi_square = 0, expected = count / 4096;
    for (int k = 0; k < 4096; k++)
        chi_square += (cells[k] - expected) * (cells[k] - expected) / expected;
    assert_true(chi_square < law_chi_square_bound(4095));
}

static void the_battery_finds_the_law(void **state)
{
    (void)state;
    uint64_t chunks = (full() ? UINT64_C(1) << 27 : UINT64_C(1) << 21) / NOISE_CHUNK;
    struct law_census *census = law_create(36);
    struct bits *bits = calloc(1, sizeof *bits);
    struct noise_chunk *chunk = chunk_create();
    struct stream *stream = stream_create();
    for (uint64_t c = 0; c < chunks; c++) {
        struct noise_position at = {key, 1, c};
        noise_chunk_draw(chunk, stream, &at, &noise_layout);
        law_count(census, chunk->candidate);
        for (size_t j = 0; j < NOISE_CHUNK; j++) {
            bits->low[chunk->candidate[j] & 4095]++;
            bits->high[chunk->candidate[j] >> 14 & 4095]++;
        }
    }
    law_check(census);
    check_uniform(bits->low, census->count);
    check_uniform(bits->high, census->count);
    stream_destroy(stream);
    free(chunk);
    free(bits);
    free(census);
}

/* ---- the base strip ---- */

enum { STRIP_BINS = 110, SCALES = 61, TRIAL_WORDS = 4 };

/* A trial of layer 0 with V scaled by 2^-scale, with all its digits. */
static bool strip_accepts(const struct noise_table *table, const uint64_t *words,
                          unsigned scale, double *position)
{
    uint64_t v = words[1], magnitude, fraction;
    struct noise_trial trial = {.word = words[0] & NOISE_WIDTH_MASK,
                                .height = v >> scale,
                                .fraction = words[2]};
    struct noise_digits digits = {.u_high = words[3],
                                  .v_high = scale > 0 ? v << (64 - scale) : 0};
    double gap = decide(table, &trial, &magnitude, &fraction);
    *position = (double)trial.word * 0x1p-52 * 14;
    if (certain(gap, fraction, noise_layout.margin))
        return gap > 0;
    return noise_exact(table, &trial, &digits, &magnitude);
}

/* P(accepted, x in the bin) = the integral of min(1, 2^scale f(x) / h_0) over [0, 14). */
static double strip_share(double low, double high, double height)
{
    enum { STEPS = 64 };
    double sum = 0, step = (high - low) / STEPS;
    for (int k = 0; k < STEPS; k++) {
        double x = low + (k + 0.5) * step;
        sum += fmin(1, exp(-x * x / 2) / height);
    }
    return sum * step / 14;
}

static void check_strip(const double *accepted, double trials, double height)
{
    double chi_square = 0, freedom = 0, seen = 0, expected = 0;
    for (int k = 0; k < STRIP_BINS; k++) {
        seen += accepted[k];
        expected += trials * strip_share(0.1 * k, 0.1 * (k + 1), height);
        if (expected < 20)
            continue;
        chi_square += (seen - expected) * (seen - expected) / expected;
        freedom++;
        seen = expected = 0;
    }
    assert_true(freedom > 0);
    assert_true(chi_square < law_chi_square_bound(freedom));
}

static void the_base_strip_accepts_by_its_law_far_out(void **state)
{
    (void)state;
    size_t trials = full() ? 200000 : 4000;
    struct noise_chunk *chunk = chunk_create();
    struct stream *stream = stream_create();
    uint64_t *words = calloc(trials, TRIAL_WORDS * sizeof *words);
    double farthest = 0;
    for (unsigned scale = 0; scale < SCALES; scale++) {
        double accepted[STRIP_BINS + 1] = {0}, position;
        stream_read(stream, (uint8_t *)words, trials * TRIAL_WORDS * sizeof *words,
                    &(struct stream_position){key, 2, (uint64_t)scale << 32});
        for (size_t t = 0; t < trials; t++) {
            if (!strip_accepts(&chunk->table, words + TRIAL_WORDS * t, scale,
                               &position))
                continue;
            size_t bin = (size_t)(position * 10);
            accepted[bin < STRIP_BINS ? bin : STRIP_BINS]++;
            farthest = fmax(farthest, position);
        }
        check_strip(accepted, (double)trials,
                    ldexp(chunk->table.strip[0].height, -(int)scale));
    }
    print_message("farthest accepted: %.2f s0\n", farthest);
    assert_true(farthest > 9);
    free(words);
    stream_destroy(stream);
    free(chunk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_battery_finds_the_law),
        cmocka_unit_test(the_base_strip_accepts_by_its_law_far_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
