/* Goal: a dataset is answered as declared, with its current state and nothing that
 * would confirm a record. Method: exact texts. */
#include "tests/expect.h"

#include <string.h>

#include "accountant/pricing/budget_spent.h"
#include "api/views/dataset_view.h"

#define DECLARED                                                                       \
    "\"id\":\"a9a\",\"format\":\"libsvm\",\"task\":\"classification\",\"classes\":2,"  \
    "\"features\":{\"count\":123},\"labels\":[-1.0,1.0],\"privacy\":"
#define BUDGET "{\"epsilon\":1.0,\"delta\":1e-05,\"relation\":\"zero_out\"}"

static const uint8_t digest[SHA256_SIZE] = {0xde, 0xad};

static char *render(const char *privacy, struct dataset_view view)
{
    char body[400];
    struct dataset_spec spec;
    sprintf(body, "{%s%s}", DECLARED, privacy);
    assert_int_equal(dataset_spec_parse(&spec, json_text_of(body), NULL), ST_OK);
    view.spec = &spec;
    char *text = dataset_render(&view);
    dataset_spec_fini(&spec);
    return text;
}

static void a_fresh_dataset_knows_nothing_yet(void **state)
{
    (void)state;
    char *text = render(
        BUDGET, (struct dataset_view){.state = "CREATED", .create_ms = 1767225599999});
    assert_string_equal(text,
                        "{" DECLARED BUDGET ",\"display_name\":null,\"tags\":{}"
                        ",\"state\":\"CREATED\",\"state_reason\":null,\"records\":null,"
                        "\"size\":null,\"unit\":\"record\",\"sha256\":null,"
                        "\"guarantee\":null,\"epochs\":null,\"evaluations\":[],"
                        "\"grant\":null,\"project\":null,\"created_by\":null,\"create_"
                        "time\":\"2025-12-31T23:59:59Z\","
                        "\"import_time\":null}");
    free(text);
}

static void a_summary_has_a_budget_and_no_schema(void **state)
{
    (void)state;
    const struct balance balance = {.epsilon = 1,
                                    .delta = 1e-5,
                                    .epsilon_spent = 0.25,
                                    .epsilon_held = 0.125,
                                    .epsilon_remaining = 0.5,
                                    .fraction_remaining = 0.75,
                                    .capacity = {8, 4},
                                    .weighted = {3, 2}};
    struct dataset_spec spec;
    char body[400];
    sprintf(body, "{%s%s}", DECLARED, BUDGET);
    assert_int_equal(dataset_spec_parse(&spec, json_text_of(body), NULL), ST_OK);
    const struct dataset_view view = {.spec = &spec,
                                      .state = "READY",
                                      .records = 500,
                                      .size = 4096,
                                      .create_ms = 1767225599999,
                                      .balance = &balance};
    char *text = dataset_summary_render(&view);
    static const char expected[] =
        "{\"id\":\"a9a\",\"display_name\":null,\"tags\":{},\"format\":\"libsvm\","
        "\"task\":\"classification\",\"privacy\":" BUDGET
        ",\"state\":\"READY\",\"state_reason\":null,\"records\":500,\"size\":4096,"
        "\"unit\":\"record\",\"budget\":{\"epsilon\":1.0,\"delta\":1e-05,\"frozen\":"
        "false,\"conditional\":false,"
        "\"epsilon_spent\":0.25,\"epsilon_held\":0.125,\"epsilon_remaining\":0.5,"
        "\"fraction_remaining\":0.75,\"share\":{";
    assert_memory_equal(text, expected, strlen(expected));
    assert_non_null(strstr(text, "\"left\":1.0}},\"grant\":null,\"project\":"));
    free(text);
    dataset_spec_fini(&spec);
}

/* With fifteen digits these would be 1, which is refused, and infinity, which is
 * null. */
static void what_was_declared_is_shown_exactly(void **state)
{
    (void)state;
    static const char body[] =
        "{\"id\":\"a\",\"format\":\"libsvm\",\"task\":\"regression\","
        "\"features\":{\"count\":3},\"target\":{\"range\":[0.1,"
        "1.7976931348623157e+308]},\"privacy\":{\"epsilon\":0.30000000000000004,"
        "\"delta\":0.9999999999999999,\"relation\":\"zero_out\"}";
    struct dataset_spec spec;
    char text[sizeof body + 1];
    sprintf(text, "%s}", body);
    assert_int_equal(dataset_spec_parse(&spec, json_text_of(text), NULL), ST_OK);
    char *shown =
        dataset_render(&(struct dataset_view){.spec = &spec, .state = "READY"});
    assert_memory_equal(shown, body, strlen(body));
    free(shown);
    dataset_spec_fini(&spec);
}

static void a_dataset_says_what_its_epochs_promise_together(void **state)
{
    (void)state;
    struct epoch all[2] = {
        {.number = 1, .grant = {.epsilon = 3, .delta = 1e-5}, .frozen = true},
        {.number = 2, .grant = {.epsilon = 0.5, .delta = 1e-6}}};
    for (int e = 0; e < 2; e++)
        assert_int_equal(filter_of(&all[e].filter, &all[e].grant, NULL), ST_OK);
    char *text = render(BUDGET, (struct dataset_view){.state = "CREATED",
                                                      .epochs = &(struct epochs){
                                                          .items = all, .count = 2}});
    assert_non_null(strstr(
        text, "\"guarantee\":{\"epsilon\":3.5,\"delta\":1.1e-05},\"epochs\":["
              "{\"epoch\":1,\"epsilon\":3.0,\"delta\":1e-05,\"frozen\":true},"
              "{\"epoch\":2,\"epsilon\":0.5,\"delta\":1e-06,\"frozen\":false}],"));
    free(text);
}

static const struct dataset_view ready = {.state = "READY",
                                          .records = 32560,
                                          .size = 4096,
                                          .sha256 = digest,
                                          .create_ms = 1767225599999,
                                          .import_ms = 1767225600000};

static void the_digest_of_private_content_is_not_shown(void **state)
{
    (void)state;
    char *text = render(BUDGET, ready);
    assert_non_null(strstr(text, "\"records\":32560,\"size\":4096,"
                                 "\"unit\":\"record\",\"sha256\":null,"));
    assert_null(strstr(text, "dead"));
    free(text);
    text = render("\"public\"", ready);
    assert_non_null(strstr(text, "\"sha256\":\"dead0000"));
    assert_non_null(strstr(text, "\"import_time\":\"2026-01-01T00:00:00Z\""));
    free(text);
}

/* The number of persons is public, and the total size of their rows is not. */
static void the_size_of_persons_rows_is_not_shown(void **state)
{
    (void)state;
    static const char body[] =
        "{\"id\":\"p\",\"format\":\"csv\",\"task\":\"classification\",\"columns\":["
        "{\"name\":\"who\",\"kind\":\"privacy_id\"},"
        "{\"name\":\"x\",\"kind\":\"numeric\",\"range\":[0,1]},"
        "{\"name\":\"y\",\"kind\":\"label\",\"values\":[\"a\",\"b\"]}],"
        "\"privacy\":{\"epsilon\":1,\"delta\":1e-5}}";
    struct dataset_spec spec;
    assert_int_equal(dataset_spec_parse(&spec, json_text_of(body), NULL), ST_OK);
    struct dataset_view view = ready;
    view.spec = &spec;
    char *text = dataset_render(&view), *line = dataset_summary_render(&view);
    static const char shown[] = "\"records\":32560,\"size\":null,\"unit\":\"person\",";
    assert_non_null(strstr(text, shown));
    assert_non_null(strstr(line, shown));
    assert_null(strstr(text, "4096"));
    assert_null(strstr(line, "4096"));
    free(line);
    free(text);
    dataset_spec_fini(&spec);
}

static const struct import_failure failure = {
    ST_IMPORT_FAILED, "data", 17, 3, "column \"age\": the cell is not a number"};

static void why_an_import_failed_is_in_the_owners_answer_alone(void **state)
{
    (void)state;
    static const enum status codes[] = {ST_IMPORT_FAILED, ST_DUPLICATE_CONTENT};
    struct dataset_view view = {.state = "FAILED", .failure = failure};
    for (size_t i = 0; i < 2; i++) {
        view.failure.status = codes[i];
        char *text = render(BUDGET, view);
        assert_non_null(strstr(text, "\"state_reason\":\"import_failed\""));
        assert_null(strstr(text, "age"));
        assert_null(strstr(text, "17"));
        assert_null(strstr(text, "duplicate"));
        free(text);
    }
    view.failure.status = ST_INTERNAL;
    char *text = render(BUDGET, view);
    assert_non_null(strstr(text, "\"state_reason\":\"internal\""));
    free(text);
    view.failure.status = ST_DISK_FULL;
    text = render(BUDGET, view);
    assert_non_null(strstr(text, "\"state_reason\":\"disk_full\""));
    free(text);

    struct dataset_spec spec = {.id = {"a9a"}};
    view.spec = &spec;
    view.failure = failure;
    text = import_render(&view);
    assert_string_equal(
        text, "{\"dataset\":\"a9a\",\"state\":\"FAILED\",\"failure\":{"
              "\"code\":\"import_failed\",\"detail\":\"column \\\"age\\\": the "
              "cell is not a number\",\"file\":\"data\",\"line\":17,"
              "\"column\":3}}");
    free(text);
    view.failure.status = ST_OK;
    text = import_render(&view);
    assert_non_null(strstr(text, "\"failure\":null"));
    free(text);
}

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void expect_same(const struct dataset_detail *a, const struct dataset_detail *b)
{
    assert_true(a->records == b->records && a->size == b->size);
    assert_true(a->import_ms == b->import_ms);
    assert_string_equal(a->rows_sha256, b->rows_sha256);
    assert_int_equal(a->is_shuffled, b->is_shuffled);
    assert_int_equal(a->failure.status, b->failure.status);
    assert_string_equal(a->failure.file, b->failure.file);
    assert_true(a->failure.line == b->failure.line);
    assert_true(a->failure.column == b->failure.column);
    assert_string_equal(a->failure.text, b->failure.text);
}

static void details_read_back(void **state)
{
    (void)state;
    const struct dataset_detail details[] = {
        {.records = 7, .size = 911, .import_ms = 1767225600000, .rows_sha256 = HEX},
        {.records = 7, .size = 911, .rows_sha256 = HEX, .is_shuffled = true},
        {.failure = failure},
        {.failure = {ST_DUPLICATE_CONTENT, "", 0, 0, "as \"a\""}},
        {.failure = {ST_INTERNAL, "", 0, 0, "no disk"}},
        {.failure = {ST_IMPORT_FAILED, "labels", 0, 0, "not uploaded"}},
    };
    struct dataset_detail again;
    for (size_t i = 0; i < sizeof details / sizeof *details; i++) {
        char *text = dataset_detail_render(&details[i]);
        assert_int_equal(dataset_detail_parse(&again, text, NULL), ST_OK);
        expect_same(&again, &details[i]);
        free(text);
    }
    assert_int_equal(dataset_detail_parse(&again, "{}", NULL), ST_INVALID);
    assert_int_equal(dataset_detail_parse(&again, "", NULL), ST_INVALID);
    assert_int_equal(dataset_detail_parse(&again,
                                          "{\"records\":0,\"size\":0,\"import_ms\":0,"
                                          "\"failure\":{\"code\":\"draining\","
                                          "\"detail\":\"\"}}",
                                          NULL),
                     ST_INVALID);
    assert_int_equal(dataset_detail_parse(&again,
                                          "{\"records\":0,\"size\":0,\"import_ms\":0,"
                                          "\"rows_sha256\":\"0123\",\"failure\":null}",
                                          NULL),
                     ST_INVALID);
}

static void details_of_earlier_versions_are_read(void **state)
{
    (void)state;
    struct dataset_detail again;
    const struct dataset_detail failed = {
        .failure = {ST_IMPORT_FAILED, "", 0, 0, "data:2:3: the cell is empty"}};
    const struct dataset_detail good = {.records = 7, .size = 911, .import_ms = 5};
    assert_int_equal(
        dataset_detail_parse(&again,
                             "{\"records\":0,\"size\":0,\"reason\":"
                             "\"data:2:3: the cell is empty\",\"import_ms\":0}",
                             NULL),
        ST_OK);
    expect_same(&again, &failed);
    assert_int_equal(dataset_detail_parse(
                         &again,
                         "{\"records\":7,\"size\":911,\"reason\":\"\",\"import_ms\":5}",
                         NULL),
                     ST_OK);
    expect_same(&again, &good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fresh_dataset_knows_nothing_yet),
        cmocka_unit_test(what_was_declared_is_shown_exactly),
        cmocka_unit_test(a_summary_has_a_budget_and_no_schema),
        cmocka_unit_test(a_dataset_says_what_its_epochs_promise_together),
        cmocka_unit_test(the_digest_of_private_content_is_not_shown),
        cmocka_unit_test(the_size_of_persons_rows_is_not_shown),
        cmocka_unit_test(why_an_import_failed_is_in_the_owners_answer_alone),
        cmocka_unit_test(details_read_back),
        cmocka_unit_test(details_of_earlier_versions_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
