/* Goal: a step's five keys are secrets of their own, and no two steps share a key.
 * Method: keys of a hundred steps, compared with each other and with a second run. */
#include "engine/dp/step_seeds.h"

#include <string.h>

#include "tests/expect.h"

enum { STEPS = 100 };

static void take(struct noise_key all[5 * STEPS], const struct noise_key *seed)
{
    struct step_seeds keys;
    step_seeds_open(&keys, seed);
    for (size_t k = 0; k < STEPS; k++) {
        step_seeds_next(&keys);
        all[5 * k] = keys.noise;
        all[5 * k + 1] = keys.sampling;
        all[5 * k + 2] = keys.drop;
        all[5 * k + 3] = keys.rows;
        all[5 * k + 4] = keys.views;
    }
    step_seeds_close(&keys);
    assert_true(keys.noise_source == NULL);
    assert_memory_equal(&keys.noise, &(struct noise_key){{0}}, sizeof keys.noise);
}

static void no_key_serves_twice(void **state)
{
    (void)state;
    static const struct noise_key seed = {{2, 7, 1, 8}};
    static struct noise_key seeded[5 * STEPS], drawn[5 * STEPS];
    take(seeded, &seed);
    take(drawn, NULL);
    for (size_t i = 0; i < 5 * STEPS; i++)
        for (size_t j = 0; j < 5 * STEPS; j++) {
            assert_true(i == j || memcmp(&seeded[i], &seeded[j], sizeof seed) != 0);
            assert_true(i == j || memcmp(&drawn[i], &drawn[j], sizeof seed) != 0);
            assert_true(memcmp(&seeded[i], &drawn[j], sizeof seed) != 0);
        }
}

static void a_seed_gives_the_same_keys(void **state)
{
    (void)state;
    static const struct noise_key seed = {{2, 7, 1, 8}};
    static struct noise_key once[5 * STEPS], again[5 * STEPS];
    take(once, &seed);
    take(again, &seed);
    assert_memory_equal(once, again, sizeof once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_key_serves_twice),
        cmocka_unit_test(a_seed_gives_the_same_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
