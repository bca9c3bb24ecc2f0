/* Goal: the report of an import reaches only the key that sent the files and began the
 * import, once and in time. */
#include <string.h>

#include "tests/expect.h"
#include "base/clock.h"
#include "base/principal.h"
#include "engine/data/readers/import_report.h"
#include "engine/data/readers/reader_registry.h"
#include "service/ingest/import_reports.h"
#include "service/ingest/upload_senders.h"
#include "store/blobs/blob_name.h"

static char n_age[] = "age";
static struct column columns[] = {{.name = n_age, .kind = COLUMN_NUMERIC, .high = 1}};
static const struct schema schema = {
    .reader = &csv_reader, .column_count = 1, .columns = columns};

static const struct principal ana = {.name = "ana", .key = "aaaaaaaa"};
static const struct principal ana_elsewhere = {.name = "ana", .key = "bbbbbbbb"};
static const struct principal ben = {.name = "ben", .key = "cccccccc"};

/* A report that has one fault. */
static struct import_report *report_of(void)
{
    struct import_report *report = import_report_create(&schema);
    assert_non_null(report);
    import_report_add_line(report, 7, 0, (struct cell){0}, "a fault");
    return report;
}

static void a_report_is_taken_once_and_only_by_its_key(void **state)
{
    (void)state;
    struct import_reports *reports = import_reports_create();
    import_reports_await(reports, "people", &ana);
    assert_true(import_reports_awaits(reports, "people"));
    assert_false(import_reports_awaits(reports, "others"));
    assert_null(import_reports_take(reports, "people", &ana)); /* it has not ended */
    import_reports_put(reports, "people", report_of());
    assert_false(import_reports_awaits(reports, "people"));
    assert_null(import_reports_take(reports, "people", &ana_elsewhere));
    assert_null(import_reports_take(reports, "people", &ben));
    assert_null(import_reports_take(reports, "others", &ana));
    struct import_report *report = import_reports_take(reports, "people", &ana);
    assert_non_null(report);
    assert_int_equal(report->lines[0].line, 7);
    assert_null(import_reports_take(reports, "people", &ana));
    import_report_destroy(report);
    import_reports_destroy(reports);
}

static void a_report_that_nobody_awaits_is_dropped(void **state)
{
    (void)state;
    struct import_reports *reports = import_reports_create();
    import_reports_put(reports, "people", report_of());
    assert_null(import_reports_take(reports, "people", &ana));
    import_reports_await(reports, "people", &ana);
    import_reports_drop(reports, "people");
    import_reports_put(reports, "people", report_of());
    assert_null(import_reports_take(reports, "people", &ana));
    /* The import of another key replaces what waits for the first one. */
    import_reports_await(reports, "people", &ana);
    import_reports_put(reports, "people", report_of());
    import_reports_await(reports, "people", &ana_elsewhere);
    assert_null(import_reports_take(reports, "people", &ana));
    import_reports_destroy(reports);
}

static void a_report_that_nobody_takes_expires(void **state)
{
    (void)state;
    const int64_t now = clock_monotonic_ns();
    struct import_reports *reports = import_reports_create();
    import_reports_await(reports, "people", &ana);
    import_reports_put(reports, "people", report_of());
    import_reports_expire(reports, now + INT64_C(1000000000) * (2 * REPORT_KEPT_S));
    assert_null(import_reports_take(reports, "people", &ana));
    for (int i = 0; i <= REPORTS_MAX; i++) {
        char id[16];
        snprintf(id, sizeof id, "d%d", i);
        import_reports_await(reports, id, &ana);
        import_reports_put(reports, id, report_of());
    }
    assert_null(import_reports_take(reports, "d0", &ana)); /* it has made room */
    struct import_report *report = import_reports_take(reports, "d1", &ana);
    assert_non_null(report);
    import_report_destroy(report);
    import_reports_destroy(reports);
}

static void the_sender_of_a_file_is_the_last_key_that_sent_it(void **state)
{
    (void)state;
    struct upload_senders *senders = upload_senders_create();
    const struct dataset_id id = {"people"}, other = {"others"};
    const struct blob_name data = blob_of_dataset(&id, BLOB_DATA);
    const struct blob_name labels = blob_of_dataset(&id, BLOB_LABELS);
    const struct blob_name elsewhere = blob_of_dataset(&other, BLOB_DATA);
    assert_false(upload_senders_is(senders, &data, &ana));
    upload_senders_note(senders, &data, &ana);
    assert_true(upload_senders_is(senders, &data, &ana));
    assert_false(upload_senders_is(senders, &data, &ana_elsewhere));
    assert_false(upload_senders_is(senders, &data, &ben));
    assert_false(upload_senders_is(senders, &labels, &ana));
    assert_false(upload_senders_is(senders, &elsewhere, &ana));
    upload_senders_note(senders, &data, &ana_elsewhere);
    assert_false(upload_senders_is(senders, &data, &ana));
    assert_true(upload_senders_is(senders, &data, &ana_elsewhere));
    upload_senders_forget(senders, &data);
    assert_false(upload_senders_is(senders, &data, &ana_elsewhere));
    upload_senders_note(senders, &labels, &ana);
    for (int i = 0; i < UPLOAD_SENDERS_MAX; i++) {
        struct dataset_id many;
        snprintf(many.text, sizeof many.text, "d%d", i);
        const struct blob_name name = blob_of_dataset(&many, BLOB_DATA);
        upload_senders_note(senders, &name, &ben);
    }
    assert_false(upload_senders_is(senders, &labels, &ana)); /* it has made room */
    upload_senders_destroy(senders);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_report_is_taken_once_and_only_by_its_key),
        cmocka_unit_test(a_report_that_nobody_awaits_is_dropped),
        cmocka_unit_test(a_report_that_nobody_takes_expires),
        cmocka_unit_test(the_sender_of_a_file_is_the_last_key_that_sent_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
