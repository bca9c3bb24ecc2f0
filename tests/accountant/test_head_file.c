/* Goal: the head kept elsewhere outlives a power cut, and nothing but a head is read as
 * one. Method: the order of syncs and renames, each of which fails in turn; lines altered
 * by hand. */
#include "accountant/head_file.h"

#include "tests/expect.h"
#include "tests/store/place_fixture.h"
#include "tests/sync_trace_fixture.h"

static struct head head_of(uint64_t seq)
{
    struct head head = {.entry = {.seq = seq}, .authorised = 3400 + seq};
    for (size_t i = 0; i < SHA256_SIZE; i++)
        head.entry.hash[i] = (uint8_t)(37 * i + seq);
    return head;
}

static void expect_head(const char *path, uint64_t seq)
{
    struct head found = {.authorised = 1}, expected = head_of(seq);
    bool is_there = false;
    assert_int_equal(head_file_read(path, &found, &is_there, NULL), ST_OK);
    assert_true(is_there);
    assert_int_equal(found.entry.seq, expected.entry.seq);
    assert_memory_equal(found.entry.hash, expected.entry.hash, SHA256_SIZE);
    assert_int_equal(found.authorised, expected.authorised);
}

static void a_head_is_synced_before_it_takes_its_name_and_its_folder_after(void **state)
{
    (void)state;
    struct place place = place_make();
    struct head head = head_of(12);
    sync_trace_start(0);
    assert_int_equal(head_file_write(place.path, &head, NULL), ST_OK);
    assert_string_equal(sync_trace, "frd");
    expect_head(place.path, 12);
    place_remove(&place);
}

static void a_write_that_was_not_made_durable_is_a_failure(void **state)
{
    (void)state;
    static const uint64_t left[] = {12, 12,
                                    13}; /* after the sync, the rename, the sync */
    for (size_t call = 1; call <= 3; call++) {
        struct place place = place_make();
        struct error error = {0};
        struct head head = head_of(12);
        assert_int_equal(head_file_write(place.path, &head, NULL), ST_OK);
        head = head_of(13);
        sync_trace_start(call);
        assert_int_equal(head_file_write(place.path, &head, &error), ST_IO);
        assert_non_null(strstr(error.text, place.path));
        expect_head(place.path, left[call - 1]);
        sync_trace_start(0);
        assert_int_equal(head_file_write(place.path, &head, NULL), ST_OK);
        expect_head(place.path, 13);
        place_remove(&place);
    }
}

static void no_file_is_no_head(void **state)
{
    (void)state;
    struct place place = place_make();
    struct head head;
    bool is_there = true;
    assert_int_equal(head_file_read(place.path, &head, &is_there, NULL), ST_OK);
    assert_false(is_there);
    place_remove(&place);
}

static void expect_whole_lines_alone(const char *path)
{
    char line[200];
    struct head found;
    bool is_there;
    assert_int_equal(head_file_read(path, &found, &is_there, NULL), ST_OK);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    for (size_t cut = 0; cut < strlen(line); cut++) {
        file = fopen(path, "w");
        assert_non_null(file);
        assert_int_equal(fwrite(line, 1, cut, file), cut);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(head_file_read(path, &found, &is_there, NULL), ST_CORRUPT);
    }
}

static void a_line_of_another_form_is_refused(void **state)
{
    (void)state;
    struct place place = place_make();
    struct head head = head_of(12);
    assert_int_equal(head_file_write(place.path, &head, NULL), ST_OK);
    expect_whole_lines_alone(place.path);
    head.receipts =
        (struct receipts){.store = "b7-1", .count = 2, .all = {{17, 240}, {34, 12}}};
    assert_int_equal(head_file_write(place.path, &head, NULL), ST_OK);
    expect_whole_lines_alone(place.path);
    place_remove(&place);
}

static uint64_t receipt_of(const struct head *head, uint64_t daemon)
{
    for (size_t i = 0; i < head->receipts.count; i++)
        if (head->receipts.all[i].daemon == daemon)
            return head->receipts.all[i].count;
    return 0;
}

static void raise_with(const char *path, const char *store, struct receipt receipt,
                       struct head *found)
{
    bool is_there = false;
    struct head head = head_of(12);
    head.receipts = (struct receipts){.count = 1, .all = {receipt}};
    snprintf(head.receipts.store, sizeof head.receipts.store, "%s", store);
    sync_trace_start(0); /* it is short */
    assert_int_equal(head_file_raise(path, &head, NULL, NULL), ST_OK);
    assert_int_equal(head_file_read(path, found, &is_there, NULL), ST_OK);
}

static void the_greatest_receipt_of_each_daemon_stays(void **state)
{
    (void)state;
    struct place place = place_make();
    struct head found;
    raise_with(place.path, "a", (struct receipt){17, 5}, &found);
    raise_with(place.path, "a", (struct receipt){34, 9}, &found);
    raise_with(place.path, "a", (struct receipt){17, 4}, &found);
    assert_int_equal(found.receipts.count, 2);
    assert_int_equal(receipt_of(&found, 17), 5);
    assert_int_equal(receipt_of(&found, 34), 9);
    for (uint64_t more = 1; more < RECEIPTS_MAX; more++)
        raise_with(place.path, "a", (struct receipt){100 + more, 1}, &found);
    assert_int_equal(found.receipts.count, RECEIPTS_MAX);
    assert_int_equal(receipt_of(&found, 17), 0); /* those that began later say it too */
    assert_int_equal(receipt_of(&found, 34), 9);
    raise_with(place.path, "b", (struct receipt){3, 1}, &found); /* another database */
    assert_int_equal(found.receipts.count, 1);
    place_remove(&place);
}

/* A daemon that lives long beside many that are started after it. */
static void a_daemon_never_drops_its_own_receipt(void **state)
{
    (void)state;
    struct place place = place_make();
    struct head found;
    for (uint64_t later = 1; later <= RECEIPTS_MAX; later++)
        raise_with(place.path, "a", (struct receipt){100 + later, 1}, &found);
    raise_with(place.path, "a", (struct receipt){17, 5}, &found);
    assert_int_equal(found.receipts.count, RECEIPTS_MAX);
    assert_int_equal(receipt_of(&found, 17), 5);
    assert_int_equal(receipt_of(&found, 101), 0);
    place_remove(&place);
}

static void the_receipts_of_those_that_have_ended_make_room(void **state)
{
    (void)state;
    struct place place = place_make();
    bool is_there = false;
    struct head found, head = head_of(12);
    struct receipts ended = {.store = "a", .count = 2, .all = {{102, 1}, {999, 1}}};
    for (uint64_t daemon = 1; daemon <= RECEIPTS_MAX; daemon++)
        raise_with(place.path, "a", (struct receipt){100 + daemon, 1}, &found);
    head.receipts = (struct receipts){.store = "a", .count = 1, .all = {{300, 2}}};
    assert_int_equal(head_file_raise(place.path, &head, &ended, NULL), ST_OK);
    assert_int_equal(head_file_read(place.path, &found, &is_there, NULL), ST_OK);
    assert_int_equal(found.receipts.count, RECEIPTS_MAX);
    assert_int_equal(receipt_of(&found, 101), 1);
    assert_int_equal(receipt_of(&found, 102), 0);
    assert_int_equal(receipt_of(&found, 300), 2);
    place_remove(&place);
}

static void several_writers_leave_what_is_newest_of_each(void **state)
{
    (void)state;
    struct place place = place_make();
    struct head old = head_of(11), new = head_of(12), found;
    bool is_there = false;
    assert_int_equal(head_file_raise(place.path, &new, NULL, NULL), ST_OK);
    expect_head(place.path, 12);
    assert_int_equal(head_file_raise(place.path, &old, NULL, NULL), ST_OK);
    expect_head(place.path, 12);
    old.authorised = 5000; /* it knows of fewer entries, and of more steps */
    assert_int_equal(head_file_raise(place.path, &old, NULL, NULL), ST_OK);
    assert_int_equal(head_file_read(place.path, &found, &is_there, NULL), ST_OK);
    assert_int_equal(found.entry.seq, 12);
    assert_memory_equal(found.entry.hash, new.entry.hash, SHA256_SIZE);
    assert_int_equal(found.authorised, 5000);
    place_remove(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_head_is_synced_before_it_takes_its_name_and_its_folder_after),
        cmocka_unit_test(a_write_that_was_not_made_durable_is_a_failure),
        cmocka_unit_test(no_file_is_no_head),
        cmocka_unit_test(a_line_of_another_form_is_refused),
        cmocka_unit_test(the_greatest_receipt_of_each_daemon_stays),
        cmocka_unit_test(a_daemon_never_drops_its_own_receipt),
        cmocka_unit_test(the_receipts_of_those_that_have_ended_make_room),
        cmocka_unit_test(several_writers_leave_what_is_newest_of_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
