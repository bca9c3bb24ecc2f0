/* Goal: at small rates every index is drawn independently with the probability that was
 * accounted. Method: compares with the definition of block_draw.h, word by word; under
 * fixed keys the numbers of heads of a block, the places of heads and the pairs of
 * neighbours against the binomial law, bounds at p = 1e-6. test_binomial_law shows that
 * the law itself is exact. */
#include "engine/sampling/block_draw.h"

#include <stdbool.h>
#include <string.h>

#include "tests/expect.h"

static const double z_two_sided = 4.8916; /* p = 1e-6 */

static struct noise_key key_of(uint32_t number)
{
    struct noise_key key = {{7, 1, 3}};
    memcpy(key.bytes + 8, &number, sizeof number);
    return key;
}

struct bench {
    struct block_draw draw;
    struct stream *stream;
};

static struct bench *bench_create(void)
{
    struct bench *bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    bench->stream = stream_create();
    return bench;
}

static void bench_destroy(struct bench *bench)
{
    stream_destroy(bench->stream);
    free(bench);
}

static size_t draw(struct bench *bench, uint32_t *out, uint32_t first, uint32_t end,
                   uint64_t threshold, const struct noise_key *key)
{
    return block_draw_range(&bench->draw, bench->stream, out,
                            (struct block_range){first, end}, threshold, key);
}

static uint64_t word_at(struct stream *stream, const struct noise_key *key,
                        uint64_t group, size_t number)
{
    uint64_t words[8];
    stream_read(stream, words, sizeof words,
                &(struct stream_position){key->bytes, 4, (group << 20) + number / 8});
    return words[number % 8];
}

static int ascending(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static size_t defined(uint32_t *out, uint32_t records, uint64_t threshold,
                      const struct noise_key *key)
{
    struct stream *stream = stream_create();
    struct binomial_law law;
    size_t drawn = 0, next = 0;
    binomial_law_init(&law, threshold);
    for (uint64_t block = 0; block << law.block_bits < records; block++) {
        uint64_t group = block / 64, k = block % 64, taken[BINOMIAL_MAX], draw[3];
        if (k == 0)
            next = 64 * 3;
        for (size_t i = 0; i < 3; i++)
            draw[i] = word_at(stream, key, group, k * 3 + i);
        unsigned heads = binomial_law_count(&law, draw);
        for (unsigned h = 0; h < heads;) {
            bool again = false;
            taken[h] = word_at(stream, key, group, next++) >> (64 - law.block_bits);
            for (unsigned i = 0; i < h; i++)
                again = again || taken[i] == taken[h];
            h += !again;
        }
        for (unsigned h = 0; h < heads; h++) {
            uint64_t index = (block << law.block_bits) + taken[h];
            if (index < records)
                out[drawn++] = (uint32_t)index;
        }
    }
    qsort(out, drawn, sizeof *out, ascending);
    stream_destroy(stream);
    return drawn;
}

enum { RECORDS = 1000003 };

static void a_batch_is_what_is_defined(void **state)
{
    (void)state;
    static const double rates[] = {1e-18,   1e-9,     1e-6,    1.0 / 60000,
                                   0.00123, 1.0 / 65, 1.0 / 64};
    static uint32_t expected[RECORDS], actual[RECORDS];
    struct bench *bench = bench_create();
    for (size_t k = 0; k < sizeof rates / sizeof *rates; k++) {
        struct noise_key key = key_of((uint32_t)k);
        uint64_t threshold = (uint64_t)(rates[k] * 0x1p64);
        size_t count = defined(expected, RECORDS, threshold, &key);
        assert_int_equal(draw(bench, actual, 0, RECORDS, threshold, &key), count);
        assert_memory_equal(actual, expected, count * sizeof *actual);
    }
    bench_destroy(bench);
}

/* Small blocks must often be drawn again, and the last blocks have no room for a
 * word. */
static void ranges_draw_their_part_of_the_batch(void **state)
{
    (void)state;
    static uint32_t whole[RECORDS], parts[RECORDS];
    static const uint64_t some[] = {BINOMIAL_THRESHOLD_MAX, UINT64_C(1) << 51,
                                    UINT64_C(1) << 44};
    struct bench *bench = bench_create();
    for (size_t k = 0; k < 3; k++) {
        struct noise_key key = key_of(90);
        size_t count = draw(bench, whole, 0, RECORDS, some[k], &key), drawn = 0;
        uint32_t first = 0;
        for (uint32_t size = 1; first < RECORDS; first += size, size = size * 3 + 1)
            drawn +=
                draw(bench, parts + drawn, first,
                     first + size < RECORDS ? first + size : RECORDS, some[k], &key);
        assert_int_equal(drawn, count);
        assert_memory_equal(parts, whole, count * sizeof *whole);
    }
    bench_destroy(bench);
}

static double chance(const struct binomial_law *law, unsigned heads)
{
    double below = ldexp((double)law->below[heads][0], -64);
    return heads == 0 ? below : below - ldexp((double)law->below[heads - 1][0], -64);
}

static void heads_of_a_block_are_binomial(void **state)
{
    (void)state;
    enum { BATCHES = 3000, BITS = 8, CELLS = 11 };
    static uint32_t indices[1 << 16];
    uint64_t threshold = UINT64_C(0x0300000000000000); /* three heads in 256 coins */
    struct bench *bench = bench_create();
    double cells[CELLS + 1] = {0}, blocks = 0, chi_square = 0, rest = 1;
    for (uint32_t b = 0; b < BATCHES; b++) {
        struct noise_key key = key_of(b);
        size_t count = draw(bench, indices, 0, 1 << 16, threshold, &key), k = 0;
        assert_int_equal(bench->draw.law.block_bits, BITS);
        for (uint32_t block = 0; block < 1 << (16 - BITS); block++, blocks++) {
            unsigned heads = 0;
            for (; k < count && indices[k] >> BITS == block; k++)
                heads++;
            cells[heads < CELLS ? heads : CELLS]++;
        }
    }
    for (unsigned j = 0; j <= CELLS; j++) {
        double expected = blocks * (j < CELLS ? chance(&bench->draw.law, j) : rest);
        rest -= j < CELLS ? chance(&bench->draw.law, j) : 0;
        assert_true(expected > 20);
        chi_square += (cells[j] - expected) * (cells[j] - expected) / expected;
    }
    /* Wilson and Hilferty's cube root of a chi-square of CELLS degrees is near normal. */
    double v = 2.0 / (9.0 * CELLS);
    assert_true((cbrt(chi_square / CELLS) - (1 - v)) / sqrt(v) < z_two_sided);
    bench_destroy(bench);
}

static void every_place_and_every_pair_has_its_chance(void **state)
{
    (void)state;
    enum { BATCHES = 20000, SIZE = 2048 + 77 };
    static uint32_t indices[SIZE], seen[SIZE];
    uint64_t threshold = UINT64_C(0x0273a4b5c6d7e8f9);
    double q = ldexp((double)threshold, -64), pairs = 0, total = 0, chi_square = 0;
    struct bench *bench = bench_create();
    for (uint32_t b = 0; b < BATCHES; b++) {
        struct noise_key key = key_of(b);
        size_t count = draw(bench, indices, 0, SIZE, threshold, &key);
        for (size_t k = 0; k < count; k++) {
            assert_true(k == 0 || indices[k] > indices[k - 1]);
            seen[indices[k]]++;
            pairs += k > 0 && indices[k] == indices[k - 1] + 1;
        }
        total += (double)count;
    }
    double p = q * q, draws = BATCHES * (SIZE - 1.0), mean = BATCHES * q;
    assert_true(fabs(total - mean * SIZE) < z_two_sided * sqrt(mean * SIZE * (1 - q)));
    /* Pairs overlap: their covariance adds 2 (q^3 - q^4) per pair. */
    assert_true(fabs(pairs - draws * p) <
                z_two_sided * sqrt(draws * (p * (1 - p) + 2 * (q * p - p * p))));
    for (int i = 0; i < SIZE; i++)
        chi_square += (seen[i] - mean) * (seen[i] - mean) / (mean * (1 - q));
    assert_true(fabs(chi_square - SIZE) < z_two_sided * sqrt(2.0 * SIZE) * 1.05);
    bench_destroy(bench);
}

static void a_wiped_draw_holds_nothing_but_its_law(void **state)
{
    (void)state;
    static uint32_t indices[1 << 16];
    struct bench *bench = bench_create();
    struct block_draw blank;
    struct noise_key key = key_of(1);
    memset(&blank, 0, sizeof blank);
    binomial_law_init(&blank.law, UINT64_C(1) << 57);
    draw(bench, indices, 0, 1 << 16, UINT64_C(1) << 57, &key);
    block_draw_wipe(&bench->draw);
    assert_memory_equal(bench->draw.words, blank.words, sizeof blank.words);
    assert_memory_equal(bench->draw.heads, blank.heads, sizeof blank.heads);
    assert_memory_equal(bench->draw.places, blank.places, sizeof blank.places);
    bench_destroy(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_is_what_is_defined),
        cmocka_unit_test(ranges_draw_their_part_of_the_batch),
        cmocka_unit_test(heads_of_a_block_are_binomial),
        cmocka_unit_test(every_place_and_every_pair_has_its_chance),
        cmocka_unit_test(a_wiped_draw_holds_nothing_but_its_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
