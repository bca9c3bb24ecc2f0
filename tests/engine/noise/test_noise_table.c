/* Goal: the constant table satisfies T1 to T5 of noise.md 4.1, on which the law of the
 * sampler rests; statistics at 1e8 draws would not reveal a width that is off by one.
 * Method: heights and bases recomputed from the widths in the tests' own 448-bit
 * arithmetic, f with an error bound; known limbs; changed widths must fail. */
#include "engine/noise/noise_table.h"

#include "base/hash.h"
#include "tests/engine/dp/big_number_fixture.h"
#include "tests/expect.h"

struct reference { /* heights, and bases with Y_256 */
    struct big height[NOISE_LAYERS], base[NOISE_LAYERS + 1];
};

/* a 2^-16 / w, cut to 192 fraction bits. */
static struct big height_of(uint64_t width)
{
    struct big h = big_divide(big_double(big_of(NOISE_AREA), 16), width);
    h = big_half(h, 32);
    memset(h.word, 0, 8 * sizeof h.word[0]);
    return h;
}

static void reference_init(struct reference *reference, const uint64_t *widths)
{
    reference->base[0] = big_of(0);
    for (int i = 0; i < NOISE_LAYERS; i++) {
        reference->height[i] = height_of(widths[i]);
        reference->base[i + 1] = big_add(reference->base[i], reference->height[i]);
    }
}

/* exp(-w^2 / 2 s0^2), s0 = 2^36. */
static struct big density(uint64_t width)
{
    struct big x = big_half(big_of(width), 36);
    return big_exp_minus(big_half(big_multiply(x, x), 1));
}

/* T3: f(w_i) <= Y_i, allowing f its full error. */
static bool layer_covers(const struct reference *reference, const uint64_t *widths,
                         int i)
{
    struct big most = big_add(density(widths[i]), big_slack());
    return big_compare(most, reference->base[i]) <= 0;
}

/* T4: f(w_i - 1) >= Y_i. */
static bool layer_is_tight(const struct reference *reference, const uint64_t *widths,
                           int i)
{
    struct big least = big_subtract(density(widths[i] - 1), big_slack());
    return big_compare(least, reference->base[i]) >= 0;
}

static void the_widths_are_the_published_ones(void **state)
{
    (void)state;
    uint8_t digest[SHA256_SIZE];
    char text[SHA256_HEX_SIZE];
    sha256_of(digest, noise_widths, sizeof noise_widths);
    sha256_render(text, digest);
    assert_string_equal(
        text, "c46978f7a9a75eae5881f52dbd88a0ee05c9a7bb8188df6393687a3b35f0dccb");
}

static void widths_fall_strictly_from_fourteen_deviations(void **state) /* T1 */
{
    (void)state;
    assert_true(noise_widths[0] == UINT64_C(14) << 36);
    for (int i = 1; i < NOISE_LAYERS; i++)
        assert_true(noise_widths[i] < noise_widths[i - 1]);
    assert_true(noise_widths[NOISE_LAYERS - 1] > 0);
}

static void the_last_layer_crosses_one(void **state) /* T2 */
{
    (void)state;
    struct reference reference;
    reference_init(&reference, noise_widths);
    assert_true(big_compare(reference.base[NOISE_LAYERS - 1], big_of(1)) < 0);
    assert_true(big_compare(reference.base[NOISE_LAYERS], big_of(1)) >= 0);
}

static void every_layer_holds_its_part_of_the_density_and_no_more(void **state)
{
    (void)state; /* T3, T4 */
    struct reference reference;
    reference_init(&reference, noise_widths);
    for (int i = 1; i < NOISE_LAYERS; i++) {
        assert_true(layer_covers(&reference, noise_widths, i));
        assert_true(layer_is_tight(&reference, noise_widths, i));
    }
}

static void a_width_moved_by_one_unit_is_noticed(void **state)
{
    (void)state;
    for (int i = 1; i < NOISE_LAYERS; i += 17) {
        struct reference reference;
        uint64_t widths[NOISE_LAYERS];
        memcpy(widths, noise_widths, sizeof widths);
        widths[i]++;
        reference_init(&reference, widths);
        assert_false(layer_covers(&reference, widths, i) &&
                     layer_is_tight(&reference, widths, i));
        widths[i] = noise_widths[i] - 1;
        reference_init(&reference, widths);
        assert_false(layer_covers(&reference, widths, i) &&
                     layer_is_tight(&reference, widths, i));
    }
}

static void all_layers_have_one_area(void **state) /* T5: |w h / A - 1| <= 2^-180 */
{
    (void)state;
    struct big area = big_half(big_of(NOISE_AREA), 16);
    for (int i = 0; i < NOISE_LAYERS; i++) {
        /* w h 2^-32 stays below 2^64. */
        struct big product = big_multiply(height_of(noise_widths[i]),
                                          big_half(big_of(noise_widths[i]), 32));
        struct big missing = big_subtract(big_half(area, 32), product);
        struct big allowed = big_half(area, 32 + 180);
        assert_true(missing.word[BIG_WORDS - 1] == 0); /* h was rounded down */
        assert_true(big_compare(missing, allowed) <= 0);
    }
}

static uint64_t limb_of(struct big b, int limb)
{
    return (uint64_t)b.word[9 + 2 * limb] << 32 | b.word[8 + 2 * limb];
}

static void limbs_and_entries_follow_from_the_widths(void **state)
{
    (void)state;
    struct reference reference;
    struct noise_table table;
    reference_init(&reference, noise_widths);
    noise_table_init(&table);
    for (int i = 0; i < NOISE_LAYERS; i++) {
        uint64_t next = i + 1 < NOISE_LAYERS ? noise_widths[i + 1] : 1;
        for (int limb = 0; limb < NOISE_LIMBS; limb++) {
            assert_true(table.height[i][limb] == limb_of(reference.height[i], limb));
            assert_true(table.base[i][limb] == limb_of(reference.base[i], limb));
        }
        assert_true((table.entry[i] & NOISE_WIDTH_MASK) == noise_widths[i]);
        assert_true(table.entry[i] >> 52 == (next - 1) / (1 << 26));
        assert_true(table.strip[i].width == (double)noise_widths[i] / 0x1p88);
    }
}

static void the_published_limbs_are_ours(void **state)
{
    (void)state;
    struct noise_table table;
    noise_table_init(&table);
    assert_true(table.height[0][2] == 0x001723d633859c92);
    assert_true(table.height[0][1] == 0x4924924924924924);
    assert_true(table.height[0][0] == 0x9249249249249249);
    assert_true(table.base[128][2] == 0x4e769fed4e2afdce);
    assert_true(table.base[128][0] == 0xf2e19972c21e768e);
    assert_true(table.base[255][1] == 0x31a569b936ab3175);
    assert_true(table.height[255][0] == 0xbd5c7fc51bce025f);
    assert_true(table.entry[0] == 0xff2000e000000000);
    assert_true(table.entry[1] == 0xe5b0003fcb7ac4d7);
    assert_true(table.entry[128] == 0x61f000189b2d8490);
    assert_true(table.entry[255] == 0x0000000372814269);
    assert_true(table.strip[128].base == 0x1.39da7fb538abfp-2);
    assert_true(table.strip[255].height == 0x1.77e6c3c3e441fp-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_widths_are_the_published_ones),
        cmocka_unit_test(widths_fall_strictly_from_fourteen_deviations),
        cmocka_unit_test(the_last_layer_crosses_one),
        cmocka_unit_test(every_layer_holds_its_part_of_the_density_and_no_more),
        cmocka_unit_test(a_width_moved_by_one_unit_is_noticed),
        cmocka_unit_test(all_layers_have_one_area),
        cmocka_unit_test(limbs_and_entries_follow_from_the_widths),
        cmocka_unit_test(the_published_limbs_are_ours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
