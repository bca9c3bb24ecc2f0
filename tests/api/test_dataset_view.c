/* Goal: a dataset is answered as declared, with what has become of it and nothing that
 * would confirm a record. Method: exact texts. */
#include "tests/expect.h"

#include <string.h>

#include "api/dataset_view.h"

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
    assert_int_equal(dataset_spec_parse(&spec, body, strlen(body), NULL), ST_OK);
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
    assert_string_equal(text, "{" DECLARED BUDGET
                              ",\"state\":\"CREATED\",\"reason\":null,\"records\":null,"
                              "\"size\":null,\"sha256\":null,"
                              "\"create_time\":\"2025-12-31T23:59:59Z\","
                              "\"import_time\":null}");
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
    assert_non_null(strstr(text, "\"records\":32560,\"size\":4096,\"sha256\":null,"));
    assert_null(strstr(text, "dead"));
    free(text);
    text = render("\"public\"", ready);
    assert_non_null(strstr(text, "\"sha256\":\"dead0000"));
    assert_non_null(strstr(text, "\"import_time\":\"2026-01-01T00:00:00Z\""));
    free(text);
}

static void details_read_back(void **state)
{
    (void)state;
    struct dataset_detail again, detail = {.records = 7,
                                           .size = 911,
                                           .reason = "data, line 3: \"x\" is no number",
                                           .import_ms = 1767225600000};
    char *text = dataset_detail_render(&detail);
    assert_int_equal(dataset_detail_parse(&again, text, NULL), ST_OK);
    assert_true(again.records == 7 && again.size == 911);
    assert_string_equal(again.reason, detail.reason);
    assert_true(again.import_ms == detail.import_ms);
    free(text);
    assert_int_equal(dataset_detail_parse(&again, "{}", NULL), ST_INVALID);
    assert_int_equal(dataset_detail_parse(&again, "", NULL), ST_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fresh_dataset_knows_nothing_yet),
        cmocka_unit_test(the_digest_of_private_content_is_not_shown),
        cmocka_unit_test(details_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
