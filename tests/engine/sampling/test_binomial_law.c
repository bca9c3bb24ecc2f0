/* Goal: the law of a block's heads is the binomial law, to 2^-191 and never above it,
 * and a draw is compared with it limb by limb. Method: the probabilities term by term
 * in the tests' own 448-bit arithmetic, each power and each coefficient computed
 * separately; draws at the thresholds and one unit next to them. */
#include "engine/sampling/binomial_law.h"

#include <stdbool.h>

#include "tests/engine/dp/big_number_fixture.h"
#include "tests/expect.h"

static const uint64_t thresholds[] = {
    1,
    2,
    77,
    UINT64_C(0x0000000123456789),
    UINT64_C(0x000000ffffffffff),
    UINT64_C(0x00068db8bac710cb), /* a rate of 1e-4 */
    UINT64_C(0x0044b82fa09b5a52), /* 64 of 60,000 */
    UINT64_C(0x0200000000000000),
    UINT64_C(0x03ffffffffffffff),
    BINOMIAL_THRESHOLD_MAX,
};
enum { THRESHOLDS = sizeof thresholds / sizeof *thresholds };

static struct big chance_of(uint64_t threshold)
{
    struct big p = {{0}};
    p.word[BIG_FRACTION - 2] = (uint32_t)threshold;
    p.word[BIG_FRACTION - 1] = (uint32_t)(threshold >> 32);
    return p;
}

static struct big power(struct big base, uint64_t exponent)
{
    struct big result = big_of(1);
    for (; exponent > 0; exponent >>= 1) {
        if ((exponent & 1) != 0)
            result = big_multiply(result, base);
        base = big_multiply(base, base);
    }
    return result;
}

/* C(coins, heads) p^heads (1 - p)^(coins - heads) */
static struct big term(struct big p, uint64_t coins, uint64_t heads)
{
    struct big chosen = big_of(1);
    for (uint64_t k = 0; k < heads; k++)
        chosen =
            big_divide(big_multiply(chosen, big_multiply(p, big_of(coins - k))), k + 1);
    return big_multiply(chosen, power(big_subtract(big_of(1), p), coins - heads));
}

static struct big below_of(const struct binomial_law *law, unsigned heads)
{
    struct big b = {{0}};
    for (int k = 0; k < BINOMIAL_LIMBS; k++) {
        b.word[BIG_FRACTION - 1 - 2 * k] = (uint32_t)(law->below[heads][k] >> 32);
        b.word[BIG_FRACTION - 2 - 2 * k] = (uint32_t)law->below[heads][k];
    }
    return b;
}

static void thresholds_are_the_binomial_law_rounded_down(void **state)
{
    (void)state;
    struct big unit = big_half(big_of(1), 191);
    for (size_t t = 0; t < THRESHOLDS; t++) {
        struct binomial_law law;
        struct big p = chance_of(thresholds[t]), sum = big_of(0);
        binomial_law_init(&law, thresholds[t]);
        for (unsigned j = 0; j < BINOMIAL_MAX; j++) {
            struct big stored = below_of(&law, j);
            sum = big_add(sum, term(p, UINT64_C(1) << law.block_bits, j));
            assert_true(big_compare(stored, big_add(sum, big_slack())) <= 0);
            assert_true(big_compare(sum, big_add(stored, unit)) < 0);
        }
        /* The truncation: 2^-204, and the rounding of 448 bits. */
        assert_true(big_compare(big_add(sum, big_half(big_of(1), 204)), big_of(1)) > 0);
    }
}

static void a_block_has_two_to_four_heads_on_average(void **state)
{
    (void)state;
    for (size_t t = 0; t < THRESHOLDS; t++) {
        struct binomial_law law;
        binomial_law_init(&law, thresholds[t]);
        double mean = ldexp((double)thresholds[t], (int)law.block_bits - 64);
        assert_true(mean <= 4); /* as a double rounds it */
        assert_true(mean >= 2 || law.block_bits == BINOMIAL_BITS_MAX);
    }
}

/* One unit of the last limb down, borrowing. */
static void step_down(uint64_t draw[BINOMIAL_LIMBS])
{
    for (int k = BINOMIAL_LIMBS - 1; k >= 0 && draw[k]-- == 0; k--)
        continue;
}

static void a_draw_is_compared_to_its_last_bit(void **state)
{
    (void)state;
    static const uint64_t top[BINOMIAL_LIMBS] = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    static const uint64_t none[BINOMIAL_LIMBS] = {0};
    struct binomial_law law;
    binomial_law_init(&law, UINT64_C(0x00068db8bac710cb));
    for (unsigned j = 0; j < 40; j++) { /* further on they may be equal */
        uint64_t draw[BINOMIAL_LIMBS];
        memcpy(draw, law.below[j], sizeof draw);
        assert_int_equal(binomial_law_count(&law, draw), j + 1);
        step_down(draw);
        assert_int_equal(binomial_law_count(&law, draw), j);
    }
    assert_int_equal(binomial_law_count(&law, none), 0);
    assert_int_equal(binomial_law_count(&law, top), BINOMIAL_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thresholds_are_the_binomial_law_rounded_down),
        cmocka_unit_test(a_block_has_two_to_four_heads_on_average),
        cmocka_unit_test(a_draw_is_compared_to_its_last_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
