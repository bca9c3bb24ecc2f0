/* Goal: DIFF2 runs the paper's rounds. Method: with negligible noise, against the
 * reference in double (diff2_oracle.h, which is itself compared with the
 * specification); bit for bit against the simpler methods to which it must reduce. */
#include "engine/dp/algorithms/diff2_rounds.h"
#include "engine/dp/algorithms/diff2_shards.h"
#include "engine/nn/initial_values.h"
#include "tests/engine/dp/diff2_fixture.h"
#include "tests/engine/dp/diff2_oracle.h"

/* Noise moves each coordinate by at most six deviations in a round, and errors of the
 * estimate last for one window. */
static void next_to_no_noise_is_the_reference(void **state)
{
    (void)state;
    enum { ROUNDS = 14 };
    static const struct {
        size_t interval, clients;
        double clip_norm, difference_clip;
    } cases[] = {{1, 1, 0.3, 1},  {2, 1, 0.3, 0.4}, {7, 1, 0.3, 0.4},
                 {14, 1, 3, 0.4}, {14, 3, 0.3, 40}, {7, 4, 0.3, 0.4},
                 {5, 7, 1, 1},    {14, 1, 1e3, 1e3}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct kit kit;
        struct kit_setup setup = usual(ROUNDS);
        struct diff2_shards shards = {RECORDS, cases[k].clients};
        size_t starts[9] = {0};
        kit_spec(&kit, "diff2_gd");
        kit_set(&kit, "restart_interval", (double)cases[k].interval);
        kit_set(&kit, "clients", (double)cases[k].clients);
        kit_set(&kit, "clip_norm", cases[k].clip_norm);
        kit_set(&kit, "difference_clip", cases[k].difference_clip);
        kit_open(&kit, &setup);
        struct reference run = {.gradient = gradient,
                                .dim = DIM,
                                .clients = cases[k].clients,
                                .starts = starts,
                                .clip_norm = cases[k].clip_norm,
                                .difference_clip = cases[k].difference_clip,
                                .rate = 0.25,
                                .interval = cases[k].interval};
        for (size_t p = 0; p < cases[k].clients; p++)
            starts[p + 1] = starts[p] + diff2_shards_range(&shards, p).count;
        for (size_t j = 0; j < DIM; j++)
            run.x[j] = (double)kit.parameters[j];
        struct diff2_rounds rounds = {.steps = ROUNDS,
                                      .interval = cases[k].interval,
                                      .local_steps = 1,
                                      .clients = 1,
                                      .restart_share = 0.8,
                                      .difference_share = 0.2};
        double most = 0, unit = 6 * quiet / (RECORDS - 7);
        for (int r = 0; r < ROUNDS; r++) {
            double moved = 0, before[DIM];
            memcpy(before, run.x, sizeof before);
            kit_step(&kit);
            reference_round(&run);
            for (size_t j = 0; j < DIM; j++)
                moved += pow(run.x[j] - before[j], 2);
            double error = cases[k].clip_norm;
            if (cases[k].interval > 1)
                error += (double)ROUNDS *
                         diff2_rounds_ratio(&rounds, RELEASE_DIFFERENCE) *
                         cases[k].difference_clip * sqrt(moved);
            most += 0.25 * unit * error + 1e-6;
            for (size_t j = 0; j < DIM; j++)
                assert_true(fabs((double)kit.parameters[j] - run.x[j]) < 2 * most);
        }
        kit_close(&kit);
    }
}

static void an_interval_of_one_is_dpgd_bit_for_bit(void **state)
{
    (void)state;
    static const char *const none[] = {"clip_norm", NULL};
    static const char *const names[] = {"clip_norm", "restart_interval",
                                        "difference_clip", NULL};
    float whole[DIM], restarts[DIM];
    struct kit_setup setup = usual(9);
    setup.noise_multiplier = 1.5;
    run_steps("dpgd", &setup, none, (double[]){0.5}, whole);
    run_steps("diff2_gd", &setup, names, (double[]){0.5, 1, 1}, restarts);
    assert_memory_equal(whole, restarts, sizeof whole);
    run_steps("diff2_gd", &setup, names, (double[]){0.5, 1, NAN}, restarts);
    assert_memory_equal(whole, restarts, sizeof whole);
    /* With a later restart this does not hold. */
    run_steps("diff2_gd", &setup, names, (double[]){0.5, 2, 1}, restarts);
    assert_memory_not_equal(whole, restarts, sizeof whole);
}

static void one_local_step_is_diff2_gd_bit_for_bit(void **state)
{
    (void)state;
    static const char *const gd[] = {"restart_interval", "clients", NULL};
    static const char *const local[] = {"restart_interval", "clients", "local_steps",
                                        "restart_split", NULL};
    float whole[DIM], rounds[DIM];
    struct kit_setup setup = usual(9);
    setup.noise_multiplier = 1.5;
    run_steps("diff2_gd", &setup, gd, (double[]){4, 3}, whole);
    run_steps("diff2_bvr_l_sgd", &setup, local, (double[]){4, 3, 1, 1.25}, rounds);
    assert_memory_equal(whole, rounds, sizeof whole);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    static const char *const names[] = {"restart_interval", "clients", "local_steps",
                                        NULL};
    float ends[2][DIM];
    struct kit_setup setup = usual(12);
    setup.noise_multiplier = 3;
    for (unsigned k = 0; k < 2; k++) {
        setup.threads = k == 0 ? 1 : 3;
        run_steps("diff2_bvr_l_sgd", &setup, names, (double[]){2, 3, 4}, ends[k]);
    }
    assert_memory_equal(ends[0], ends[1], sizeof ends[0]);
}

/* If clients have equal sizes, the mean of means is the mean. Shards put the cell
 * borders elsewhere, so float32 rounds elsewhere. The noise is the same. */
static void clients_of_one_size_change_nothing(void **state)
{
    (void)state;
    enum { EVEN = 3000 };
    static const char *const names[] = {"restart_interval", "clients", NULL};
    static const double clients[] = {1, 2, 5, 10};
    struct matrix even = points;
    float ends[4][DIM];
    struct kit_setup setup = usual(12);
    even.records = EVEN;
    setup.data = &even;
    setup.batch_size = EVEN;
    setup.noise_multiplier = 2;
    for (size_t k = 0; k < 4; k++) {
        run_steps("diff2_gd", &setup, names, (double[]){5, clients[k]}, ends[k]);
        for (size_t j = 0; j < DIM; j++)
            assert_true(fabs((double)ends[k][j] - (double)ends[0][j]) < 2e-6);
    }
}

enum { CLIENTS = 3, EACH = 200, ALL = CLIENTS * EACH, K = 4 };

/* BVR without noise; each of the first CLIENTS records represents all records of its
 * client. */
struct turns {
    double x[DIM], y[DIM], w[DIM], v[DIM];
    double start[DIM]; /* x of the previous round */
};

/* g = the gradient of client at x, minus that at y unless y is NULL, clipped to
 * clip_norm. */
static void clipped_gradient(size_t client, const double *x, const double *y,
                             double clip_norm, double *g)
{
    double other[DIM] = {0};
    gradient(NULL, client, x, g);
    if (y != NULL)
        gradient(NULL, client, y, other);
    for (size_t j = 0; j < DIM; j++)
        g[j] -= other[j];
    double norm = reference_norm(g, DIM);
    for (size_t j = 0; j < DIM; j++)
        g[j] *= norm > clip_norm ? clip_norm / norm : 1;
}

static double apart(const double *x, const double *y)
{
    double difference[DIM];
    for (size_t j = 0; j < DIM; j++)
        difference[j] = x[j] - y[j];
    return reference_norm(difference, DIM);
}

/* Runs round r (counted from 1) of the pseudocode: restarts every other round, then K -
 * 1 steps of the client whose turn it is. */
static void turns_round(struct turns *t, size_t r)
{
    bool restart = (r - 1) % 2 == 0;
    double mean[DIM] = {0}, g[DIM], moved = apart(t->x, t->start);
    for (size_t p = 0; p < CLIENTS; p++) {
        clipped_gradient(p, t->x, restart ? NULL : t->start, restart ? 1 : 0.5 * moved,
                         g);
        for (size_t j = 0; j < DIM; j++)
            mean[j] += g[j] / CLIENTS;
    }
    for (size_t j = 0; j < DIM; j++) {
        t->w[j] = t->v[j] = (restart ? 0 : t->v[j]) + mean[j];
        t->start[j] = t->y[j] = t->x[j];
        t->x[j] -= 0.25 * t->w[j];
    }
    for (size_t k = 2; k <= K; k++) {
        clipped_gradient(r % CLIENTS, t->x, t->y, 0.4 * apart(t->x, t->y), g);
        for (size_t j = 0; j < DIM; j++) {
            t->w[j] += g[j];
            t->y[j] = t->x[j];
            t->x[j] -= 0.25 * t->w[j];
        }
    }
}

/* The records of a client are all equal, so that the choice of a subset does not
 * matter, and the records of different clients differ, so that the turn matters.
 * Compared with the pseudocode of BVR. */
static void local_steps_go_round_the_clients(void **state)
{
    (void)state;
    enum { ROUNDS = 7 };
    static float rows[ALL * FEATURES], targets[ALL];
    const struct matrix alike = line_data(ALL, FEATURES, rows, targets);
    for (size_t i = 0; i < ALL; i++) {
        memcpy(rows + i * FEATURES, features + i / EACH * FEATURES,
               FEATURES * sizeof *rows);
        targets[i] = values[i / EACH];
    }
    struct kit kit;
    struct turns turns = {.x = {0}};
    struct kit_setup setup = usual(K * ROUNDS);
    setup.data = &alike;
    setup.batch_size = ALL;
    kit_spec(&kit, "diff2_bvr_l_sgd");
    kit_set(&kit, "restart_interval", 2);
    kit_set(&kit, "local_steps", K);
    kit_set(&kit, "local_batch", EACH - 1);
    kit_set(&kit, "local_clip", 0.4);
    kit_set(&kit, "difference_clip", 0.5);
    kit_set(&kit, "clients", CLIENTS);
    kit_open(&kit, &setup);
    for (size_t j = 0; j < DIM; j++)
        turns.x[j] = (double)kit.parameters[j];
    for (size_t r = 1; r <= ROUNDS; r++) {
        turns_round(&turns, r);
        for (size_t k = 0; k < K; k++)
            kit_step(&kit);
        for (size_t j = 0; j < DIM; j++)
            assert_true(fabs((double)kit.parameters[j] - turns.x[j]) <
                        0.004 * (double)r);
    }
    kit_close(&kit);
}

/* The second release, of the gradient's change for a move of a millionth of the
 * parameters, compared with double at the same points; subtracted float32 gradients
 * would be wrong by tens of percent. */
static void differences_keep_their_digits_at_small_motions(void **state)
{
    (void)state;
    static const double motions[] = {1e-2, 1e-4, 1e-6};
    for (size_t k = 0; k < 3; k++) {
        struct kit kit;
        struct kit_setup setup = usual(2);
        double x[2][DIM], first[DIM], mean[DIM] = {0}, error = 0, size = 0, length = 0;
        kit_spec(&kit, "diff2_gd");
        kit_compile(&kit, &setup);
        float initial[DIM];
        network_init(kit.network, initial, 0);
        for (size_t j = 0; j < DIM; j++)
            length += pow((double)initial[j], 2);
        kit_close(&kit);
        setup.optimizer.learning_rate = setup.optimizer.learning_rate_final = 1;
        kit_spec(&kit, "diff2_gd");
        kit_set(&kit, "restart_interval", 2);
        kit_set(&kit, "difference_clip", 50);
        /* All gradients are longer than this, so their mean is about as long. */
        kit_set(&kit, "clip_norm", motions[k] * sqrt(length));
        kit_open(&kit, &setup);
        for (size_t j = 0; j < DIM; j++)
            x[0][j] = (double)kit.parameters[j];
        kit_step(&kit);
        for (size_t j = 0; j < DIM; j++) {
            x[1][j] = (double)kit.parameters[j];
            first[j] = (double)stepper_gradient(kit.stepper)[j];
        }
        kit_step(&kit);
        double moved = 0;
        for (size_t j = 0; j < DIM; j++)
            moved += pow(x[1][j] - x[0][j], 2);
        assert_true(sqrt(moved / length) < 1.1 * motions[k]);
        assert_true(sqrt(moved / length) > 0.1 * motions[k]);
        for (size_t i = 0; i < RECORDS; i++) {
            double now[DIM], before[DIM];
            gradient(NULL, i, x[1], now);
            gradient(NULL, i, x[0], before);
            for (size_t j = 0; j < DIM; j++)
                mean[j] += (now[j] - before[j]) / RECORDS;
        }
        for (size_t j = 0; j < DIM; j++) {
            double added = (double)stepper_gradient(kit.stepper)[j] - first[j];
            error += pow(added - mean[j], 2);
            size += mean[j] * mean[j];
        }
        /* The noise adds: multiplier 2 / 64 of clip norm 50 |dx| on a mean of 3001. */
        double noise = 2 * quiet * 50 * sqrt(moved) * sqrt(DIM) / RECORDS;
        assert_true(sqrt(error) < 3 * noise + 1e-5 * sqrt(size));
        assert_true(3 * noise < 0.02 * sqrt(size));
        kit_close(&kit);
    }
}

static void a_point_that_stays_is_released_for_nothing(void **state)
{
    (void)state;
    struct kit kit;
    float first[DIM];
    struct kit_setup setup = usual(3);
    setup.optimizer.learning_rate = setup.optimizer.learning_rate_final = 1e-30;
    kit_spec(&kit, "diff2_gd");
    kit_set(&kit, "restart_interval", 3);
    kit_open(&kit, &setup);
    kit_step(&kit);
    memcpy(first, stepper_gradient(kit.stepper), sizeof first);
    kit_step(&kit);
    kit_step(&kit);
    assert_memory_equal(first, stepper_gradient(kit.stepper), sizeof first);
    kit_close(&kit);
}

static void what_diverges_stops(void **state)
{
    (void)state;
    struct kit kit;
    struct error error = {0};
    struct kit_setup setup = usual(2);
    kit_spec(&kit, "diff2_gd");
    kit_open(&kit, &setup);
    kit_step(&kit);
    kit.parameters[3] = INFINITY;
    stepper_begin_step(kit.stepper, 1);
    assert_int_equal(kit.spec.algorithm->step(kit.state, kit.stepper, &error),
                     ST_INTERNAL);
    assert_string_equal(error.text, "diverged");
    kit_close(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(next_to_no_noise_is_the_reference),
        cmocka_unit_test(an_interval_of_one_is_dpgd_bit_for_bit),
        cmocka_unit_test(one_local_step_is_diff2_gd_bit_for_bit),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(clients_of_one_size_change_nothing),
        cmocka_unit_test(local_steps_go_round_the_clients),
        cmocka_unit_test(differences_keep_their_digits_at_small_motions),
        cmocka_unit_test(a_point_that_stays_is_released_for_nothing),
        cmocka_unit_test(what_diverges_stops),
    };
    return cmocka_run_group_tests(tests, fill, NULL);
}
