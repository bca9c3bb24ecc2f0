/* Goal: no record is measured before its charge is on disk; answers are written with
 * that charge, at a tick, or never; and whatever ends a statistics request or an
 * evaluation of a model, exactly what was authorised is spent, by the parts that it
 * reads. Method: a service on its own directory whose threads do
 * nothing; the linker's --wrap puts the test between the statistics runner and what it
 * calls. */
#include "base/mechanism.h"
#include "base/status.h"
#include "base/privacy_unit.h"
#include "engine/data/matrix.h"
#include "engine/noise/noise_key.h"
#include "engine/statistics/measurement.h"
#include "engine/statistics/statistic.h"
#include "service/process/daemon_state.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/datasets.h"
#include "service/process/process_stats.h"
#include "service/runs/evaluation_run.h"
#include "service/runs/statistics_runner.h"

#include <math.h>

#include "accountant/ledger/ledger_view.h"
#include "service/threads/reveal_delay.h"
#include "service/jobs/statistics_runs.h"
#include "service/webhooks/webhooks.h"
#include "tests/expect.h"
#include "tests/service/service_fixture.h"
#include "tests/service/webhook_fixture.h"

enum { SECOND = 2000 };

static struct watched {
    struct scene scene;
    struct statistics_run *survey;
    struct survey_id id;
    struct curve charge; /* of the reservation */
    unsigned measured, waits;
    bool refuses;   /* the ledger refuses */
    bool has_model; /* the model of an evaluation can be opened */
} run;

/* --- between the statistics runner and what it calls --- */

enum status __real_measurement_run(const struct measurement *measurement,
                                   const struct statistics *statistics,
                                   const struct matrix *matrix,
                                   const struct noise_key *seed,
                                   const atomic_bool *cancel, double *released,
                                   struct error *error);
enum status __wrap_measurement_run(const struct measurement *measurement,
                                   const struct statistics *statistics,
                                   const struct matrix *matrix,
                                   const struct noise_key *seed,
                                   const atomic_bool *cancel, double *released,
                                   struct error *error);
void __wrap_reveal_delay_end(struct reveal_delay *delay, struct tick_clock *clock,
                             const atomic_bool *stop);
enum status __real_ledger_authorise(struct ledger *ledger, const struct job_id *job,
                                    uint64_t steps, struct error *error);
enum status __wrap_ledger_authorise(struct ledger *ledger, const struct job_id *job,
                                    uint64_t steps, struct error *error);

enum status __wrap_evaluation_run_open(struct evaluation_run *evaluation,
                                       struct daemon_state *context,
                                       const struct statistics_run *survey,
                                       struct error *error);
enum status __wrap_evaluation_run_read(struct evaluation_run *evaluation,
                                       struct daemon_state *context,
                                       const struct statistics_run *survey,
                                       struct matrix *matrix, char **result,
                                       struct error *error);

enum status __wrap_evaluation_run_open(struct evaluation_run *evaluation,
                                       struct daemon_state *context,
                                       const struct statistics_run *survey,
                                       struct error *error)
{
    (void)evaluation;
    assert_ptr_equal(context, &run.scene.context);
    assert_ptr_equal(survey, run.survey);
    return run.has_model ? ST_OK : error_set(error, ST_MODEL_CORRUPT, "it was deleted");
}

enum status __wrap_evaluation_run_read(struct evaluation_run *evaluation,
                                       struct daemon_state *context,
                                       const struct statistics_run *survey,
                                       struct matrix *matrix, char **result,
                                       struct error *error)
{
    (void)evaluation, (void)context, (void)survey, (void)error;
    if (!run.survey->is_free)
        assert_int_equal(scene_authorised_on_disk(&run.scene, run.id.text), 1);
    assert_true(matrix->records > 0);
    run.measured++;
    *result = strdup("{\"accuracy\":1}");
    return ST_OK;
}

/* The process's figures are paused, and the end is not handed over yet. */
void __wrap_reveal_delay_end(struct reveal_delay *delay, struct tick_clock *clock,
                             const atomic_bool *stop)
{
    assert_ptr_equal(clock, run.scene.context.tick_clock);
    assert_ptr_equal(stop, &run.survey->stop);
    assert_int_equal(delay->used, 0);
    assert_null(run.survey->ending);
    const struct process_stats *figures = run.scene.context.process_stats;
    assert_int_equal(atomic_load(&figures->pauses) - atomic_load(&figures->endings), 1);
    run.waits++;
}

enum status __wrap_measurement_run(const struct measurement *measurement,
                                   const struct statistics *statistics,
                                   const struct matrix *matrix,
                                   const struct noise_key *seed,
                                   const atomic_bool *cancel, double *released,
                                   struct error *error)
{
    assert_int_equal(scene_authorised_on_disk(&run.scene, run.id.text), 1);
    assert_null(seed); /* the seed is the kernel's */
    run.measured++;
    return __real_measurement_run(measurement, statistics, matrix, seed, cancel,
                                  released, error);
}

enum status __wrap_ledger_authorise(struct ledger *ledger, const struct job_id *job,
                                    uint64_t steps, struct error *error)
{
    if (run.refuses)
        return error_set(error, ST_DATASET_FROZEN, "a restored backup was found");
    return __real_ledger_authorise(ledger, job, steps, error);
}

/* --- a statistics request of a service --- */

static struct statistics_run *make_survey(double noise_multiplier)
{
    struct daemon_state *context = &run.scene.context;
    const struct dataset *points = datasets_find(context->datasets, "points");
    const struct measurement_terms terms = {
        RELATION_ZERO_OUT, PRIVACY_UNIT_RECORD, noise_multiplier, SCENE_RECORDS, 0, 0};
    struct statistics_run *survey = calloc(1, sizeof *survey);
    assert_non_null(survey);
    survey->statistics.count = 1;
    survey->statistics.items = calloc(1, sizeof(struct statistic));
    struct statistic *histogram = survey->statistics.items;
    histogram->axis_count = 1;
    histogram->axes[0].column = strdup("y");
    assert_int_equal(
        statistics_resolve(&survey->statistics, &dataset_spec(points)->schema, NULL),
        ST_OK);
    assert_int_equal(
        measurement_plan(&survey->measurement, &survey->statistics, &terms, NULL),
        ST_OK);
    measurement_mechanism(&survey->mechanism, &terms);
    survey->dataset = dataset_spec(points)->id;
    survey->project = dataset_owner(points)->project;
    strcpy(survey->owner, principal_local.name);
    survey_id_make(&survey->id);
    return survey;
}

/* Reserves a request and adds it, as the write queue does. */
static void submit(double noise_multiplier)
{
    struct statistics_run *survey = make_survey(noise_multiplier);
    const struct job_id holder = holder_of_survey(&survey->id);
    const struct ledger_claim claim = {.dataset = &survey->dataset,
                                       .job = &holder,
                                       .mechanism = &survey->mechanism,
                                       .principal = &principal_local};
    struct ledger_entry_name entry;
    assert_int_equal(filter_charge(&run.charge, &survey->mechanism, 1, NULL), ST_OK);
    run.survey = survey;
    run.id = survey->id;
    struct store_tx *tx = scene_begin(&run.scene);
    assert_int_equal(ledger_reserve(run.scene.context.ledger, tx, &claim, &entry, NULL),
                     ST_OK);
    survey->ledger_seq = entry.seq;
    const struct statistics_run_addition addition = {survey, "[]", "{}", 1000000};
    scene_commit(tx, statistics_runs_add(run.scene.context.statistics_runs, tx,
                                         &addition, NULL));
}

static void begin_under(const char *privacy)
{
    run = (struct watched){0};
    scene_open(&run.scene);
    struct dataset *points = scene_declare(&run.scene, "points", privacy);
    assert_int_equal(scene_import(&run.scene, points, "0").state, DATASET_READY);
    submit(4.5);
    assert_int_equal(statistics_runs_count(run.scene.context.statistics_runs), 1);
}

static void begin(void)
{
    begin_under("{\"epsilon\":8,\"delta\":1e-5}");
}

static void end(void)
{
    scene_close(&run.scene);
}

/* --- an evaluation of a model --- */

/* Makes an evaluation on points: a look at its holdout, or a free one if it is
 * public. */
static struct statistics_run *make_evaluation(double noise_multiplier)
{
    const struct dataset *points = datasets_find(run.scene.context.datasets, "points");
    struct statistics_run *survey = calloc(1, sizeof *survey);
    assert_non_null(survey);
    survey_id_make_evaluation(&survey->id);
    survey->dataset = dataset_spec(points)->id;
    survey->project = dataset_owner(points)->project;
    survey->is_free = dataset_spec(points)->is_public;
    strcpy(survey->owner, principal_local.name);
    if (!survey->is_free)
        mechanism_init_release(&survey->mechanism, RELATION_ZERO_OUT, noise_multiplier);
    return survey;
}

static void begin_evaluation(const char *privacy)
{
    static const char spec[] = "{\"model\":\"mdl_01JJZ0000000000000000000AB\","
                               "\"evaluation\":\"points\"}";
    struct ledger_entry_name entry;
    run = (struct watched){.has_model = true};
    scene_open(&run.scene);
    struct dataset *points = scene_declare(&run.scene, "points", privacy);
    assert_int_equal(scene_import(&run.scene, points, "0").state, DATASET_READY);
    struct statistics_run *survey = run.survey = make_evaluation(4.5);
    run.id = survey->id;
    const struct job_id holder = holder_of_survey(&survey->id);
    const struct ledger_claim claim = {.dataset = &survey->dataset,
                                       .job = &holder,
                                       .mechanism = &survey->mechanism,
                                       .principal = &principal_local,
                                       .parts = statistics_run_parts(survey)};
    struct store_tx *tx = scene_begin(&run.scene);
    if (!survey->is_free) {
        assert_int_equal(filter_charge(&run.charge, &survey->mechanism, 1, NULL),
                         ST_OK);
        assert_int_equal(
            ledger_reserve(run.scene.context.ledger, tx, &claim, &entry, NULL), ST_OK);
        survey->ledger_seq = entry.seq;
    }
    const struct statistics_run_addition addition = {survey, spec, "", 1000000};
    scene_commit(tx, statistics_runs_add(run.scene.context.statistics_runs, tx,
                                         &addition, NULL));
}

#define DIVIDED "{\"epsilon\":8,\"delta\":1e-5},\"holdout\":0.25"

/* Expects this part of the charge, 0 or 1, as committed to the holdout, and nothing in
 * the training part. */
static void expect_looked(double committed)
{
    const struct dataset_id points = {"points"};
    for (unsigned p = 0; p < PARTS_MAX; p++) {
        struct balance balance;
        const struct ledger_part of = {&points, (enum part)p};
        assert_int_equal(
            ledger_part_read(run.scene.context.ledger, &of, NULL, &balance, NULL),
            ST_OK);
        size_t at = balance.weighted[0];
        assert_true(run.charge.at[at] > 0);
        assert_close(balance.committed.at[at],
                     p == PART_HOLDOUT ? committed * run.charge.at[at] : 0, 1e-12);
        assert_close(balance.held.at[at], 0, 1e-12);
    }
}

/* Runs the request as its worker would; however the run ends, it waits once. */
static void run_survey(void)
{
    unsigned before = run.waits;
    statistics_runner_run(&run.scene.context, run.survey);
    assert_int_equal(run.waits, before + 1);
}

/* --- what is on disk, and in the ledger --- */

struct seen {
    char state[16], reason[32], answers[4096];
    int64_t end_ms;
};

static bool see(void *context, const struct statistics_row *row)
{
    struct seen *seen = context;
    snprintf(seen->state, sizeof seen->state, "%s", row->state);
    snprintf(seen->reason, sizeof seen->reason, "%s", row->reason);
    snprintf(seen->answers, sizeof seen->answers, "%s", row->answers);
    seen->end_ms = row->end_ms;
    return true;
}

static struct seen row_now(void)
{
    struct seen seen = {0};
    struct store_tx *tx = scene_begin(&run.scene);
    assert_int_equal(statistics_row_find(tx, run.id.text, see, &seen, NULL), ST_OK);
    store_rollback(tx);
    return seen;
}

/* Expects these parts of the charge, 0 or 1, as committed and as held, at the main
 * order. */
static void expect_charged(double committed, double held)
{
    struct balance balance;
    const struct dataset_id points = {"points"};
    assert_int_equal(ledger_balance(run.scene.context.ledger, &points, &balance, NULL),
                     ST_OK);
    size_t at = balance.weighted[0];
    assert_true(run.charge.at[at] > 0);
    assert_close(balance.committed.at[at], committed * run.charge.at[at], 1e-12);
    assert_close(balance.held.at[at], held * run.charge.at[at], 1e-12);
}

static void expect_failed(const char *reason, double committed)
{
    const struct seen seen = row_now();
    assert_string_equal(seen.state, "FAILED");
    assert_string_equal(seen.reason, reason);
    assert_string_equal(seen.answers, "");
    assert_int_equal(statistics_runs_count(run.scene.context.statistics_runs), 0);
    expect_charged(committed, 0);
}

static void answers_come_with_their_charge_at_a_tick(void **state)
{
    (void)state;
    begin();
    expect_charged(0, 1);
    run_survey();
    assert_int_equal(run.measured, 1);
    assert_string_equal(row_now().state, "RUNNING");
    assert_string_equal(row_now().answers, "");
    expect_charged(0, 1);
    statistics_runner_tick(&run.scene.context, SECOND);
    const struct seen seen = row_now();
    assert_string_equal(seen.state, "SUCCEEDED");
    assert_non_null(strstr(seen.answers, "\"value\":\"b\",\"count\":"));
    assert_int_equal(seen.end_ms, SECOND * 1000);
    assert_int_equal(statistics_runs_count(run.scene.context.statistics_runs), 0);
    expect_charged(1, 0);
    end();
}

static void a_tick_in_between_shows_nothing(void **state)
{
    (void)state;
    begin();
    statistics_runner_tick(&run.scene.context, SECOND);
    assert_string_equal(row_now().state, "RUNNING");
    assert_int_equal(statistics_runs_count(run.scene.context.statistics_runs), 1);
    end();
}

static void nothing_is_measured_that_was_not_authorised(void **state)
{
    (void)state;
    begin();
    run.refuses = true;
    run_survey();
    assert_int_equal(run.measured, 0);
    statistics_runner_tick(&run.scene.context, SECOND);
    expect_failed("internal", 0);
    end();
}

static void a_stop_before_the_run_costs_nothing(void **state)
{
    (void)state;
    begin();
    atomic_store(&run.scene.context.stop_training, true);
    statistics_runner_tick(&run.scene.context, SECOND);
    run_survey();
    statistics_runner_tick(&run.scene.context, SECOND + 1);
    assert_int_equal(run.measured, 0);
    expect_failed("shutdown", 0);
    end();
}

static void a_stop_that_comes_too_late_drops_the_answers(void **state)
{
    (void)state;
    begin();
    run_survey();
    struct statistics_run_ending *ending =
        statistics_run_ending_take(run.scene.context.statistics_runs, run.survey);
    ending->stopped = true;
    statistics_run_hand_over(run.scene.context.statistics_runs, run.survey, ending);
    statistics_runner_tick(&run.scene.context, SECOND);
    expect_failed("shutdown", 1);
    end();
}

static void damaged_records_are_not_measured(void **state)
{
    (void)state;
    begin();
    FILE *file = fopen(scene_path(&run.scene, "datasets/points.matrix"), "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, 70, SEEK_SET), 0);
    assert_int_equal(fputc(1, file), 1);
    assert_int_equal(fclose(file), 0);
    run_survey();
    statistics_runner_tick(&run.scene.context, SECOND);
    assert_int_equal(run.measured, 0);
    expect_failed("dataset_corrupt", 0);
    end();
}

static void what_a_dead_process_measured_is_charged_and_never_answered(void **state)
{
    (void)state;
    begin();
    run_survey(); /* then the process ends */
    assert_int_equal(run.measured, 1);
    assert_int_equal(statistics_runner_recover(&run.scene.context, NULL), ST_OK);
    expect_failed("worker_lost", 1);
    end();
}

static void what_a_dead_process_had_not_begun_costs_nothing(void **state)
{
    (void)state;
    begin();
    assert_int_equal(statistics_runner_recover(&run.scene.context, NULL), ST_OK);
    expect_failed("worker_lost", 0);
    end();
}

/* --- evaluations --- */

static void a_look_at_a_holdout_is_charged_to_it_with_its_answer(void **state)
{
    (void)state;
    begin_evaluation(DIVIDED);
    run_survey();
    assert_int_equal(run.measured, 1);
    assert_string_equal(row_now().state, "RUNNING");
    statistics_runner_tick(&run.scene.context, SECOND);
    const struct seen seen = row_now();
    assert_string_equal(seen.state, "SUCCEEDED");
    assert_string_equal(seen.answers, "{\"accuracy\":1}");
    expect_looked(1);
    end();
}

static void a_look_that_the_ledger_refuses_is_not_taken(void **state)
{
    (void)state;
    begin_evaluation(DIVIDED);
    run.refuses = true;
    run_survey();
    statistics_runner_tick(&run.scene.context, SECOND);
    assert_int_equal(run.measured, 0);
    assert_string_equal(row_now().reason, "internal");
    expect_looked(0);
    end();
}

static void a_look_with_a_model_that_is_gone_costs_nothing(void **state)
{
    (void)state;
    begin_evaluation(DIVIDED);
    run.has_model = false;
    run_survey();
    statistics_runner_tick(&run.scene.context, SECOND);
    assert_int_equal(run.measured, 0);
    assert_string_equal(row_now().state, "FAILED");
    assert_string_equal(row_now().reason, "model_corrupt");
    expect_looked(0);
    end();
}

/* Another pass over the holdout would be a second look for the same charge. */
static void a_look_of_a_dead_process_is_charged_and_not_taken_again(void **state)
{
    (void)state;
    for (unsigned begun = 0; begun < 2; begun++) {
        begin_evaluation(DIVIDED);
        if (begun > 0)
            run_survey(); /* then the process ends */
        assert_int_equal(statistics_runner_recover(&run.scene.context, NULL), ST_OK);
        assert_int_equal(run.measured, begun);
        assert_string_equal(row_now().state, "FAILED");
        assert_string_equal(row_now().reason, "worker_lost");
        assert_string_equal(row_now().answers, "");
        assert_int_equal(statistics_runs_count(run.scene.context.statistics_runs), 0);
        expect_looked(begun);
        end();
    }
}

static void an_evaluation_on_public_records_leaves_the_ledger_alone(void **state)
{
    (void)state;
    for (unsigned lost = 0; lost < 2; lost++) {
        begin_evaluation("\"public\"");
        struct ledger_entry_name before, after;
        ledger_head(run.scene.context.ledger, &before);
        run_survey();
        assert_int_equal(run.measured, 1);
        if (lost > 0)
            assert_int_equal(statistics_runner_recover(&run.scene.context, NULL),
                             ST_OK);
        else
            statistics_runner_tick(&run.scene.context, SECOND);
        assert_string_equal(row_now().state, lost > 0 ? "FAILED" : "SUCCEEDED");
        ledger_head(run.scene.context.ledger, &after);
        assert_int_equal(after.seq, before.seq);
        end();
    }
}

/* --- what webhooks receive about the budget --- */

static char low_message[] = "{\"type\":\"budget.low\",\"timestamp\":"
                            "\"1970-01-01T00:33:20Z\",\"id\":\"points\","
                            "\"state\":\"READY\",\"left\":0.5}";

static void measure_one(void)
{
    run_survey();
    statistics_runner_tick(&run.scene.context, SECOND);
    assert_string_equal(row_now().state, "SUCCEEDED");
}

static void a_budget_that_falls_nowhere_is_not_told(void **state)
{
    (void)state;
    begin();
    hook_keep_outbox(&run.scene);
    const struct webhook webhook = hook_make(&run.scene, HOOK_BUDGET);
    measure_one();
    assert_int_equal(hook_waiting(&run.scene, &webhook), 0);
    end();
}

static void a_budget_that_falls_to_a_half_is_told_once(void **state)
{
    (void)state;
    begin_under("{\"epsilon\":1.2,\"delta\":1e-5}");
    hook_keep_outbox(&run.scene);
    const struct webhook webhook = hook_make(&run.scene, HOOK_BUDGET);
    measure_one();
    hook_expect(&run.scene, &webhook, 1, low_message);
    submit(450);
    measure_one();
    hook_expect(&run.scene, &webhook, 1, low_message);
    end();
}

/* Statistics read both parts, and are charged to both. */
static void each_part_that_falls_is_told(void **state)
{
    (void)state;
    begin_under("{\"epsilon\":1.2,\"delta\":1e-5},\"holdout\":0.25");
    hook_keep_outbox(&run.scene);
    const struct webhook webhook = hook_make(&run.scene, HOOK_BUDGET);
    measure_one();
    hook_expect(&run.scene, &webhook, PARTS_MAX, low_message);
    end();
}

static void a_lost_survey_is_settled_where_a_webhook_wants_budgets(void **state)
{
    (void)state;
    for (unsigned begun = 0; begun < 2; begun++) {
        begin();
        hook_keep_outbox(&run.scene);
        const struct webhook webhook = hook_make(&run.scene, HOOK_BUDGET);
        if (begun > 0)
            run_survey();
        assert_int_equal(statistics_runner_recover(&run.scene.context, NULL), ST_OK);
        expect_failed("worker_lost", begun);
        assert_int_equal(hook_waiting(&run.scene, &webhook), 0);
        end();
    }
}

static void no_more_than_the_limit_are_under_way(void **state)
{
    (void)state;
    begin();
    struct statistics_runs *surveys = run.scene.context.statistics_runs;
    for (size_t i = 1; i < LIMIT_SURVEYS; i++) {
        assert_int_equal(statistics_runs_check_room(surveys, NULL), ST_OK);
        submit(450);
    }
    assert_int_equal(statistics_runs_check_room(surveys, NULL), ST_QUEUE_FULL);
    assert_int_equal(statistics_runs_on(surveys, &run.survey->dataset), LIMIT_SURVEYS);
    run_survey();
    statistics_runner_tick(&run.scene.context, SECOND);
    assert_int_equal(statistics_runs_check_room(surveys, NULL), ST_OK);
    end();
}

static void a_row_ends_once(void **state)
{
    (void)state;
    begin();
    run_survey();
    statistics_runner_tick(&run.scene.context, SECOND);
    const struct statistics_row again = {
        .id = run.id, .state = "SUCCEEDED", .reason = "", .answers = "[1]"};
    struct store_tx *tx = scene_begin(&run.scene);
    assert_int_equal(statistics_row_end(tx, &again, NULL), ST_CORRUPT);
    store_rollback(tx);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_come_with_their_charge_at_a_tick),
        cmocka_unit_test(a_tick_in_between_shows_nothing),
        cmocka_unit_test(nothing_is_measured_that_was_not_authorised),
        cmocka_unit_test(a_stop_before_the_run_costs_nothing),
        cmocka_unit_test(a_stop_that_comes_too_late_drops_the_answers),
        cmocka_unit_test(damaged_records_are_not_measured),
        cmocka_unit_test(what_a_dead_process_measured_is_charged_and_never_answered),
        cmocka_unit_test(what_a_dead_process_had_not_begun_costs_nothing),
        cmocka_unit_test(a_look_at_a_holdout_is_charged_to_it_with_its_answer),
        cmocka_unit_test(a_look_that_the_ledger_refuses_is_not_taken),
        cmocka_unit_test(a_look_with_a_model_that_is_gone_costs_nothing),
        cmocka_unit_test(a_look_of_a_dead_process_is_charged_and_not_taken_again),
        cmocka_unit_test(an_evaluation_on_public_records_leaves_the_ledger_alone),
        cmocka_unit_test(a_budget_that_falls_nowhere_is_not_told),
        cmocka_unit_test(a_budget_that_falls_to_a_half_is_told_once),
        cmocka_unit_test(each_part_that_falls_is_told),
        cmocka_unit_test(a_lost_survey_is_settled_where_a_webhook_wants_budgets),
        cmocka_unit_test(no_more_than_the_limit_are_under_way),
        cmocka_unit_test(a_row_ends_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
