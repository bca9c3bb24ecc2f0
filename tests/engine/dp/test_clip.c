/* Goal: a clipped record is never longer than the clip norm, its spread is at most
 * kappa times the clip norm, and a record within both is unchanged. Method: random
 * norms over the whole range in long double, with the slack that noise.md 2.4 proves to
 * be necessary. */
#include "engine/dp/clip.h"

#include <stdbool.h>

#include "tests/expect.h"
#include "tests/engine/draw_fixture.h"

static float weight_of(double norm, double spread, struct flat_clip clip)
{
    float weight = -1;
    double loss = 0;
    struct measures measures = {&norm, &spread, &loss, 1, NULL};
    clip_flat(&weight, &measures, &clip);
    return weight;
}

static void a_record_inside_is_left_as_it_is(void **state)
{
    (void)state;
    const struct flat_clip clip = {.clip_norm = 0.7, .spread = 8};
    assert_true(weight_of(0, 0, clip) == 1);
    assert_true(weight_of(0.7, 5.6, clip) == 1);
    assert_true(weight_of(nextafter(0.7, 1), 0, clip) < 1);
    assert_true(weight_of(0, nextafter(8 * 0.7, 9), clip) < 1);
}

static void a_clipped_record_has_room_for_rounding(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int k = 0; k < 200000; k++) {
        double draw[3];
        for (int j = 0; j < 3; j++)
            draw[j] = draw_uniform(&seed);
        struct flat_clip clip = {.clip_norm = exp2(40 * draw[0] - 20),
                                 .spread = k % 2 == 0 ? 1 : 8};
        double norm = clip.clip_norm * exp2(60 * draw[1] - 10);
        double spread = norm * (1 + 20 * draw[2]);
        float weight = weight_of(norm, spread, clip);
        bool inside = norm <= clip.clip_norm && spread <= clip.spread * clip.clip_norm;
        assert_true((weight == 1) == inside);
        assert_true(weight >= 0 && weight <= 1);
        if (inside)
            continue;
        /* (1 + 2^-24) w norm <= C even after (1 - 2^-22) is used. */
        long double longest = (long double)weight * norm * (1 + 0x1p-23L);
        long double widest = (long double)weight * spread * (1 + 0x1p-23L);
        assert_true(longest <= clip.clip_norm);
        assert_true(widest <= clip.spread * (long double)clip.clip_norm);
        /* and it is not smaller than necessary */
        double ideal =
            fmin(1, fmin(clip.clip_norm / norm, clip.spread * clip.clip_norm / spread));
        assert_true((double)weight >= ideal * (1 - 0x1p-21));
    }
}

/* Half of all doubles round up to their nearest float: a weight must not round up. */
static void a_factor_is_rounded_down(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int k = 0; k < 100000; k++) {
        double norm = 1 + 1000 * draw_uniform(&seed), spread = norm;
        const struct flat_clip clip = {.clip_norm = 0.7, .spread = 1};
        /* The product as a double may be half a unit too large. */
        long double ideal = (1 - 0x1p-22L) * 0.7 / norm * (1 + 0x1p-51L);
        assert_true((long double)weight_of(norm, spread, clip) <= ideal);
    }
}

/* A record of a larger client adds at most share * C; a record of the smallest client
 * is clipped as usual. */
static void a_share_is_never_passed(void **state)
{
    (void)state;
    uint64_t seed = 19;
    for (int k = 0; k < 100000; k++) {
        double draw[3], loss = 0;
        for (int j = 0; j < 3; j++)
            draw[j] = draw_uniform(&seed);
        struct shared_clip shared = {
            .clip = {.clip_norm = exp2(40 * draw[0] - 20), .spread = 2},
            .share = k % 3 == 0 ? 1 : 1 - pow(2, -40 * draw[2])};
        double norm = shared.clip.clip_norm * exp2(20 * draw[1] - 15), spread = norm;
        struct measures measures = {&norm, &spread, &loss, 1, NULL};
        float weight = -1, flat = weight_of(norm, spread, shared.clip);
        clip_shared(&weight, &measures, &shared);
        if (shared.share == 1) {
            assert_true(weight == flat);
            continue;
        }
        long double longest = (long double)weight * norm * (1 + 0x1p-23L);
        assert_true(longest <=
                    shared.share * fminl(shared.clip.clip_norm, (long double)norm));
        assert_true((double)weight >= shared.share * (double)flat * (1 - 0x1p-21));
    }
}

static void the_least_norms_give_zero_not_less(void **state)
{
    (void)state;
    const struct flat_clip clip = {.clip_norm = 0x1p-40, .spread = 1};
    assert_true(weight_of(0x1p128, 0x1p128, clip) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_inside_is_left_as_it_is),
        cmocka_unit_test(a_clipped_record_has_room_for_rounding),
        cmocka_unit_test(a_factor_is_rounded_down),
        cmocka_unit_test(a_share_is_never_passed),
        cmocka_unit_test(the_least_norms_give_zero_not_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
