/* Goal: a job takes its ranges only from statistics that its submitter may see, that
 * belong to its own dataset and have answers. Method: rows of statistics, put into the
 * store of a service. */
#include "service/datasets/datasets.h"
#include "tests/expect.h"

#include "service/planning/dp_ranges.h"
#include "tests/service/service_fixture.h"

#define HASH "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define ANSWERS                                                                        \
    "[{\"kind\":\"quantiles\",\"column\":\"x\",\"quantiles\":[{\"probability\":0.1,"   \
    "\"value\":0.25},{\"probability\":0.9,\"value\":0.75}]}]"

static void insert(struct scene *scene, const char *id, const char *dataset,
                   const char *state)
{
    const char *answers = strcmp(state, "SUCCEEDED") == 0 ? ANSWERS : "";
    struct statistics_row row = {
        .dataset = dataset,
        .state = state,
        .reason = strcmp(state, "FAILED") == 0 ? "worker_lost" : "",
        .ledger_seq = 7,
        .spec = "[]",
        .guarantee = "{\"reserve\":{\"seq\":7,\"hash\":\"" HASH "\"}}",
        .answers = answers,
        .create_ms = 1000,
        .end_ms = answers[0] != '\0' ? 2000 : 0,
        .created_by = "local"};
    snprintf(row.id.text, sizeof row.id.text, "%s", id);
    struct store_tx *tx = scene_begin(scene);
    scene_commit(tx, statistics_row_insert(tx, &row, NULL));
}

static enum status find(struct scene *scene, const char *id,
                        const struct principal *principal,
                        struct scaling_request *scaling, struct error *error)
{
    const struct dataset *points = datasets_find(scene->context.datasets, "points");
    *scaling = (struct scaling_request){0};
    snprintf(scaling->statistics.text, sizeof scaling->statistics.text, "%s", id);
    return dp_ranges_find(&scene->context, principal, scaling, dataset_spec(points),
                          error);
}

#define GOOD    "sta_01JJZ0000000000000000000AA"
#define OTHER   "sta_01JJZ0000000000000000000AB"
#define RUNNING "sta_01JJZ0000000000000000000AC"
#define FAILED  "sta_01JJZ0000000000000000000AD"
#define NOTHING "sta_01JJZ0000000000000000000AE"

static void begin(struct scene *scene)
{
    scene_open(scene);
    scene_declare(scene, "points", "{\"epsilon\":2,\"delta\":1e-5}");
    scene_declare(scene, "other", "{\"epsilon\":2,\"delta\":1e-5}");
    insert(scene, GOOD, "points", "SUCCEEDED");
    insert(scene, OTHER, "other", "SUCCEEDED");
    insert(scene, RUNNING, "points", "RUNNING");
    insert(scene, FAILED, "points", "FAILED");
}

static void what_was_released_is_found_and_cited(void **state)
{
    (void)state;
    struct scene scene;
    struct scaling_request scaling;
    begin(&scene);
    assert_int_equal(find(&scene, GOOD, &principal_local, &scaling, NULL), ST_OK);
    assert_int_equal(scaling.ranges.count, 1);
    assert_string_equal(scaling.ranges.items[0].column, "x");
    assert_true(scaling.ranges.items[0].low == 0.25 &&
                scaling.ranges.items[0].high == 0.75);
    assert_int_equal(scaling.reserve_seq, 7);
    assert_string_equal(scaling.reserve_hash, HASH);
    scaling_request_fini(&scaling);
    assert_int_equal(find(&scene, "", &principal_local, &scaling, NULL), ST_OK);
    assert_int_equal(scaling.ranges.count, 0);
    scene_close(&scene);
}

static void nothing_else_is_taken(void **state)
{
    static const struct {
        const char *id;
        enum status status;
        const char *why;
    } bad[] = {
        {OTHER, ST_INVALID, "of another dataset, \"other\""},
        {RUNNING, ST_INVALID, "no answers: they are RUNNING"},
        {FAILED, ST_INVALID, "no answers: they are FAILED"},
        {NOTHING, ST_NOT_FOUND, NOTHING},
    };
    (void)state;
    struct scene scene;
    begin(&scene);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct scaling_request scaling;
        struct error error = {0};
        assert_int_equal(find(&scene, bad[i].id, &principal_local, &scaling, &error),
                         bad[i].status);
        assert_string_equal(error.pointer, "/scaling/statistics");
        assert_non_null(strstr(error.text, bad[i].why));
        assert_int_equal(scaling.ranges.count, 0);
    }
    scene_close(&scene);
}

/* Not even which statistics exist. */
static void a_stranger_learns_nothing_of_them(void **state)
{
    static const struct principal stranger = {
        .name = "mallory", .project = "elsewhere", .role = ROLE_ANALYST};
    (void)state;
    struct scene scene;
    struct scaling_request scaling;
    struct error seen = {0}, missing = {0};
    begin(&scene);
    assert_int_equal(find(&scene, GOOD, &stranger, &scaling, &seen), ST_NOT_FOUND);
    assert_int_equal(scaling.ranges.count, 0);
    assert_int_equal(find(&scene, NOTHING, &stranger, &scaling, &missing),
                     ST_NOT_FOUND);
    assert_string_equal(seen.pointer, missing.pointer);
    assert_string_equal(seen.text, "no statistics \"" GOOD "\"");
    assert_string_equal(missing.text, "no statistics \"" NOTHING "\"");
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_released_is_found_and_cited),
        cmocka_unit_test(nothing_else_is_taken),
        cmocka_unit_test(a_stranger_learns_nothing_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
