/* Goal: what is asked of a model's evaluation is parsed as it is meant, refused at the
 * member at fault, and stored as it was parsed. Method: tables of bodies. */
#include "api/requests/evaluation_request.h"

#include <stdlib.h>
#include <string.h>

#include "tests/expect.h"

static enum status parse(struct model_evaluation_request *request, const char *body,
                         struct error *error)
{
    return model_evaluation_request_parse(request, json_text_of(body), error);
}

static void a_body_names_a_public_dataset_or_a_holdout(void **state)
{
    (void)state;
    static const struct {
        const char *body, *public, *dataset;
        double epsilon, error_clip;
    } cases[] = {
        {"{\"evaluation\":\"open\"}", "open", NULL, 0, 0},
        {"{\"evaluation\":{\"holdout\":true,\"epsilon\":0.5}}", NULL, NULL, 0.5, 0},
        {"{\"evaluation\":{\"holdout\":true,\"epsilon\":2,\"error_clip\":3},"
         "\"dataset\":\"other\"}",
         NULL, "other", 2, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct model_evaluation_request request = {0};
        assert_int_equal(parse(&request, cases[i].body, NULL), ST_OK);
        assert_int_equal(request.evaluation.on_public, cases[i].public != NULL);
        assert_int_equal(request.evaluation.measurement.is_asked,
                         cases[i].public == NULL);
        assert_int_equal(request.has_dataset, cases[i].dataset != NULL);
        if (cases[i].public != NULL)
            assert_string_equal(request.evaluation.public.text, cases[i].public);
        if (cases[i].dataset != NULL)
            assert_string_equal(request.dataset.text, cases[i].dataset);
        assert_true(request.evaluation.measurement.epsilon == cases[i].epsilon);
        assert_true(request.evaluation.measurement.error_clip == cases[i].error_clip);
    }
}

static void a_bad_body_is_refused_at_its_member(void **state)
{
    (void)state;
    static const struct {
        const char *body, *pointer;
    } cases[] = {
        {"{}", "/evaluation"},
        {"{\"evaluation\":null}", "/evaluation"},
        {"{\"evaluation\":\"No Id\"}", "/evaluation"},
        {"{\"evaluation\":7}", "/evaluation"},
        {"{\"evaluation\":{}}", "/evaluation/holdout"},
        {"{\"evaluation\":{\"holdout\":false,\"epsilon\":1}}", "/evaluation/holdout"},
        {"{\"evaluation\":{\"holdout\":true}}", "/evaluation/epsilon"},
        {"{\"evaluation\":{\"holdout\":true,\"epsilon\":0}}", "/evaluation/epsilon"},
        {"{\"evaluation\":{\"holdout\":true,\"epsilon\":1e9}}", "/evaluation/epsilon"},
        {"{\"evaluation\":{\"holdout\":true,\"epsilon\":1,\"error_clip\":0}}",
         "/evaluation/error_clip"},
        {"{\"evaluation\":{\"holdout\":true,\"epsilon\":1,\"delta\":1e-5}}",
         "/evaluation/delta"},
        {"{\"evaluation\":\"open\",\"dataset\":\"other\"}", "/dataset"},
        {"{\"evaluation\":\"open\",\"looks\":2}", "/looks"},
        {"[]", ""},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct model_evaluation_request request = {0};
        struct error error = {0};
        if (parse(&request, cases[i].body, &error) != ST_INVALID ||
            strcmp(error.pointer, cases[i].pointer) != 0)
            fail_msg("%s: \"%s\" %s", cases[i].body, error.pointer, error.text);
        assert_false(request.evaluation.on_public);
        assert_false(request.evaluation.measurement.is_asked);
    }
}

static void what_is_stored_reads_back_to_itself(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"model\":\"mdl_01M8M6YWEZ8J7FGF49V29ZD2QQ\",\"evaluation\":\"open\"}",
        "{\"model\":\"mdl_01M8M6YWEZ8J7FGF49V29ZD2QQ\",\"evaluation\":{\"holdout\":"
        "true,"
        "\"epsilon\":0.1}}",
        "{\"model\":\"mdl_01M8M6YWEZ8J7FGF49V29ZD2QQ\",\"evaluation\":{\"holdout\":"
        "true,"
        "\"epsilon\":0.1,\"error_clip\":2.5}}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct model_evaluation_kept kept = {0};
        assert_int_equal(model_evaluation_kept_parse(&kept, texts[i], NULL), ST_OK);
        char *text = model_evaluation_kept_render(&kept);
        assert_string_equal(text, texts[i]);
        free(text);
    }
}

static void a_damaged_row_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "", "{}",
        "{\"model\":\"job_01M8M6YWEZ8J7FGF49V29ZD2QQ\",\"evaluation\":\"open\"}",
        "{\"model\":\"mdl_01M8M6YWEZ8J7FGF49V29ZD2QQ\"}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct model_evaluation_kept kept = {0};
        assert_int_equal(model_evaluation_kept_parse(&kept, texts[i], NULL),
                         ST_INVALID);
        assert_string_equal(kept.model.text, "");
    }
}

static void a_measurement_must_suit_its_dataset(void **state)
{
    (void)state;
    static const struct {
        uint32_t classes, holdout;
        enum task task;
        double clip, resolved;
        const char *pointer; /* NULL: it suits */
    } cases[] = {
        {2, 1, TASK_CLASSIFICATION, 0, 0, NULL},
        {2, 0, TASK_CLASSIFICATION, 0, 0, "/evaluation/holdout"},
        {2, 1, TASK_CLASSIFICATION, 1, 0, "/evaluation/error_clip"},
        {100000, 1, TASK_CLASSIFICATION, 0, 0, "/evaluation/holdout"},
        {0, 1, TASK_REGRESSION, 0, 2.5, NULL},
        {0, 1, TASK_REGRESSION, 10, 10, NULL},
        {0, 1, TASK_REGRESSION, 10.5, 0, "/evaluation/error_clip"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct schema schema = {.task = cases[i].task,
                                      .classes = cases[i].classes,
                                      .has_target_range = true,
                                      .target_low = -5,
                                      .target_high = 5};
        const struct division division = {.holdout = cases[i].holdout * 0.2};
        struct job_measurement asked = {true, 1, cases[i].clip};
        struct error error = {0};
        enum status status =
            job_measurement_resolve(&asked, &schema, &division, &error);
        if (cases[i].pointer == NULL) {
            assert_int_equal(status, ST_OK);
            assert_true(asked.error_clip == cases[i].resolved);
            continue;
        }
        assert_int_equal(status, ST_INVALID);
        assert_string_equal(error.pointer, cases[i].pointer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_names_a_public_dataset_or_a_holdout),
        cmocka_unit_test(a_bad_body_is_refused_at_its_member),
        cmocka_unit_test(what_is_stored_reads_back_to_itself),
        cmocka_unit_test(a_damaged_row_is_refused),
        cmocka_unit_test(a_measurement_must_suit_its_dataset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
