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

static void a_line_of_another_form_is_refused(void **state)
{
    (void)state;
    struct place place = place_make();
    char line[200], path[96];
    struct head head = head_of(12), found;
    bool is_there;
    snprintf(path, sizeof path, "%s/head", place.folder);
    assert_int_equal(head_file_write(path, &head, NULL), ST_OK);
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
    place_remove(&place);
}

static void several_writers_leave_what_is_newest_of_each(void **state)
{
    (void)state;
    struct place place = place_make();
    struct head old = head_of(11), new = head_of(12), found;
    bool is_there = false;
    assert_int_equal(head_file_raise(place.path, &new, NULL), ST_OK);
    expect_head(place.path, 12);
    assert_int_equal(head_file_raise(place.path, &old, NULL), ST_OK);
    expect_head(place.path, 12);
    old.authorised = 5000; /* it knows of fewer entries, and of more steps */
    assert_int_equal(head_file_raise(place.path, &old, NULL), ST_OK);
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
        cmocka_unit_test(several_writers_leave_what_is_newest_of_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
