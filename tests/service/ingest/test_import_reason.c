/* Goal: the owner of a dataset reads where and why its import failed, and no one else
 * learns that it failed. */
#include "service/ingest/import_reason.h"

#include <string.h>

#include "base/principal.h"
#include "tests/expect.h"

static void only_the_owner_reads_where_and_why_an_import_failed(void **state)
{
    (void)state;
    static const struct principal ward = {.name = "ward", .project = "fraud"},
                                  mallory = {.name = "mallory", .project = "fraud"};
    static const struct import_failure bad = {.status = ST_IMPORT_FAILED,
                                              .text = "no number",
                                              .file = "data",
                                              .line = 3,
                                              .column = 2};
    static const struct import_failure clash = {.status = ST_DUPLICATE_CONTENT,
                                                .text = "those of \"patients\""};
    static const struct import_failure full = {.status = ST_DISK_FULL,
                                               .text = "no room"};
    assert_int_equal(import_reason_for(&bad, &ward, &ward).line, 3);
    assert_string_equal(import_reason_for(&bad, &ward, &ward).text, bad.text);
    struct import_failure shown = import_reason_for(&bad, &ward, &mallory);
    assert_int_equal(shown.status, ST_OK);
    assert_true(shown.line == 0 && shown.column == 0 && shown.file[0] == '\0');
    assert_string_equal(shown.text, "");
    shown = import_reason_for(&bad, &principal_local, &mallory);
    assert_true(shown.line == 0 && shown.column == 0 && shown.file[0] == '\0');
    assert_null(strstr(shown.text, bad.text));
    assert_non_null(strstr(shown.text, "another id"));
    assert_int_equal(import_reason_for(&bad, &principal_local, &principal_local).line,
                     3);

    assert_string_equal(import_reason_for(&clash, &ward, &ward).text, clash.text);
    shown = import_reason_for(&clash, &ward, &mallory);
    assert_int_equal(shown.status, ST_OK);
    assert_string_equal(shown.text, "");
    assert_int_equal(import_reason_for(&full, &ward, &mallory).status, ST_OK);
}

static void failures_of_the_service_are_kept_only_as_such(void **state)
{
    (void)state;
    static const struct import_failure private_path = {.status = ST_IO,
                                                       .text = "open /secret: no"};
    struct import_failure kept = import_reason_kept(&private_path);
    assert_int_equal(kept.status, ST_INTERNAL);
    assert_null(strstr(kept.text, "secret"));
    static const struct import_failure full = {.status = ST_DISK_FULL,
                                               .text = "/secret"};
    kept = import_reason_kept(&full);
    assert_int_equal(kept.status, ST_DISK_FULL);
    assert_null(strstr(kept.text, "secret"));
    static const struct import_failure bad = {.status = ST_IMPORT_FAILED, .text = "no"};
    assert_string_equal(import_reason_kept(&bad).text, "no");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_owner_reads_where_and_why_an_import_failed),
        cmocka_unit_test(failures_of_the_service_are_kept_only_as_such),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
