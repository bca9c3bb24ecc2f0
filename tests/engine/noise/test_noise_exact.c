/* Goal: the integer decision separates accepted from rejected at the density, to
 * 2^-180. Method: the largest accepted V, found by bisection, against the published
 * thresholds and against the tests' own 448-bit arithmetic. */
#include "engine/noise/noise_exact.h"

#include "tests/engine/dp/big_number_fixture.h"
#include "tests/expect.h"

__extension__ typedef unsigned __int128 wide;

struct height { /* V with its 128 further bits: 192 bits, high first */
    uint64_t top, middle, low;
};

static bool accepted(const struct noise_table *table, struct noise_trial trial,
                     struct height v, uint64_t *magnitude)
{
    struct noise_digits digits = {
        .u_high = 7, .u_low = 3, .v_high = v.middle, .v_low = v.low};
    trial.height = v.top;
    return noise_exact(table, &trial, &digits, magnitude);
}

static struct height with_bit(struct height v, int bit)
{
    if (bit >= 128)
        v.top |= UINT64_C(1) << (bit - 128);
    else if (bit >= 64)
        v.middle |= UINT64_C(1) << (bit - 64);
    else
        v.low |= UINT64_C(1) << bit;
    return v;
}

/* The largest accepted V, bit by bit from the top; V = 0 must be accepted. */
static struct height largest_accepted(const struct noise_table *table,
                                      struct noise_trial trial, uint64_t *magnitude)
{
    struct height v = {0, 0, 0};
    for (int bit = 191; bit >= 0; bit--) {
        struct height tried = with_bit(v, bit);
        if (accepted(table, trial, tried, magnitude))
            v = tried;
    }
    return v;
}

static uint64_t distance(struct height a, struct height b)
{
    wide x = (wide)a.middle << 64 | a.low, y = (wide)b.middle << 64 | b.low;
    wide apart = x > y ? x - y : y - x;
    if (a.top != b.top || apart >> 64 != 0)
        return UINT64_MAX;
    return (uint64_t)apart;
}

static struct big big_of_limbs(const uint64_t limbs[NOISE_LIMBS])
{
    struct big b = {{0}};
    for (int k = 0; k < NOISE_LIMBS; k++) {
        b.word[8 + 2 * k] = (uint32_t)limbs[k];
        b.word[9 + 2 * k] = (uint32_t)(limbs[k] >> 32);
    }
    return b;
}

/* f(w U): x / s0 = w (r 2^-52 + theta 2^-104 + 7 2^-168 + 3 2^-232) 2^-36. */
static struct big density(uint64_t width, const struct noise_trial *trial)
{
    struct big u = big_half(big_of(trial->word & NOISE_WIDTH_MASK), 52);
    u = big_add(u, big_half(big_of(trial->fraction & NOISE_WIDTH_MASK), 104));
    u = big_add(u, big_half(big_of(7), 168));
    u = big_add(u, big_half(big_of(3), 232));
    u = big_multiply(u, big_half(big_of(width), 36));
    return big_exp_minus(big_half(big_multiply(u, u), 1));
}

/* Returns whether V = v is accepted by the definition: Y + h v < f. */
static bool below(const struct noise_table *table, const struct noise_trial *trial,
                  struct height v)
{
    size_t layer = trial->word >> 52 & 255;
    const uint64_t limbs[NOISE_LIMBS] = {v.low, v.middle, v.top};
    struct big y =
        big_multiply(big_of_limbs(table->height[layer]), big_of_limbs(limbs));
    y = big_add(y, big_of_limbs(table->base[layer]));
    return big_compare(y, density(noise_widths[layer], trial)) < 0;
}

static struct height largest_below(const struct noise_table *table,
                                   const struct noise_trial *trial)
{
    struct height v = {0, 0, 0};
    for (int bit = 191; bit >= 0; bit--) {
        struct height tried = with_bit(v, bit);
        if (below(table, trial, tried))
            v = tried;
    }
    return v;
}

static void published_thresholds_are_ours(void **state)
{
    (void)state;
    static const struct {
        struct noise_trial trial;
        uint64_t magnitude;
        struct height v;
    } rows[] = {
        {{.word = 0x000b00000000abcd, .fraction = 0x000fffffffffffff},
         661424963593,
         {0x000000000000018f, 0x5fe4824ca755bf8f, 0x38bff26b03a0bdbb}},
        {{.word = 0x011ff5a5a5a5a5a5, .fraction = 0x000ffffffffffffe},
         184952063880,
         {0x44074bbdbf151048, 0xadf04c2c5153c226, 0xc52e49c39641500e}},
        {{.word = 0x0ff8000000000001, .fraction = 0x000ffffffffffffd},
         7402987828,
         {0xbf711ebee5f95f41, 0x7248f6aee3fc11bb, 0x6fcf60289f1968a6}},
    };
    struct noise_table table;
    noise_table_init(&table);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        uint64_t magnitude;
        struct height v = largest_accepted(&table, rows[k].trial, &magnitude);
        /* The published values and ours are within 2^11 units of the truth. */
        assert_true(distance(v, rows[k].v) <= 1 << 12);
        assert_true(magnitude == rows[k].magnitude);
        assert_true(distance(v, largest_below(&table, &rows[k].trial)) <= 1 << 12);
    }
}

/* The true threshold in V is (f - Y) / h: an error of 2^-191 in f is 2^-191 / h in V. */
static void thresholds_are_the_densitys_in_every_layer(void **state)
{
    (void)state;
    struct noise_table table;
    noise_table_init(&table);
    for (uint64_t layer = 0; layer < NOISE_LAYERS; layer += 5) {
        uint64_t width = noise_widths[layer];
        uint64_t inner = layer < 255 ? noise_widths[layer + 1] : 0;
        /* U half way through the wedge between this layer's edge and the next one's. */
        uint64_t u = (uint64_t)((((wide)(width + inner) << 51)) / width);
        struct noise_trial trial = {.word = layer << 52 | u,
                                    .fraction = 0x9e3779b97f4a7c15 * (layer + 1)};
        uint64_t magnitude;
        struct height v = largest_accepted(&table, trial, &magnitude);
        assert_true(distance(v, largest_below(&table, &trial)) <= 1 << 12);
        assert_true(v.top > 0);
    }
}

static void the_floor_reads_all_of_u(void **state)
{
    (void)state; /* w = 14 2^36: x = 7 2^36 (1 + 2^-51 ...) crosses no integer, U = 1 -
                    tiny does */
    struct noise_table table;
    struct noise_trial trial = {.word = NOISE_WIDTH_MASK, .fraction = NOISE_WIDTH_MASK};
    struct noise_digits most = {UINT64_MAX, UINT64_MAX, 0, 0};
    uint64_t magnitude;
    noise_table_init(&table);
    noise_exact(&table, &trial, &most, &magnitude);
    assert_true(magnitude == (UINT64_C(14) << 36) - 1);
    trial.word = 0;
    trial.fraction = 0;
    noise_exact(&table, &trial, &most, &magnitude);
    assert_true(magnitude == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_thresholds_are_ours),
        cmocka_unit_test(thresholds_are_the_densitys_in_every_layer),
        cmocka_unit_test(the_floor_reads_all_of_u),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
