/* Goal: statistics that a lost daemon was measuring are ended once, whichever remaining
 * daemon comes first, and none of them keeps the request as running. Method: three
 * services of one database of a real server. One is made silent while it has a request;
 * the second finds the request lost, and the third ends it before the second does. */
#include "service/process/daemon_state.h"
#include "tests/expect.h"

#include "accountant/ledger/ledger_view.h"
#include "engine/statistics/measurement.h"
#include "service/recovery/orphaned_runs.h"
#include "service/jobs/statistics_runs.h"
#include "tests/service/pair_fixture.h"

static struct pair pair;
static struct scene third;
static struct daemon_state
    *overtakes; /* ends all lost work, once a scan has found some */

enum status __real_work_lease_rows_walk_lost(struct store_tx *tx,
                                             bool (*visit)(void *context,
                                                           const char *survey),
                                             void *context, struct error *error);
enum status __wrap_work_lease_rows_walk_lost(struct store_tx *tx,
                                             bool (*visit)(void *context,
                                                           const char *survey),
                                             void *context, struct error *error);
enum status __wrap_work_lease_rows_walk_lost(struct store_tx *tx,
                                             bool (*visit)(void *context,
                                                           const char *survey),
                                             void *context, struct error *error)
{
    enum status status = __real_work_lease_rows_walk_lost(tx, visit, context, error);
    struct daemon_state *other = overtakes;
    overtakes = NULL;
    if (other != NULL)
        assert_int_equal(orphaned_runs_end(other, NULL), ST_OK);
    return status;
}

static struct statistics_run *make_survey(const struct scene *scene)
{
    const struct dataset *points = datasets_find(scene->context.datasets, "points");
    const struct measurement_terms terms = {
        RELATION_ZERO_OUT, PRIVACY_UNIT_RECORD, 4.5, SCENE_RECORDS, 0, 0};
    struct statistics_run *survey = calloc(1, sizeof *survey);
    assert_non_null(survey);
    survey->statistics.count = 1;
    survey->statistics.items = calloc(1, sizeof(struct statistic));
    survey->statistics.items->axis_count = 1;
    survey->statistics.items->axes[0].column = strdup("y");
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

/* Reserves a request, holds it and adds it, as the write queue does. */
static void submit(struct scene *scene)
{
    struct statistics_run *survey = make_survey(scene);
    const struct job_id holder = holder_of_survey(&survey->id);
    const struct ledger_claim claim = {.dataset = &survey->dataset,
                                       .job = &holder,
                                       .mechanism = &survey->mechanism,
                                       .principal = &principal_local};
    struct ledger_entry_name entry;
    struct store_tx *tx = scene_begin(scene);
    assert_int_equal(ledger_reserve(scene->context.ledger, tx, &claim, &entry, NULL),
                     ST_OK);
    survey->ledger_seq = entry.seq;
    assert_int_equal(
        run_claims_hold(&scene->context, tx, HELD_SURVEY, survey->id.text, NULL),
        ST_OK);
    const struct statistics_run_addition addition = {survey, "[]", "{}", 1000000};
    scene_commit(
        tx, statistics_runs_add(scene->context.statistics_runs, tx, &addition, NULL));
}

static void expect_ended(struct daemon_state *context)
{
    assert_int_equal(store_look(context->store, NULL), ST_OK);
    assert_int_equal(statistics_runs_count(context->statistics_runs), 0);
    assert_true(run_claims_idle(context) || context->jobs_here > 0);
    assert_int_equal(statistics_runs_here(context->statistics_runs), 0);
    assert_false(store_poisoned(context->store));
}

static void a_lost_survey_is_ended_by_whoever_is_first(void **state)
{
    (void)state;
    struct job *jobs[2];
    pair_open(&pair, jobs);
    submit(&pair.there);
    begin_scene(&third, &pair.database);
    assert_int_equal(
        postgres_sql(&server, &pair.database,
                     "UPDATE writer SET seen=seen-interval '31 seconds' WHERE"
                     " lead=(SELECT daemon FROM hold WHERE what='survey')"),
        0);
    size_t fenced = 0;
    assert_int_equal(lease_sweep(pair.here.context.store, &fenced, NULL), ST_OK);
    assert_int_equal(fenced, 1);
    overtakes = &third.context;
    assert_int_equal(orphaned_runs_end(&pair.here.context, NULL), ST_OK);
    assert_null(overtakes);
    assert_int_equal(asked(&pair, "SELECT count(*) FROM survey WHERE state='FAILED' AND"
                                  " reason='worker_lost'"),
                     1);
    assert_int_equal(asked(&pair, "SELECT count(*) FROM ledger WHERE kind='COMMIT'"),
                     1);
    expect_ended(&pair.here.context);
    expect_ended(&third.context);
    stop_clock(&third.context);
    scene_close(&third);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_survey_is_ended_by_whoever_is_first),
    };
    if (!postgres_make_for_stores(&server, true))
        return 0;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    postgres_remove(&server);
    return failed;
}
