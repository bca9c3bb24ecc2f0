/* Goal: the floor, the sign and the wedges are right to the last integer. At 2^36 steps
 * no census can see one step, so the same source is compiled for s0 = 2^10, where each
 * integer has its own cell. Method: its table by the generator of noise.md 4.1 in 448
 * bits; 2^21 draws, or 2^27 (FULL), against the exact law. */
#include "tests/engine/dp/big_number_fixture.h"
#define NOISE_STDDEV_BITS 10
#include "engine/noise/noise_avx2.c"   // NOLINT: compiled for another deviation
#include "engine/noise/noise_avx512.c" // NOLINT
#include "engine/noise/noise_choice.c" // NOLINT
#include "engine/noise/noise_chunk.c"  // NOLINT
#include "engine/noise/noise_exact.c"  // NOLINT
#include "engine/noise/noise_kernel.c" // NOLINT
#define add add_limbs                  /* both define add */
#include "engine/noise/noise_table.c"  // NOLINT
#undef add
#include "tests/engine/dp/noise_law_oracle.h"

enum { AREA = 331864 }; /* 2^-16 grid steps (noise.md 7) */

/* f(w) = exp(-w^2 / 2 s0^2) */
static struct big density(uint64_t w)
{
    return big_exp_minus(big_half(big_of(w * w), 2 * NOISE_STDDEV_BITS + 1));
}

static struct big height_at(uint64_t width)
{
    return big_divide(big_half(big_of(AREA), 16), width);
}

/* The smallest integer w <= most with f(w) <= y. */
static uint64_t width_under(struct big y, uint64_t most)
{
    uint64_t low = 0, high = most; /* f(low) > y >= f(high) */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (big_compare(density(middle), y) <= 0)
            high = middle;
        else
            low = middle;
    }
    return high;
}

static void make_widths(uint64_t widths[NOISE_LAYERS])
{
    struct big y = big_of(0);
    widths[0] = UINT64_C(14) << NOISE_STDDEV_BITS;
    for (size_t i = 0; i + 1 < NOISE_LAYERS; i++) {
        y = big_add(y, height_at(widths[i]));
        assert_true(big_compare(y, big_of(1)) < 0);
        widths[i + 1] = width_under(y, widths[i]);
        assert_true(widths[i + 1] < widths[i]);
    }
    y = big_add(y, height_at(widths[NOISE_LAYERS - 1]));
    assert_true(big_compare(y, big_of(1)) >= 0); /* T2: the layers reach the top */
}

static void each_integer_has_its_own_frequency(void **state)
{
    (void)state;
    uint64_t draws = getenv("FULL") != NULL ? UINT64_C(1) << 27 : UINT64_C(1) << 21;
    static const uint8_t key[STREAM_KEY_SIZE] = {8, 2, 6};
    uint64_t widths[NOISE_LAYERS];
    struct law_census *census = law_create(NOISE_STDDEV_BITS);
    struct noise_chunk *chunk = calloc(1, sizeof *chunk);
    struct stream *stream = stream_create();
    make_widths(widths);
    noise_table_derive(&chunk->table, widths, AREA);
    for (uint64_t c = 0; c < draws / NOISE_CHUNK; c++) {
        struct noise_position at = {key, 3, c};
        noise_chunk_draw(chunk, stream, &at, &noise_layout);
        law_count(census, chunk->candidate);
    }
    law_check(census);
    stream_destroy(stream);
    free(chunk);
    free(census);
}

/* The decision in double and the decision in integers agree here too. */
static void deciding_all_in_integers_changes_nothing(void **state)
{
    (void)state;
    static const uint8_t key[STREAM_KEY_SIZE] = {8, 2, 7};
    static const struct noise_layout exact = {
        .extras = NOISE_EXTRAS, .flags = NOISE_FLAGS, .margin = 2};
    uint64_t widths[NOISE_LAYERS], fast[NOISE_CHUNK];
    struct noise_chunk *chunk = calloc(1, sizeof *chunk);
    struct stream *stream = stream_create();
    make_widths(widths);
    noise_table_derive(&chunk->table, widths, AREA);
    for (uint64_t c = 0; c < 100; c++) {
        struct noise_position at = {key, 3, c};
        noise_chunk_draw(chunk, stream, &at, &noise_layout);
        memcpy(fast, chunk->candidate, sizeof fast);
        noise_chunk_draw(chunk, stream, &at, &exact);
        assert_memory_equal(chunk->candidate, fast, sizeof fast);
    }
    stream_destroy(stream);
    free(chunk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_integer_has_its_own_frequency),
        cmocka_unit_test(deciding_all_in_integers_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
