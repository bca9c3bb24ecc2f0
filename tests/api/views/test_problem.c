/* Goal: every failure has one HTTP number and one body that says what to do. Method:
 * the list of api.md 5 written out by hand, and bodies read by jansson. */
#include "tests/expect.h"

#include <jansson.h>
#include <string.h>

#include "api/json/fault.h"
#include "api/views/problem.h"

static const struct {
    const char *code;
    unsigned status;
} listed[] = {
    {"invalid_argument", 400},
    {"idempotency_key_missing", 400},
    {"unit_unsupported", 400},
    {"one_rank_only", 400},
    {"job_too_large", 400},
    {"not_float_safe", 400},
    {"forbidden_origin", 403},
    {"policy_violation", 403},
    {"forbidden", 403},
    {"key_in_query", 400},
    {"untrusted_proxy", 400},
    {"key_missing", 401},
    {"key_malformed", 401},
    {"key_unknown", 401},
    {"key_expired", 401},
    {"session_ended", 401},
    {"key_revoked", 401},
    {"too_many_wrong_keys", 429},
    {"key_ended", 409},
    {"webhook_limit", 409},
    {"not_found", 404},
    {"method_not_allowed", 405},
    {"not_acceptable", 406},
    {"gone", 410},
    {"precondition_failed", 412},
    {"precondition_required", 428},
    {"body_too_large", 413},
    {"uri_too_long", 414},
    {"head_too_large", 431},
    {"unsupported_media_type", 415},
    {"range_not_satisfiable", 416},
    {"expectation_failed", 417},
    {"budget_exhausted", 409},
    {"budget_held", 409},
    {"already_exists", 409},
    {"conflict", 409},
    {"dataset_not_ready", 409},
    {"dataset_busy", 409},
    {"dataset_immutable", 409},
    {"dataset_in_use", 409},
    {"file_in_use", 409},
    {"dataset_private", 409},
    {"grant_pending", 409},
    {"grant_decided", 409},
    {"second_person", 403},
    {"dataset_public", 409},
    {"dataset_frozen", 409},
    {"dataset_not_frozen", 409},
    {"dataset_unavailable", 409},
    {"dataset_order", 409},
    {"charge_ended", 409},
    {"block_granted", 409},
    {"block_out_of_order", 409},
    {"duplicate_content", 409},
    {"upload_busy", 409},
    {"upload_offset", 409},
    {"upload_length", 409},
    {"job_terminal", 409},
    {"job_active", 409},
    {"job_has_model", 409},
    {"idempotency_key_reused", 422},
    {"import_failed", 422},
    {"no_answer", 422},
    {"internal", 500},
    {"model_corrupt", 500},
    {"dataset_corrupt", 500},
    {"queue_full", 503},
    {"disk_full", 503},
    {"draining", 503},
    {"ledger_unavailable", 503},
    {"ok", 200},
    {"needs_refresh", 503},
    {"cancelled", 409},
    {"no_memory", 503},
};

static const enum status statuses[] = {
#define X(symbol, wire, advice) ST_##symbol,
    STATUS_LIST(X)
#undef X
};

static void every_code_has_the_number_of_the_list(void **state)
{
    (void)state;
    for (size_t i = 0; i < STATUS_COUNT; i++) {
        size_t j = 0;
        while (strcmp(listed[j].code, status_wire(statuses[i])) != 0)
            assert_true(++j < sizeof listed / sizeof *listed);
        assert_int_equal(problem_http_status(statuses[i]), listed[j].status);
    }
}

static json_t *render(const struct error *error, const struct problem *problem)
{
    char *text = problem_render(error, problem);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    free(text);
    return root;
}

static const char *text_of(const json_t *root, const char *name)
{
    return json_string_value(json_object_get(root, name));
}

static void every_problem_has_its_members(void **state)
{
    (void)state;
    for (size_t i = 0; i < STATUS_COUNT; i++) {
        struct error error = {.status = statuses[i]};
        json_auto_t *root = render(&error, &(struct problem){.instance = "req_1"});
        char type[80];
        sprintf(type, "urn:epsilond:problem:%s", status_wire(statuses[i]));
        assert_string_equal(text_of(root, "type"), type);
        assert_string_equal(text_of(root, "code"), status_wire(statuses[i]));
        assert_string_equal(text_of(root, "instance"), "req_1");
        assert_string_equal(text_of(root, "advice"), status_advice(statuses[i]));
        assert_string_equal(text_of(root, "detail"), status_advice(statuses[i]));
        assert_true(strlen(text_of(root, "title")) > 0);
        assert_null(strchr(text_of(root, "title"), '_'));
        assert_int_equal(json_integer_value(json_object_get(root, "status")),
                         problem_http_status(statuses[i]));
        assert_true(json_is_boolean(json_object_get(root, "retryable")));
        assert_true(json_is_array(json_object_get(root, "errors")));
    }
}

static void only_what_passes_is_retryable(void **state)
{
    (void)state;
    static const enum status passing[] = {
        ST_BUDGET_HELD, ST_DATASET_BUSY, ST_DATASET_IN_USE, ST_QUEUE_FULL,
        ST_DISK_FULL,   ST_DRAINING,     ST_NO_MEMORY,      ST_IO,
        ST_UPLOAD_BUSY, ST_WRONG_KEYS,   ST_NEEDS_REFRESH};
    for (size_t i = 0; i < STATUS_COUNT; i++) {
        bool passes = false;
        for (size_t j = 0; j < sizeof passing / sizeof *passing; j++)
            passes = passes || passing[j] == statuses[i];
        assert_int_equal(problem_retry_after(statuses[i]) > 0, passes);
    }
}

static void the_member_at_fault_is_named(void **state)
{
    (void)state;
    struct error error = {0};
    error_set_at(&error, ST_INVALID, "/privacy/epsilon", "must be \"%s\"", "above 0");
    json_auto_t *root = render(&error, NULL);
    assert_string_equal(text_of(root, "detail"), "must be \"above 0\"");
    assert_true(json_is_null(json_object_get(root, "instance")));
    json_t *first = json_array_get(json_object_get(root, "errors"), 0);
    assert_string_equal(text_of(first, "pointer"), "/privacy/epsilon");
    assert_string_equal(text_of(first, "detail"), "must be \"above 0\"");
}

static void expect_fault(const json_t *errors, size_t index, const char *pointer,
                         const char *parameter, const char *code)
{
    const json_t *item = json_array_get(errors, index);
    assert_string_equal(text_of(item, "pointer"), pointer);
    assert_string_equal(text_of(item, "code"), code);
    assert_true(strlen(text_of(item, "detail")) > 0);
    if (parameter == NULL)
        assert_true(json_is_null(json_object_get(item, "parameter")));
    else
        assert_string_equal(text_of(item, "parameter"), parameter);
}

static void all_faults_are_listed_and_the_first_is_the_detail(void **state)
{
    (void)state;
    struct faults faults = {0};
    struct error error = {.faults = &faults};
    fault_add(&error, &(struct fault){.kind = FAULT_UNKNOWN,
                                      .pointer = "/a",
                                      .text = "no such member"});
    fault_add(&error, &(struct fault){.kind = FAULT_REPEATED,
                                      .pointer = "?wait",
                                      .text = "stands twice"});
    fault_add(&error, &(struct fault){
                          .kind = FAULT_MISSING, .pointer = "", .text = "is required"});
    assert_string_equal(error.pointer, "/a");
    json_auto_t *root = render(&error, NULL);
    const json_t *errors = json_object_get(root, "errors");
    assert_string_equal(text_of(root, "detail"), "no such member");
    assert_int_equal(json_array_size(errors), 3);
    expect_fault(errors, 0, "/a", NULL, "unknown");
    expect_fault(errors, 1, "", "wait", "repeated");
    expect_fault(errors, 2, "", NULL, "missing");
}

static void faults_are_kept_up_to_their_limit(void **state)
{
    (void)state;
    struct faults faults = {0};
    struct error error = {.faults = &faults};
    for (size_t i = 0; i < LIMIT_FAULTS + 3; i++)
        assert_int_equal(fault_add(&error, &(struct fault){.kind = FAULT_INVALID,
                                                           .pointer = "/a",
                                                           .text = "is wrong"}),
                         ST_INVALID);
    assert_int_equal(faults.count, LIMIT_FAULTS);
    assert_int_equal(fault_add(NULL, &faults.list[0]), ST_INVALID);
    error = (struct error){0};
    fault_add(&error, &faults.list[0]);
    json_auto_t *root = render(&error, NULL);
    expect_fault(json_object_get(root, "errors"), 0, "/a", NULL, "invalid");
}

static void a_failed_import_says_where(void **state)
{
    (void)state;
    struct error error = {0};
    const struct import_failure failure = {ST_IMPORT_FAILED, "data", 17, 0,
                                           "3 cells where 4 columns are declared"};
    error_set(&error, failure.status, "%s", failure.text);
    json_auto_t *root = render(&error, &(struct problem){.failure = &failure});
    assert_string_equal(text_of(root, "file"), "data");
    assert_int_equal(json_integer_value(json_object_get(root, "line")), 17);
    assert_true(json_is_null(json_object_get(root, "column")));
    assert_string_equal(text_of(root, "reason"),
                        "3 cells where 4 columns are declared");
    assert_int_equal(json_array_size(json_object_get(root, "errors")), 0);
}

static void a_refused_budget_says_what_would_fit(void **state)
{
    (void)state;
    struct error error = {.status = ST_BUDGET_EXHAUSTED};
    struct curve needed = {0};
    const double available[] = {0.125, -0.5}, orders[] = {6, 4.5};
    for (size_t i = 0; i < CURVE_ORDERS; i++)
        needed.at[i] = 0.1 * (double)i;
    needed.at[CURVE_ORDERS - 1] = INFINITY;
    struct problem problem = {.has_room = true,
                              .largest_epsilon = 0.1 + 0.2,
                              .has_most_steps = true,
                              .most_steps = 42,
                              .needed = &needed,
                              .available = available,
                              .available_orders = orders};
    json_auto_t *root = render(&error, &problem);
    assert_true(json_real_value(json_object_get(root, "largest_epsilon")) == 0.1 + 0.2);
    assert_int_equal(json_integer_value(json_object_get(root, "most_steps")), 42);
    json_t *grid = json_object_get(root, "orders");
    json_t *curve = json_object_get(root, "needed");
    json_t *free_at = json_object_get(root, "available");
    assert_int_equal(json_array_size(grid), CURVE_ORDERS);
    assert_int_equal(json_array_size(curve), CURVE_ORDERS);
    assert_int_equal(json_array_size(free_at), CURVE_ORDERS);
    assert_true(json_real_value(json_array_get(curve, 3)) == needed.at[3]);
    assert_true(json_is_null(json_array_get(curve, CURVE_ORDERS - 1)));
    for (size_t i = 0; i < CURVE_ORDERS; i++) {
        double order = json_real_value(json_array_get(grid, i));
        json_t *value = json_array_get(free_at, i);
        if (order == 6)
            assert_true(json_real_value(value) == 0.125);
        else if (order == 4.5)
            assert_true(json_real_value(value) == -0.5);
        else
            assert_true(json_is_null(value));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_the_number_of_the_list),
        cmocka_unit_test(every_problem_has_its_members),
        cmocka_unit_test(only_what_passes_is_retryable),
        cmocka_unit_test(the_member_at_fault_is_named),
        cmocka_unit_test(all_faults_are_listed_and_the_first_is_the_detail),
        cmocka_unit_test(faults_are_kept_up_to_their_limit),
        cmocka_unit_test(a_failed_import_says_where),
        cmocka_unit_test(a_refused_budget_says_what_would_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
