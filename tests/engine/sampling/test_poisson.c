/* Goal: every index is drawn independently, with the probability that was accounted,
 * rounded down. Method: compares the sampler with the definition, one 64-bit comparison
 * per index, at rates that take every path; counts and neighbours under fixed keys
 * against the binomial law, bounds at p = 1e-6. */
#include "engine/sampling/poisson.h"

#include <string.h>

#include "engine/sampling/block_draw.h"
#include "engine/sampling/sampler.h"
#include "tests/expect.h"

enum { PART = 1 << 14, RECORDS = 100003 };

static const double z_two_sided = 4.8916; /* p = 1e-6 */

static struct noise_key key_of(uint32_t number)
{
    struct noise_key key = {{1, 2, 3}};
    memcpy(key.bytes + 8, &number, sizeof number);
    return key;
}

/* Draws by the definition: the byte of i and, below it, 56 bits that are drawn if the
 * byte equals the threshold's. */
static size_t defined(uint32_t *out, uint32_t records, double rate,
                      const struct noise_key *key)
{
    struct stream *stream = stream_create();
    uint64_t threshold = (uint64_t)(rate * 0x1p64);
    size_t drawn = 0;
    for (uint64_t part = 0; part * PART < records; part++) {
        uint8_t bytes[PART];
        uint64_t ties[64 * 8];
        size_t tie = 0;
        stream_read(stream, bytes, sizeof bytes,
                    &(struct stream_position){key->bytes, 0, part * (PART / 64)});
        for (uint64_t i = part * PART; i < records && i < (part + 1) * PART; i++) {
            uint64_t bits = (uint64_t)bytes[i % PART] << 56;
            if (bytes[i % PART] == threshold >> 56) {
                if (tie % 512 == 0)
                    stream_read(stream, ties, sizeof ties,
                                &(struct stream_position){key->bytes, 1,
                                                          part * (PART / 8) + tie / 8});
                bits |= ties[tie++ % 512] >> 8;
            }
            if (bits < threshold)
                out[drawn++] = (uint32_t)i;
        }
    }
    stream_destroy(stream);
    return drawn;
}

static void a_batch_is_one_comparison_an_index(void **state)
{
    (void)state;
    static const double rates[] = {
        0x1p-6 + 0x1p-58, 1024.0 / 60000, 0.1234567, 127.5 / 256, 0.5, 0.73,
        1 - 0x1p-53};
    static uint32_t expected[RECORDS], actual[RECORDS + 1];
    struct poisson *poisson = poisson_create();
    for (size_t k = 0; k < sizeof rates / sizeof *rates; k++) {
        struct noise_key key = key_of((uint32_t)k);
        size_t count = defined(expected, RECORDS, rates[k], &key);
        assert_int_equal(poisson_draw(poisson, actual, RECORDS, rates[k], &key), count);
        assert_memory_equal(actual, expected, count * sizeof *actual);
    }
    poisson_destroy(poisson);
}

/* The rate is rounded down to 64 bits there too. */
static void small_rates_are_drawn_by_blocks(void **state)
{
    (void)state;
    static const double rates[] = {1e-9, 1.0 / 60000, 0x1p-8, 0x1p-6};
    static uint32_t expected[RECORDS], actual[RECORDS + 1];
    static struct block_draw blocks;
    struct poisson *poisson = poisson_create();
    struct stream *stream = stream_create();
    for (size_t k = 0; k < sizeof rates / sizeof *rates; k++) {
        struct noise_key key = key_of((uint32_t)k);
        size_t count = block_draw_range(&blocks, stream, expected,
                                        (struct block_range){0, RECORDS},
                                        (uint64_t)(rates[k] * 0x1p64), &key);
        assert_int_equal(poisson_draw(poisson, actual, RECORDS, rates[k], &key), count);
        assert_memory_equal(actual, expected, count * sizeof *actual);
    }
    struct noise_key key = key_of(5);
    assert_int_equal(poisson_draw(poisson, actual, RECORDS, 0x1p-65, &key), 0);
    stream_destroy(stream);
    poisson_destroy(poisson);
}

static void rate_one_takes_every_record(void **state)
{
    (void)state;
    uint32_t indices[77];
    struct noise_key key = key_of(4);
    struct poisson *poisson = poisson_create();
    assert_int_equal(poisson_draw(poisson, indices, 77, 1, &key), 77);
    for (uint32_t i = 0; i < 77; i++)
        assert_int_equal(indices[i], i);
    poisson_destroy(poisson);
    poisson_destroy(NULL);
}

static void indices_rise_and_a_prefix_is_the_same(void **state)
{
    (void)state;
    static uint32_t whole[RECORDS], part[RECORDS];
    struct noise_key key = key_of(9);
    struct poisson *poisson = poisson_create();
    size_t count = poisson_draw(poisson, whole, RECORDS, 0.03, &key);
    for (size_t k = 1; k < count; k++)
        assert_true(whole[k] > whole[k - 1]);
    size_t fewer = poisson_draw(poisson, part, RECORDS - 20001, 0.03, &key);
    assert_memory_equal(part, whole, fewer * sizeof *part);
    poisson_destroy(poisson);
}

static void counts_and_neighbours_are_binomial(void **state)
{
    (void)state;
    enum { BATCHES = 2000, SIZE = 10007 };
    static const double rates[] = {0.0171, 0.31};
    static uint32_t indices[SIZE + 1];
    static uint32_t seen[SIZE];
    struct poisson *poisson = poisson_create();
    for (size_t r = 0; r < 2; r++) {
        double q = rates[r], total = 0, squares = 0, pairs = 0, chi_square = 0;
        memset(seen, 0, sizeof seen);
        for (uint32_t b = 0; b < BATCHES; b++) {
            struct noise_key key = key_of(b + 100000 * (uint32_t)r);
            size_t count = poisson_draw(poisson, indices, SIZE, q, &key);
            double excess = (double)count - q * SIZE;
            total += excess;
            squares += excess * excess;
            for (size_t k = 0; k < count; k++) {
                seen[indices[k]]++;
                pairs += k > 0 && indices[k] == indices[k - 1] + 1;
            }
        }
        double variance = SIZE * q * (1 - q), p = q * q, draws = BATCHES * (SIZE - 1.0);
        assert_true(fabs(total) < z_two_sided * sqrt(BATCHES * variance));
        /* A count is near normal: the variance of its square is 2 variance^2. */
        assert_true(fabs(squares / BATCHES - variance) <
                    z_two_sided * variance * sqrt(2.0 / BATCHES));
        /* Pairs overlap: their covariance adds 2 (q^3 - q^4) per pair. */
        assert_true(fabs(pairs - draws * p) <
                    z_two_sided * sqrt(draws * (p * (1 - p) + 2 * (q * p - p * p))));
        for (int i = 0; i < SIZE; i++) {
            double expected = BATCHES * q;
            chi_square +=
                (seen[i] - expected) * (seen[i] - expected) / (expected * (1 - q));
        }
        assert_true(fabs(chi_square - SIZE) < z_two_sided * sqrt(2.0 * SIZE) * 1.05);
    }
    poisson_destroy(poisson);
}

static void another_key_is_another_batch(void **state)
{
    (void)state;
    static uint32_t a[RECORDS], b[RECORDS];
    struct noise_key one = key_of(1), two = key_of(2);
    struct poisson *poisson = poisson_create();
    size_t count = poisson_draw(poisson, a, RECORDS, 0.01, &one), common = 0;
    size_t other = poisson_draw(poisson, b, RECORDS, 0.01, &two);
    for (size_t i = 0, j = 0; i < count && j < other;) {
        common += a[i] == b[j];
        if (a[i] <= b[j])
            i++;
        else
            j++;
    }
    assert_true(common < 40); /* ten expected */
    poisson_destroy(poisson);
}

/* Every team draws the same batch, and only the batch remains in memory. */
static void a_team_draws_the_same_batch(void **state)
{
    (void)state;
    static const double rates[] = {1e-7, 64.0 / RECORDS, 0.1234567, 0.9, 1};
    static uint32_t expected[RECORDS + 1], actual[RECORDS + 1];
    struct poisson *poisson = poisson_create();
    for (unsigned size = 1; size <= 9; size++) {
        struct team *team;
        assert_int_equal(team_create(&team, size, NULL), ST_OK);
        struct sampler *sampler = sampler_create(team);
        for (size_t k = 0; k < 2 * sizeof rates / sizeof *rates; k++) {
            uint32_t records = k % 2 == 0 ? RECORDS : 3 * PART + 1;
            struct noise_key key = key_of((uint32_t)k);
            memset(expected, 0, sizeof expected);
            memset(actual, 0, sizeof actual);
            size_t count = poisson_draw(poisson, expected, records, rates[k / 2], &key);
            assert_int_equal(sampler_draw(sampler, actual,
                                          (struct index_range){0, records},
                                          rates[k / 2], &key),
                             count);
            assert_memory_equal(actual, expected, sizeof expected);
        }
        sampler_destroy(sampler);
        team_destroy(team);
    }
    poisson_destroy(poisson);
}

/* The range may begin and end anywhere. */
static void a_team_draws_a_range_as_it_is_in_the_batch(void **state)
{
    (void)state;
    static const double rates[] = {64.0 / RECORDS, 0.1234567, 1};
    static uint32_t all[RECORDS + 1], part[RECORDS + 1];
    static const struct index_range ranges[] = {
        {PART, PART + 77}, {PART - 5, 17}, {991, 3 * PART}};
    struct poisson *poisson = poisson_create();
    for (unsigned size = 1; size <= 3; size++) {
        struct team *team;
        assert_int_equal(team_create(&team, size, NULL), ST_OK);
        struct sampler *sampler = sampler_create(team);
        for (uint32_t k = 0; k < 9; k++) {
            struct index_range range = ranges[k % 3];
            struct noise_key key = key_of(k);
            size_t next = 0;
            memset(part, 0, sizeof part);
            size_t count = poisson_draw(poisson, all, RECORDS, rates[k / 3], &key);
            size_t drawn = sampler_draw(sampler, part, range, rates[k / 3], &key);
            for (size_t j = 0; j < count; j++)
                if (all[j] - range.first < range.count)
                    assert_int_equal(part[next++], all[j]);
            assert_int_equal(drawn, next);
            for (; next < RECORDS; next++)
                assert_int_equal(part[next], 0);
        }
        sampler_destroy(sampler);
        team_destroy(team);
    }
    poisson_destroy(poisson);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_is_one_comparison_an_index),
        cmocka_unit_test(small_rates_are_drawn_by_blocks),
        cmocka_unit_test(rate_one_takes_every_record),
        cmocka_unit_test(indices_rise_and_a_prefix_is_the_same),
        cmocka_unit_test(counts_and_neighbours_are_binomial),
        cmocka_unit_test(another_key_is_another_batch),
        cmocka_unit_test(a_team_draws_the_same_batch),
        cmocka_unit_test(a_team_draws_a_range_as_it_is_in_the_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
