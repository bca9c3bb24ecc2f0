/* Goal: a start finds rows whose promise or run differs from the ledger's. Method: a
 * service on its own directory in which row and ledger are given different values. */
#include "api/requests/dataset_request.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/dataset_write.h"
#include "service/datasets/datasets.h"
#include "service/recovery/consistency_check.h"

#include "accountant/ledger/ledger_view.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/job_plan.h"
#include "service/recovery/ledger_opening.h"
#include "store/rows/model_rows.h"
#include "store/sql/statement.h"
#include "tests/expect.h"
#include "tests/service/service_fixture.h"

static struct scene scene;

static int begin(void **state)
{
    (void)state;
    scene = (struct scene){0};
    scene_open(&scene);
    return 0;
}

static int end(void **state)
{
    (void)state;
    scene_close(&scene);
    return 0;
}

static enum status check(struct error *error)
{
    const struct consistency_check inventory = {.datasets = scene.context.datasets,
                                                .jobs = scene.context.jobs,
                                                .models = scene.context.models,
                                                .surveys =
                                                    scene.context.statistics_runs,
                                                .charges = scene.context.charges};
    return consistency_check_run(&inventory, scene.context.ledger, error);
}

static const char budget[] = "{\"epsilon\":8,\"delta\":1e-5}";
static const char run[] =
    "\"batch_size\":50,\"steps\":40,\"privacy\":{\"noise_multiplier\":20}";

static void what_is_as_the_ledger_was_told_is_good(void **state)
{
    (void)state;
    struct error error = {0};
    struct dataset *points = scene_declare(&scene, "points", budget);
    scene_declare(&scene, "others", "\"public\"");
    assert_int_equal(scene_import(&scene, points, "0").state, DATASET_READY);
    struct job_plan plan = scene_plan(&scene, "\"name\":\"dpsgd\"", run);
    scene_submit(&scene, &plan, &plan.mechanism);
    if (check(&error) != ST_OK)
        fail_msg("%s", error.text);
}

static void a_job_of_another_mechanism_than_was_reserved_is_found(void **state)
{
    (void)state;
    struct error error = {0};
    struct mechanism reserved = {0};
    struct dataset *points = scene_declare(&scene, "points", budget);
    assert_int_equal(scene_import(&scene, points, "0").state, DATASET_READY);
    struct job_plan plan = scene_plan(&scene, "\"name\":\"dpsgd\"", run);
    mechanism_copy(&reserved, &plan.mechanism);
    reserved.runs[0].noise_multiplier = 20.0000001;
    struct job *job = scene_submit(&scene, &plan, &reserved);
    assert_int_equal(check(&error), ST_CORRUPT);
    assert_non_null(strstr(error.text, job_id(job)->text));
    assert_non_null(strstr(error.text, "another mechanism"));
    mechanism_fini(&reserved);
}

/* Adds a dataset with a budget, and grants nothing. */
static const struct dataset *add_points(struct store_tx *tx, bool is_proposed)
{
    struct dataset_spec spec;
    struct dataset *dataset = NULL;
    char text[200];
    snprintf(text, sizeof text,
             "{\"id\":\"points\",\"format\":\"libsvm\",\"task\":\"classification\","
             "\"classes\":2,\"features\":{\"count\":4},\"privacy\":%s}",
             budget);
    const struct dataset_addition addition = {&spec, &principal_local, is_proposed};
    assert_int_equal(dataset_spec_parse(&spec, json_text_of(text), NULL), ST_OK);
    assert_int_equal(
        datasets_add(scene.context.datasets, tx, &addition, &dataset, NULL), ST_OK);
    return dataset;
}

/* A dataset has no budget until its grant is approved, so a proposed one with a budget
 * was never approved. */
static void a_budget_that_nobody_approved_is_found(void **state)
{
    (void)state;
    struct error error = {0};
    struct store_tx *tx = scene_begin(&scene);
    const struct dataset *dataset = add_points(tx, true);
    scene_commit(tx, ST_OK);
    if (check(&error) != ST_OK)
        fail_msg("%s", error.text);
    const struct dataset_spec *spec = dataset_spec(dataset);
    const struct ledger_promise promise = {&spec->id, &spec->grant, &principal_local,
                                           NULL};
    tx = scene_begin(&scene);
    scene_commit(tx, ledger_grant(scene.context.ledger, tx, &promise, NULL));
    assert_int_equal(check(&error), ST_CORRUPT);
    assert_non_null(strstr(error.text, "its grant is not approved"));
}

/* An earlier grant may remain while a new promise waits for approval, and must not be
 * used meanwhile. */
static void a_budget_that_waits_to_be_replaced_is_unused(void **state)
{
    (void)state;
    struct error error = {0};
    const struct grant before = {RELATION_ZERO_OUT,   2, 1e-5, 0, {0, 0},
                                 PRIVACY_UNIT_RECORD, 0};
    struct store_tx *tx = scene_begin(&scene);
    const struct dataset_id id = dataset_spec(add_points(tx, true))->id;
    const struct ledger_promise promise = {&id, &before, &principal_local, NULL};
    scene_commit(tx, ledger_grant(scene.context.ledger, tx, &promise, NULL));
    if (check(&error) != ST_OK)
        fail_msg("%s", error.text);
    struct job_id job;
    struct mechanism m;
    struct ledger_entry_name entry;
    mechanism_init(&m, MECHANISM_GAUSSIAN, RELATION_ZERO_OUT,
                   (struct mechanism_run){1, 90, 1});
    job_id_make(&job);
    const struct ledger_claim claim = {&id,           &job, &m, &principal_local,
                                       PARTS_UNNAMED, NULL};
    tx = scene_begin(&scene);
    scene_commit(tx, ledger_reserve(scene.context.ledger, tx, &claim, &entry, NULL));
    mechanism_fini(&m);
    assert_int_equal(check(&error), ST_CORRUPT);
    assert_non_null(strstr(error.text, "its grant is not approved"));
}

/* The row says epsilon 8 at delta 1e-5, under zero_out. */
static void a_dataset_of_another_promise_than_was_granted_is_found(void **state)
{
    (void)state;
    static const struct grant granted[] = {
        {RELATION_ZERO_OUT, 9, 1e-5, 0, {0, 0}, PRIVACY_UNIT_RECORD, 0},
        {RELATION_ZERO_OUT, 8, 1e-4, 0, {0, 0}, PRIVACY_UNIT_RECORD, 0},
        {RELATION_REPLACE_ONE, 8, 1e-5, 0, {0, 0}, PRIVACY_UNIT_RECORD, 0},
        {RELATION_ZERO_OUT, 8, 1e-5, 8, {0, 0}, PRIVACY_UNIT_RECORD, 0},
        {RELATION_ZERO_OUT, 8, 1e-5, 0, {.25, 0}, PRIVACY_UNIT_RECORD, 0}};
    for (size_t i = 0; i < sizeof granted / sizeof *granted; i++) {
        struct error error = {0};
        struct store_tx *tx = scene_begin(&scene);
        const struct dataset *dataset = add_points(tx, false);
        const struct ledger_promise promise = {&dataset_spec(dataset)->id, &granted[i],
                                               &principal_local, NULL};
        scene_commit(tx, ledger_grant(scene.context.ledger, tx, &promise, NULL));
        assert_int_equal(check(&error), ST_CORRUPT);
        assert_non_null(strstr(error.text, "not what the ledger was granted"));
        scene_close(&scene);
        scene_open(&scene);
    }
}

/* Opens the rows that the transaction sees, and closes them again. */
static enum status open_again(struct store_tx *tx, bool reads_all, struct error *error)
{
    struct consistency_check inventory = {0};
    const struct jobs_base base = {.reads_all = reads_all};
    enum status status = consistency_check_open(&inventory, tx, &base, error);
    consistency_check_close(&inventory);
    return status;
}

/* A separate thread reads certificates, and the difference is found all the same. */
static void a_certificate_of_another_model_is_found(void **state)
{
    (void)state;
    char own[128], spoilt[128];
    struct dataset *points = scene_declare(&scene, "points", budget);
    assert_int_equal(scene_import(&scene, points, "0").state, DATASET_READY);
    struct job_plan plan = scene_plan(&scene, "\"name\":\"dpsgd\"", run);
    struct model_row row = {
        .job = *job_id(scene_submit(&scene, &plan, &plan.mechanism)), .size = 1};
    model_id_make(&row.id);
    snprintf(own, sizeof own, "{\"model\":\"%s\",\"job\":\"%s\"}", row.id.text,
             row.job.text);
    snprintf(spoilt, sizeof spoilt, "{\"model\":\"%s\",\"job\":\"%s\",\"x\":tru}",
             row.id.text, row.job.text);
    const struct {
        const char *card;
        enum status start, whole; /* of a start, and of a check that reads all */
    } cards[] = {{own, ST_OK, ST_OK},
                 {"{\"model\":\"mdl_0\",\"job\":\"job_0\"}", ST_CORRUPT, ST_CORRUPT},
                 {"{\"model\":", ST_CORRUPT, ST_CORRUPT},
                 {spoilt, ST_OK, ST_CORRUPT}};
    for (size_t i = 0; i < 2 * sizeof cards / sizeof *cards; i++) {
        struct error error = {0};
        struct store_tx *tx = scene_begin(&scene);
        enum status expected = i % 2 == 0 ? cards[i / 2].start : cards[i / 2].whole;
        row.card = cards[i / 2].card;
        assert_int_equal(model_row_insert(tx, &row, NULL), ST_OK);
        assert_int_equal(open_again(tx, i % 2 == 1, &error), expected);
        store_rollback(tx);
        if (expected == ST_OK)
            continue;
        assert_non_null(strstr(error.text, "table model, row mdl_"));
        assert_non_null(strstr(error.text, row.id.text));
    }
}

/* Runs SQL on the scene's database, in a separate transaction. */
static void run_sql(const char *const *texts)
{
    struct store_tx *tx;
    assert_int_equal(store_begin(scene.context.store, STORE_LEDGER, &tx, NULL), ST_OK);
    for (; *texts != NULL; texts++) {
        struct statement statement;
        statement_open(&statement, store_tx_database(tx), *texts);
        assert_int_equal(statement_run(&statement, NULL), ST_OK);
    }
    assert_int_equal(store_commit(tx, NULL), ST_OK);
}

/* The rows are read at the same time, as at a start. */
static enum status open_beside(struct ledger **ledger, struct error *error)
{
    struct store_tx *tx;
    struct ledger_opening *opening = ledger_opening_begin(scene.context.store);
    assert_int_equal(store_begin(scene.context.store, STORE_READ, &tx, NULL), ST_OK);
    store_rollback(tx);
    return ledger_opening_end(opening, ledger, error);
}

static void a_ledger_read_beside_the_rows_is_the_one_read_alone(void **state)
{
    (void)state;
    static const char *const damage[] = {"DROP TRIGGER ledger_no_update",
                                         "UPDATE ledger SET actor='other' WHERE seq=1",
                                         NULL};
    struct ledger *beside = NULL, *alone = NULL;
    struct ledger_entry_name head, heads[2];
    struct balance balances[2];
    struct error error = {0}, errors[2] = {{0}};
    struct dataset *points = scene_declare(&scene, "points", budget);
    assert_int_equal(scene_import(&scene, points, "0").state, DATASET_READY);
    struct job_plan plan = scene_plan(&scene, "\"name\":\"dpsgd\"", run);
    scene_submit(&scene, &plan, &plan.mechanism);
    ledger_head(scene.context.ledger, &head);
    if (open_beside(&beside, &error) != ST_OK ||
        ledger_open(&alone, scene.context.store, &error) != ST_OK)
        fail_msg("%s", error.text);
    struct ledger *both[] = {beside, alone};
    for (int i = 0; i < 2; i++) {
        ledger_head(both[i], &heads[i]);
        assert_memory_equal(&heads[i], &head, sizeof head);
        assert_int_equal(
            ledger_balance(both[i], &dataset_spec(points)->id, &balances[i], NULL),
            ST_OK);
        ledger_close(both[i]);
    }
    assert_memory_equal(&balances[0].held, &balances[1].held, sizeof balances->held);
    assert_true(balances[0].held.at[0] > 0);
    run_sql(damage);
    beside = NULL;
    assert_int_equal(open_beside(&beside, &errors[0]), ST_CORRUPT);
    assert_int_equal(ledger_open(&alone, scene.context.store, &errors[1]), ST_CORRUPT);
    assert_null(beside);
    assert_string_equal(errors[0].text, errors[1].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_as_the_ledger_was_told_is_good, begin,
                                        end),
        cmocka_unit_test_setup_teardown(
            a_job_of_another_mechanism_than_was_reserved_is_found, begin, end),
        cmocka_unit_test_setup_teardown(
            a_dataset_of_another_promise_than_was_granted_is_found, begin, end),
        cmocka_unit_test_setup_teardown(a_certificate_of_another_model_is_found, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_budget_that_waits_to_be_replaced_is_unused,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_budget_that_nobody_approved_is_found, begin,
                                        end),
        cmocka_unit_test_setup_teardown(
            a_ledger_read_beside_the_rows_is_the_one_read_alone, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
