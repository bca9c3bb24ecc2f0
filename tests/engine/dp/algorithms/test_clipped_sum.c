/* Goal: the charge of a clipped sum and the noise of its grid come from the same
 * inputs. Method: inputs of odd numbers, against the numbers themselves. */
#include "engine/dp/algorithms/clipped_sum.h"
#include "tests/expect.h"
#include "tests/engine/small_network_fixture.h"
#include "tests/engine/dp/single_cells_fixture.h"

static const struct algorithm row = {.name = "row"};
static const struct algorithm_spec spec = {.algorithm = &row};
static const struct algorithm_inputs inputs = {.spec = &spec,
                                               .relation = RELATION_REPLACE_ONE,
                                               .records = 12347,
                                               .batch_size = 613,
                                               .steps = 91,
                                               .noise_multiplier = 1.375};
static const struct algorithm_model model = {.parameters = 4099};

static void the_charge_is_one_release_a_step(void **state)
{
    (void)state;
    struct mechanism m = {0};
    assert_int_equal(clipped_sum_charge(&m, MECHANISM_SAMPLED_GAUSSIAN, &inputs, NULL),
                     ST_OK);
    assert_int_equal(m.kind, MECHANISM_SAMPLED_GAUSSIAN);
    assert_int_equal(m.relation, RELATION_REPLACE_ONE);
    assert_true(m.prefixes_priced);
    assert_int_equal(m.run_count, 1);
    assert_true(m.runs[0].sampling_rate == algorithm_rate(&inputs));
    assert_true(m.runs[0].noise_multiplier == 1.375);
    assert_int_equal(m.runs[0].steps, 91);
    mechanism_fini(&m);
}

static void nothing_is_charged_without_noise(void **state)
{
    (void)state;
    static const double none[] = {0, -1.375, NAN};
    for (size_t k = 0; k < sizeof none / sizeof *none; k++) {
        struct algorithm_inputs silent = inputs;
        struct mechanism m = {0};
        struct error error = {0};
        silent.noise_multiplier = none[k];
        assert_int_equal(clipped_sum_charge(&m, MECHANISM_GAUSSIAN, &silent, &error),
                         ST_INVALID);
        assert_string_equal(error.text, "row needs a positive noise multiplier");
        assert_null(m.runs);
    }
}

static void the_grid_carries_what_is_charged(void **state)
{
    (void)state;
    struct grid_spec sum = clipped_sum_spec(&inputs, &model, 0.625);
    struct noise_plan noise = {0};
    assert_true(sum.sampling_rate == algorithm_rate(&inputs));
    assert_true(sum.noise_multiplier == 1.375);
    assert_true(sum.spread == 1);
    sum.spread = 2.5;
    assert_int_equal(clipped_sum_plan(&noise, &sum, NULL), ST_OK);
    assert_true(noise.clip_norm == 0.625 && noise.spread == 2.5);
    assert_true(noise.grid.multiplier >= 1.375);
    assert_int_equal(noise.grid.records, 12347);
    assert_int_equal(noise.grid.dim, 4099);
}

/* The choice does not follow the noise: a calibration tries many multipliers. */
static void a_network_of_much_memory_has_single_cells(void **state)
{
    (void)state;
    static const double multipliers[] = {1e-3, 1.375, 1e6};
    struct network *network = small_network_dense(9, 5, 3);
    struct algorithm_model known = {.parameters = 4099, .sums = network};
    struct algorithm_inputs tried = inputs;
    for (size_t k = 0; k < 3; k++) {
        tried.noise_multiplier = multipliers[k];
        assert_false(clipped_sum_spec(&tried, &known, 0.625).single);
        single_cells = true;
        struct grid_spec sum = clipped_sum_spec(&tried, &known, 0.625);
        assert_true(sum.single);
        assert_false(clipped_sum_spec(&tried, &model, 0.625).single);
        single_cells = false;
        struct noise_plan noise = {0};
        if (k != 1)
            continue;
        assert_int_equal(clipped_sum_plan(&noise, &sum, NULL), ST_OK);
        assert_int_equal(noise.grid.cells, 12347);
        assert_int_equal(noise.grid.cell_rows_max, 1);
    }
    network_destroy(network);
}

static void a_refused_sum_leaves_the_plan_as_it_was(void **state)
{
    (void)state;
    struct grid_spec sum = clipped_sum_spec(&inputs, &model, 0.625);
    struct noise_plan noise = {0}, before;
    assert_int_equal(clipped_sum_plan(&noise, &sum, NULL), ST_OK);
    before = noise;
    sum.clip_norm = 0x1p200;
    assert_int_equal(clipped_sum_plan(&noise, &sum, NULL), ST_INVALID);
    assert_memory_equal(&noise, &before, sizeof noise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_charge_is_one_release_a_step),
        cmocka_unit_test(nothing_is_charged_without_noise),
        cmocka_unit_test(the_grid_carries_what_is_charged),
        cmocka_unit_test(a_network_of_much_memory_has_single_cells),
        cmocka_unit_test(a_refused_sum_leaves_the_plan_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
