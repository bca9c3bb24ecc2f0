/* Goal: a job is answered with exactly the members of api.md 3, and its stored texts
 * read back. Method: the members of B2 in their order, written out here. */
#include "tests/expect.h"

#include <jansson.h>
#include <string.h>

#include "api/requests/job_defaults.h"
#include "api/views/job_view.h"
#include "engine/data/readers/reader_registry.h"

static const struct schema images = {.reader = &idx_reader,
                                     .task = TASK_CLASSIFICATION,
                                     .classes = 10,
                                     .shape_count = 1,
                                     .shape = {784},
                                     .scale = 255};
static const struct job_id id = {"job_01J00000000000000000000000"};
static const struct model_id model = {"mdl_01J00000000000000000000000"};
static const struct model_id drawn = {"mdl_01J11111111111111111111111"};
static const struct evaluation_point points[] = {{413, 0.3125, 0.912},
                                                 {826, 0.25, 0.9375}};

static struct job_request request;

static void resolve(const char *privacy, bool is_public)
{
    char body[500];
    struct job_dataset data = {
        &images, 60000, 0, {0, 0}, is_public, RELATION_ZERO_OUT, is_public ? 0 : 1e-5};
    sprintf(body,
            "{\"dataset\":\"mnist\",\"model\":{\"preset\":\"mlp\"},"
            "\"algorithm\":{\"name\":\"%s\"},\"batch_size\":1024%s}",
            privacy[0] != '\0' ? "dpsgd" : "sgd", privacy);
    assert_int_equal(job_request_parse(&request, json_text_of(body), NULL), ST_OK);
    assert_int_equal(job_defaults_fill(&request, &data, NULL), ST_OK);
}

static struct job_view running(void)
{
    return (struct job_view){.id = &id,
                             .state = "RUNNING",
                             .attempt = 1,
                             .request = &request,
                             .step = 420,
                             .steps = 1172,
                             .is_private = true,
                             .noise_multiplier = 1.485,
                             .sampling_rate = 1024.0 / 60000,
                             .epsilon_planned = 1.99999,
                             .epsilon_spent = 1.32,
                             .authorised_steps = 444,
                             .ledger_seq = 17,
                             .points = points,
                             .point_count = 2,
                             .create_ms = 1767225600000,
                             .start_ms = 1767225601500};
}

static json_t *answer(const struct job_view *view)
{
    char *text = job_render(view);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    free(text);
    return root;
}

static void has_members(const json_t *object, const char *const *names)
{
    size_t count = 0;
    void *at = json_object_iter((json_t *)(uintptr_t)object);
    for (; names[count] != NULL; count++) {
        assert_non_null(at);
        assert_string_equal(json_object_iter_key(at), names[count]);
        at = json_object_iter_next((json_t *)(uintptr_t)object, at);
    }
    assert_null(at);
}

static void a_job_has_the_members_of_the_contract(void **state)
{
    (void)state;
    resolve(",\"epochs\":20,\"privacy\":{\"epsilon\":2}", false);
    struct job_view view = running();
    json_auto_t *root = answer(&view);
    has_members(
        root,
        (const char *const[]){
            "id",        "display_name", "tags",        "state",       "state_reason",
            "attempt",   "dataset",      "evaluation",  "model_spec",  "algorithm",
            "optimizer", "batch_size",   "epochs",      "progress",    "privacy",
            "metrics",   "warnings",     "model",       "traceparent", "sweep",
            "project",   "created_by",   "create_time", "start_time",  "end_time",
            NULL});
    has_members(json_object_get(root, "privacy"),
                (const char *const[]){"relation", "unit", "epsilon", "delta",
                                      "accountant", "noise_multiplier", "sampling_rate",
                                      "authorised_steps", "epsilon_planned",
                                      "epsilon_spent", "ledger_seq", NULL});
    has_members(json_object_get(root, "model_spec"),
                (const char *const[]){"preset", "hidden", "activation", "bias", "loss",
                                      "init_seed", NULL});
    json_t *metrics = json_object_get(root, "metrics");
    json_t *last = json_object_get(metrics, "evaluation");
    has_members(last, (const char *const[]){"step", "accuracy", "loss", NULL});
    assert_int_equal(json_integer_value(json_object_get(last, "step")), 826);
    assert_int_equal(json_array_size(json_object_get(metrics, "history")), 2);
    assert_true(json_is_null(json_object_get(root, "model"))); /* though one is drawn */
    assert_true(json_is_null(json_object_get(root, "evaluation")));
    assert_true(json_is_null(json_object_get(root, "state_reason")));
    assert_true(json_is_null(json_object_get(root, "end_time")));
    job_request_fini(&request);
}

static void figures_have_fifteen_digits(void **state)
{
    (void)state;
    resolve(",\"epochs\":20,\"privacy\":{\"epsilon\":2}", false);
    struct job_view view = running();
    char *text = job_render(&view);
    assert_non_null(strstr(text, "\"sampling_rate\":0.0170666666666667,"));
    assert_non_null(strstr(text, "\"start_time\":\"2026-01-01T00:00:01Z\""));
    free(text);
    job_request_fini(&request);
}

/* With fifteen digits momentum would be 1, which is refused. */
static void what_was_asked_is_shown_exactly(void **state)
{
    (void)state;
    resolve(",\"optimizer\":{\"name\":\"sgd\",\"learning_rate\":0.30000000000000004,"
            "\"momentum\":0.9999999999999999},\"steps\":9,"
            "\"privacy\":{\"epsilon\":0.1000000000000001}",
            false);
    struct job_view view = running();
    char *text = job_render(&view);
    assert_non_null(strstr(text, "\"learning_rate\":0.30000000000000004,"
                                 "\"momentum\":0.9999999999999999"));
    assert_non_null(strstr(text, "\"epsilon\":0.1000000000000001,"));
    assert_non_null(strstr(text, "\"sampling_rate\":0.0170666666666667,"));
    free(text);
    job_request_fini(&request);
}

static void what_was_asked_is_told_from_what_was_planned(void **state)
{
    (void)state;
    struct job_view view = running();
    resolve(",\"steps\":9,\"privacy\":{\"noise_multiplier\":1.485}", false);
    view.epsilon_planned = INFINITY;
    view.ledger_seq = 0;
    json_auto_t *root = answer(&view);
    json_t *privacy = json_object_get(root, "privacy");
    assert_true(json_is_null(json_object_get(privacy, "epsilon")));
    assert_true(json_is_null(json_object_get(privacy, "epsilon_planned")));
    assert_true(json_is_null(json_object_get(privacy, "ledger_seq")));
    assert_null(json_object_get(privacy, "budget_fraction"));
    assert_int_equal(json_integer_value(json_object_get(root, "steps")), 9);
    assert_null(json_object_get(root, "epochs"));
    job_request_fini(&request);
    resolve(",\"privacy\":{\"budget_fraction\":0.5}", false);
    json_auto_t *share = answer(&view);
    privacy = json_object_get(share, "privacy");
    assert_true(json_real_value(json_object_get(privacy, "budget_fraction")) == 0.5);
    job_request_fini(&request);
}

static void a_public_job_has_no_privacy(void **state)
{
    (void)state;
    resolve("", true);
    struct job_view view = running();
    view.is_private = false;
    view.point_count = 0;
    view.model = &model;
    view.state_reason = "user_cancel";
    view.regression = true;
    json_auto_t *root = answer(&view);
    assert_true(json_is_null(json_object_get(root, "privacy")));
    json_t *metrics = json_object_get(root, "metrics");
    assert_true(json_is_null(json_object_get(metrics, "evaluation")));
    assert_int_equal(json_array_size(json_object_get(metrics, "history")), 0);
    assert_string_equal(json_string_value(json_object_get(root, "model")), model.text);
    view.point_count = 1;
    char *text = job_render(&view);
    assert_non_null(strstr(text, "{\"step\":413,\"rmse\":0.912,\"loss\":0.3125}"));
    free(text);
    job_request_fini(&request);
}

static void details_read_back(void **state)
{
    (void)state;
    struct job_detail detail;
    struct error error = {0};
    resolve(",\"privacy\":{\"epsilon\":2}", false);
    struct job_view view = running();
    view.epsilon_planned = INFINITY;
    view.sampling_rate = 1.0 / 3;
    char *text = job_detail_render(&view);
    assert_int_equal(job_detail_parse(&detail, text, &error), ST_OK);
    free(text);
    assert_string_equal(detail.state_reason, "");
    assert_true(detail.step == 420 && detail.authorised_steps == 444);
    assert_true(detail.ledger_seq == 17 && detail.noise_multiplier == 1.485);
    assert_true(detail.sampling_rate == 1.0 / 3 && isinf(detail.epsilon_planned));
    assert_true(detail.epsilon_spent == 1.32 && detail.point_count == 2);
    assert_memory_equal(detail.points, points, sizeof points);
    assert_false(detail.has_model || detail.has_drawn);
    assert_true(detail.start_ms == 1767225601500 && detail.end_ms == 0);
    assert_string_equal(detail.trace.parent, "");
    view.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    view.state_reason = "worker_lost";
    view.model = &model;
    view.drawn = &drawn;
    text = job_detail_render(&view);
    assert_int_equal(job_detail_parse(&detail, text, &error), ST_OK);
    free(text);
    assert_string_equal(detail.state_reason, "worker_lost");
    assert_string_equal(detail.trace.parent, view.traceparent);
    assert_true(detail.has_model);
    assert_string_equal(detail.model.text, model.text);
    assert_true(detail.has_drawn);
    assert_string_equal(detail.drawn.text, drawn.text);
    job_request_fini(&request);
}

/* A line of a list omits the history of a run, which makes an answer long. */
static void a_summary_is_the_job_without_its_course(void **state)
{
    (void)state;
    resolve(",\"epochs\":20,\"privacy\":{\"epsilon\":2}", false);
    struct job_view view = running();
    json_auto_t *whole = answer(&view);
    char *text = job_summary_render(&view);
    json_auto_t *summary = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    free(text);
    json_t *metrics = json_object_get(whole, "metrics");
    assert_int_equal(json_object_del(metrics, "history"), 0);
    assert_int_equal(json_object_del(metrics, "released"), 0);
    assert_true(json_equal(whole, summary));
    assert_false(json_is_null(json_object_get(metrics, "evaluation")));
    job_request_fini(&request);
}

static void what_progress_cannot_tell_is_null(void **state)
{
    (void)state;
    resolve(",\"epochs\":20,\"privacy\":{\"epsilon\":2}", false);
    struct job_view view = running();
    json_auto_t *silent = answer(&view);
    json_t *progress = json_object_get(silent, "progress");
    has_members(progress, (const char *const[]){"step", "steps", "queue_position",
                                                "seconds_left", NULL});
    assert_true(json_is_null(json_object_get(progress, "queue_position")));
    assert_true(json_is_null(json_object_get(progress, "seconds_left")));
    view.queue_position = 7;
    view.seconds_left = 93;
    json_auto_t *told = answer(&view);
    progress = json_object_get(told, "progress");
    assert_int_equal(json_integer_value(json_object_get(progress, "queue_position")),
                     7);
    assert_int_equal(json_integer_value(json_object_get(progress, "seconds_left")), 93);
    job_request_fini(&request);
}

static void a_history_is_limited(void **state)
{
    (void)state;
    static struct evaluation_point many[LIMIT_HISTORY + 1];
    static struct job_detail detail;
    resolve("", true);
    struct job_view view = running();
    view.points = many;
    for (size_t count = LIMIT_HISTORY; count <= LIMIT_HISTORY + 1; count++) {
        view.point_count = count;
        char *text = job_detail_render(&view);
        assert_int_equal(job_detail_parse(&detail, text, NULL),
                         count == LIMIT_HISTORY ? ST_OK : ST_INVALID);
        free(text);
    }
    assert_int_equal(job_detail_parse(&detail, "{\"model\":\"x\"}", NULL), ST_INVALID);
    job_request_fini(&request);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_has_the_members_of_the_contract),
        cmocka_unit_test(figures_have_fifteen_digits),
        cmocka_unit_test(what_was_asked_is_shown_exactly),
        cmocka_unit_test(what_was_asked_is_told_from_what_was_planned),
        cmocka_unit_test(a_public_job_has_no_privacy),
        cmocka_unit_test(details_read_back),
        cmocka_unit_test(a_summary_is_the_job_without_its_course),
        cmocka_unit_test(what_progress_cannot_tell_is_null),
        cmocka_unit_test(a_history_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
