/* Goal: DIFF2 plans the noise of its proofs, from the values that a job names and the
 * defaults of those that it does not, and refuses by name what has no proof. Method:
 * plans, refusals, and sigma1 of papers/diff2.md 2.3 and 2.4. */
#include "tests/engine/dp/diff2_fixture.h"

/* A job at the rate that the refusal names is accepted. A job without a rate gets the
 * default rate, halved until it is accepted. */
static void noise_that_would_feed_on_itself_is_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"diff2_gd", "diff2_bvr_l_sgd"};
    for (int k = 0; k < 2; k++) {
        double most = 0;
        for (int turn = 0; turn < 2; turn++) {
            struct kit kit;
            struct error error = {0};
            struct kit_setup setup = usual(60);
            double rate = turn == 0 ? 500 : most;
            setup.noise_multiplier = 20;
            setup.optimizer.learning_rate = setup.optimizer.learning_rate_final = rate;
            kit_spec(&kit, names[k]);
            kit_set(&kit, "restart_interval", k == 0 ? 20 : 1);
            assert_int_equal(kit_start(&kit, &setup, &error),
                             turn == 0 ? ST_INVALID : ST_OK);
            if (turn == 0) {
                assert_string_equal(error.pointer, "/optimizer/learning_rate");
                const char *named = strstr(error.text, "at most ");
                assert_non_null(named);
                most = strtod(named + strlen("at most "), NULL) * (1 - 1e-2);
                assert_true(most > 0.1 && most < 250);
                struct algorithm_model model = {.parameters = DIM};
                double own =
                    kit.spec.algorithm->learning_rate(&kit.inputs, &model, 500);
                assert_true(own > 0.49 * most && own < 1.02 * most);
                assert_true(exp2(rint(log2(500 / own))) == 500 / own);
                assert_true(kit.spec.algorithm->learning_rate(&kit.inputs, &model,
                                                              1e-3) == 1e-3);
            }
            kit_close(&kit);
        }
    }
}

struct denied_event {
    const char *algorithm, *name;
    double value;
    const char *pointer;
};

static void what_has_no_proof_is_refused_by_name(void **state)
{
    (void)state;
    static const struct denied_event cases[] = {
        {"diff2_gd", "clients", RECORDS + 1, "/algorithm/clients"},
        {"diff2_bvr_l_sgd", "restart_split", 1.2, "/algorithm/difference_split"},
        {"diff2_bvr_l_sgd", "difference_split", 2, "/algorithm/difference_split"},
        {"diff2_bvr_l_sgd", "local_batch", RECORDS, "/algorithm/local_batch"},
        {"diff2_bvr_l_sgd", "local_batch", RECORDS + 9, "/algorithm/local_batch"},
        {"diff2_bvr_l_sgd", "clients", RECORDS, "/algorithm/local_batch"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct kit kit;
        struct mechanism m = {0};
        struct error errors[2] = {{0}, {0}};
        struct kit_setup setup = usual(20);
        kit_spec(&kit, cases[k].algorithm);
        kit_set(&kit, cases[k].name, cases[k].value);
        assert_int_equal(kit_start(&kit, &setup, &errors[0]), ST_INVALID);
        assert_int_equal(kit.spec.algorithm->plan(&m, &kit.inputs, &errors[1]),
                         ST_INVALID);
        assert_string_equal(errors[0].pointer, cases[k].pointer);
        assert_string_equal(errors[1].pointer, cases[k].pointer);
        kit_close(&kit);
    }
}

static void other_optimizers_are_refused(void **state)
{
    (void)state;
    static const struct {
        struct optimizer_spec optimizer;
        const char *pointer;
    } cases[] = {
        {{.kind = OPTIMIZER_ADAM, .learning_rate = 1, .learning_rate_final = 1},
         "/optimizer/name"},
        {{.momentum = 0.5, .learning_rate = 1, .learning_rate_final = 1},
         "/optimizer/momentum"},
        {{.learning_rate = 1, .learning_rate_final = 0.5}, "/optimizer/learning_rate"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct kit kit;
        struct mechanism m = {0};
        struct error error = {0};
        struct kit_setup setup = usual(20);
        setup.optimizer = cases[k].optimizer;
        kit_spec(&kit, k == 1 ? "diff2_bvr_l_sgd" : "diff2_gd");
        kit_compile(&kit, &setup);
        assert_int_equal(kit.spec.algorithm->plan(&m, &kit.inputs, &error), ST_INVALID);
        assert_string_equal(error.pointer, cases[k].pointer);
        kit_close(&kit);
    }
}

/* Defaults: a fiftieth of the rounds, and a 128th of a client. */
static void what_is_not_named_follows_from_the_job(void **state)
{
    (void)state;
    struct kit kit;
    struct mechanism m = {0};
    struct kit_setup setup = usual(1000);
    setup.noise_multiplier = 2;
    kit_spec(&kit, "diff2_gd");
    kit_compile(&kit, &setup);
    assert_int_equal(kit.spec.algorithm->plan(&m, &kit.inputs, NULL), ST_OK);
    assert_int_equal(m.kind, MECHANISM_GAUSSIAN);
    assert_int_equal(m.run_count, 100);
    assert_int_equal(m.runs[1].steps, 19);
    assert_close(m.runs[1].noise_multiplier, 2 * sqrt(19 * 4), 1e-12);
    mechanism_fini(&m);
    kit_close(&kit);
    kit_spec(&kit, "diff2_bvr_l_sgd");
    kit_set(&kit, "clients", 2);
    kit_compile(&kit, &setup);
    assert_int_equal(kit.spec.algorithm->plan(&m, &kit.inputs, NULL), ST_OK);
    assert_int_equal(m.kind, MECHANISM_FIXED_SUBSET);
    assert_int_equal(m.run_count, 200);
    assert_true(m.runs[1].sampling_rate == 12.0 / 1500);
    assert_int_equal(m.runs[1].steps, 9);
    mechanism_fini(&m);
    kit_close(&kit);
}

/* 16,510 records at epsilon 3: sigma1 of papers/diff2.md 2.3 and 2.4. */
static void the_papers_noise_is_claimed(void **state)
{
    (void)state;
    struct kit kit;
    struct kit_setup setup = usual(2000);
    kit_spec(&kit, "diff2_gd");
    kit_set(&kit, "restart_interval", 20);
    kit_compile(&kit, &setup);
    kit.inputs.records = kit.inputs.batch_size = 16510;
    assert_close(kit.spec.algorithm->paper_claim(&kit.inputs, 3, 1e-5) / 16510,
                 2.345840912e-3, 1e-9);
    kit_set(&kit, "restart_interval", 1);
    assert_close(kit.spec.algorithm->paper_claim(&kit.inputs, 3, 1e-5) / 16510,
                 9.383364e-3, 1e-6);
    kit_close(&kit);
    kit_spec(&kit, "diff2_bvr_l_sgd");
    kit_set(&kit, "restart_interval", 6);
    kit_set(&kit, "restart_split", 3);
    kit_set(&kit, "clients", 10);
    kit_compile(&kit, &setup);
    assert_close(kit.spec.algorithm->paper_claim(&kit.inputs, 3, 1e-5) / 16510,
                 2.119062e-3, 1e-6);
    kit_close(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_that_would_feed_on_itself_is_refused),
        cmocka_unit_test(what_has_no_proof_is_refused_by_name),
        cmocka_unit_test(other_optimizers_are_refused),
        cmocka_unit_test(what_is_not_named_follows_from_the_job),
        cmocka_unit_test(the_papers_noise_is_claimed),
    };
    return cmocka_run_group_tests(tests, fill, NULL);
}
