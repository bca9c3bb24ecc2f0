/* Goal: parts of one download are recognised as one, and told apart from other
 * downloads. */
#include "service/audit/download_events.h"

#include <stdio.h>

#include "tests/expect.h"
#include "tests/service/act_fixture.h"

static void the_same_client_file_and_hour_are_one_download(void **state)
{
    (void)state;
    struct download_events *downloads = download_events_create();
    struct audit_row row = act_of_test;
    row.second = 7200;
    assert_false(download_events_know(downloads, &row));
    download_events_remember(downloads, &row);
    assert_true(download_events_know(downloads, &row));
    row.second = 7200 + 3599;
    assert_true(download_events_know(downloads, &row));
    struct audit_row others[] = {row, row, row, row, row};
    others[0].second = 10800;
    others[1].object = "other";
    others[2].actor = "bob";
    others[3].key = "k9";
    others[4].address = "";
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(download_events_know(downloads, &others[i]));
    download_events_destroy(downloads);
}

static void the_oldest_is_forgotten(void **state)
{
    (void)state;
    struct download_events *downloads = download_events_create();
    char object[16];
    struct audit_row row = act_of_test;
    row.object = object;
    for (int i = 0; i <= DOWNLOAD_EVENTS_KNOWN_MAX; i++) {
        snprintf(object, sizeof object, "o%d", i);
        download_events_remember(downloads, &row);
    }
    assert_true(download_events_know(downloads, &row));
    snprintf(object, sizeof object, "o1");
    assert_true(download_events_know(downloads, &row));
    snprintf(object, sizeof object, "o0");
    assert_false(download_events_know(downloads, &row));
    download_events_destroy(downloads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_client_file_and_hour_are_one_download),
        cmocka_unit_test(the_oldest_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
