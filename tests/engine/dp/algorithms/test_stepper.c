/* Goal: what a stepper gives all algorithms: cells that depend only on a record's index
 * in the dataset, secrets of a step that are erased when it ends, and threads that are
 * not woken if there is nothing for them to do. Method: one step of every private row
 * of the table on lines, then a look at its state; wakes are counted. */
#include "engine/dp/algorithms/registry.h"
#include "engine/dp/stepper_state.h"

#include "tests/engine/dp/line_fixture.h"

enum { RECORDS = 1200, FEATURES = 3, BATCH = 500 };

static float x[RECORDS * FEATURES], y[RECORDS];

static void step_once(struct kit *kit, const char *name, const struct matrix *data)
{
    struct kit_setup setup = line_setup(data, 0.1);
    kit_spec(kit, name);
    kit_choose_model(&setup, kit->spec.algorithm);
    setup.steps = kit->spec.algorithm->uses_histograms ? 8 : 2;
    setup.noise_multiplier = 1.3;
    setup.batch_size = kit->spec.algorithm->full_batch ? RECORDS : BATCH;
    kit_open(kit, &setup);
    kit_step(kit);
}

/* E4: the cell of a record does not depend on which other records are in the batch. */
static void cells_are_fixed_by_index(void **state)
{
    (void)state;
    line_fill(x, y, RECORDS, FEATURES);
    const struct matrix data = line_data(RECORDS, FEATURES, x, y);
    for (size_t a = 0; algorithms[a] != NULL; a++) {
        struct kit kit;
        if (!algorithms[a]->is_private)
            continue;
        step_once(&kit, algorithms[a]->name, &data);
        const struct grid *grid = &algorithm_noise(kit.spec.algorithm, kit.state)->grid;
        const struct batch *batch = &kit.stepper->batch;
        size_t summed = 0;
        uint64_t cell = 0;
        assert_true(batch->piece_count > 2 && batch->piece_count <= grid->cells);
        for (size_t p = 0; p < batch->piece_count; p++, cell++) {
            const struct piece *piece = &batch->pieces[p];
            const uint32_t *indices = batch->indices + piece->first;
            while (grid_cell_start(grid, cell + 1) <= indices[0])
                cell++;
            assert_true(grid_cell_start(grid, cell) <= indices[0]);
            assert_true(indices[piece->count - 1] < grid_cell_start(grid, cell + 1));
            summed += piece->count;
        }
        assert_int_equal(summed, batch->count);
        kit_close(&kit);
    }
}

/* P9: neither the key that drew the batch nor the sum before its noise. */
static void a_step_leaves_neither_its_sum_nor_the_key_of_its_batch(void **state)
{
    (void)state;
    static const struct noise_key nothing;
    line_fill(x, y, RECORDS, FEATURES);
    const struct matrix data = line_data(RECORDS, FEATURES, x, y);
    for (size_t a = 0; algorithms[a] != NULL; a++) {
        struct kit kit;
        bool draws = algorithms[a]->is_private && !algorithms[a]->full_batch;
        if (!algorithms[a]->is_private)
            continue;
        step_once(&kit, algorithms[a]->name, &data);
        if (draws)
            assert_memory_equal(&kit.stepper->keys.sampling, &nothing, sizeof nothing);
        for (size_t j = 0; j < kit.stepper->dim; j++)
            assert_true(kit.stepper->reduction.sum[j] == 0);
        kit_close(&kit);
    }
}

/* Returns the wakes in one step of dpsgd on two threads. Sampling, and the chunk of
 * noise for 1,500 parameters, take less time than a wake; the sum of a batch takes
 * more. */
static uint64_t wakes_of_a_step(uint64_t batch_size)
{
    enum { WIDE = 1500 };
    float *wide = calloc((size_t)RECORDS * WIDE, sizeof *wide);
    struct kit kit;
    assert_non_null(wide);
    line_fill(wide, y, RECORDS, WIDE);
    const struct matrix data = line_data(RECORDS, WIDE, wide, y);
    struct kit_setup setup = line_setup(&data, 0.1);
    setup.steps = 2;
    setup.noise_multiplier = 1.3;
    setup.threads = 2;
    setup.batch_size = batch_size;
    kit_spec(&kit, "dpsgd");
    kit_open(&kit, &setup);
    assert_true(network_flops(kit.network) * (double)batch_size >= TEAM_FLOPS_MIN);
    kit_step(&kit);
    uint64_t wakes = team_wakes(kit.team);
    kit_close(&kit);
    free(wide);
    return wakes;
}

static void a_step_of_one_cell_and_one_chunk_wakes_nobody(void **state)
{
    (void)state;
    assert_int_equal(wakes_of_a_step(128), 0);
    assert_int_equal(wakes_of_a_step(129), 1); /* two cells: only for their sum */
}

/* Takes one step of dpsgd on a line whose parameters are moved in several stretches; if
 * lost < LONG, parameter `lost` is infinite before the step. */
enum { FEW = 8, LONG = 70000 };
static enum status long_step(struct kit *kit, unsigned threads, size_t lost)
{
    static float lines[FEW * LONG];
    static const struct matrix data = {.records = FEW,
                                       .features = LONG,
                                       .element = ELEMENT_F32,
                                       .scale = 1,
                                       .rows = lines,
                                       .values = y};
    struct kit_setup setup = line_setup(&data, 0.1);
    line_fill(lines, y, FEW, LONG);
    setup.steps = 1;
    setup.noise_multiplier = 1.3;
    setup.threads = threads;
    kit_spec(kit, "dpsgd");
    kit_open(kit, &setup);
    if (lost < LONG)
        kit->parameters[lost] = INFINITY;
    stepper_begin_step(kit->stepper, 0);
    return kit->spec.algorithm->step(kit->state, kit->stepper, NULL);
}

static void stretches_of_a_step_do_not_depend_on_threads(void **state)
{
    (void)state;
    struct kit one, many;
    assert_int_equal(long_step(&one, 1, LONG), ST_OK);
    for (unsigned threads = 2; threads <= 3; threads++) {
        assert_int_equal(long_step(&many, threads, LONG), ST_OK);
        assert_memory_equal(many.parameters, one.parameters, LONG * sizeof(float));
        kit_close(&many);
    }
    kit_close(&one);
}

static void a_parameter_lost_in_any_stretch_is_told(void **state)
{
    (void)state;
    for (size_t lost = 0; lost < LONG; lost += 23333) {
        struct kit kit;
        assert_int_equal(long_step(&kit, 1, lost), ST_INTERNAL);
        kit_close(&kit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_fixed_by_index),
        cmocka_unit_test(a_step_leaves_neither_its_sum_nor_the_key_of_its_batch),
        cmocka_unit_test(a_step_of_one_cell_and_one_chunk_wakes_nobody),
        cmocka_unit_test(stretches_of_a_step_do_not_depend_on_threads),
        cmocka_unit_test(a_parameter_lost_in_any_stretch_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
