/* Goal: the head file survives a power cut, and only a head is read as one. Method: the
 * order of syncs and renames, each of which fails in turn; lines altered by hand. */
#include "accountant/ledger/head_file.h"

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
                                    13}; /* when sync, rename, folder sync fails */
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
    char line[600];
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
    head.timelines = (struct head_timelines){
        .count = 2, .all = {{head_of(7).entry, 3, true}, {head_of(9).entry, 0, false}}};
    assert_int_equal(head_file_write(place.path, &head, NULL), ST_OK);
    expect_whole_lines_alone(place.path);
    head.receipts =
        (struct receipts){.store = "b7-1", .count = 2, .all = {{17, 240}, {34, 12}}};
    assert_int_equal(head_file_write(place.path, &head, NULL), ST_OK);
    expect_whole_lines_alone(place.path);
    place_remove(&place);
}

static enum status raise_head(const char *path, const struct head *head,
                              const struct receipts *ended);

static void assert_same_timelines(const struct head_timelines *found,
                                  const struct head_timelines *written)
{
    assert_int_equal(found->count, written->count);
    for (size_t i = 0; i < written->count; i++) {
        const struct head_timeline *a = &found->all[i], *b = &written->all[i];
        assert_memory_equal(&a->name, &b->name, sizeof a->name);
        assert_int_equal(a->shared, b->shared);
        assert_int_equal(a->seen, b->seen);
    }
}

/* The longest possible line reads back unchanged. */
static void timelines_and_receipts_have_room(void **state)
{
    (void)state;
    struct place place = place_make();
    struct head head = head_of(UINT32_MAX), found;
    bool is_there = false;
    for (uint64_t i = 0; i < HEAD_TIMELINES_MAX; i++) {
        struct head_timeline timeline = {head_of(UINT64_MAX / 2 - i).entry,
                                         UINT64_MAX / 2, i % 2 == 0};
        assert_true(head_timelines_add(&head.timelines, &timeline));
        assert_true(head_timelines_add(&head.timelines, &timeline)); /* already there */
    }
    struct head_timeline more = {head_of(1).entry, 0, true};
    assert_false(head_timelines_add(&head.timelines, &more));
    memset(head.receipts.store, 'b', sizeof head.receipts.store - 1);
    head.receipts.count = RECEIPTS_MAX;
    for (uint64_t i = 0; i < RECEIPTS_MAX; i++)
        head.receipts.all[i] =
            (struct commit_watermark){UINT64_MAX - i, UINT64_MAX / 2};
    assert_int_equal(head_file_write(place.path, &head, NULL), ST_OK);
    assert_int_equal(head_file_read(place.path, &found, &is_there, NULL), ST_OK);
    assert_same_timelines(&found.timelines, &head.timelines);
    assert_memory_equal(&found.receipts, &head.receipts, sizeof found.receipts);
    struct head other = head_of(1);
    head_timelines_add(&other.timelines, &more);
    sync_trace_start(0);
    assert_int_equal(raise_head(place.path, &other, NULL), ST_INVALID);
    place_remove(&place);
}

static uint64_t receipt_of(const struct head *head, uint64_t daemon)
{
    for (size_t i = 0; i < head->receipts.count; i++)
        if (head->receipts.all[i].daemon == daemon)
            return head->receipts.all[i].count;
    return 0;
}

static enum status raise_head(const char *path, const struct head *head,
                              const struct receipts *ended)
{
    const struct chain_links none = {0};
    return head_file_raise(path, &(struct head_raise){head, &none, false, ended}, NULL);
}

static void raise_with(const char *path, const char *store,
                       struct commit_watermark receipt, struct head *found)
{
    bool is_there = false;
    struct head head = head_of(12);
    head.receipts = (struct receipts){.count = 1, .all = {receipt}};
    snprintf(head.receipts.store, sizeof head.receipts.store, "%s", store);
    sync_trace_start(0); /* the trace is short */
    assert_int_equal(raise_head(path, &head, NULL), ST_OK);
    assert_int_equal(head_file_read(path, found, &is_there, NULL), ST_OK);
}

static void the_greatest_receipt_of_each_daemon_stays(void **state)
{
    (void)state;
    struct place place = place_make();
    struct head found;
    raise_with(place.path, "a", (struct commit_watermark){17, 5}, &found);
    raise_with(place.path, "a", (struct commit_watermark){34, 9}, &found);
    raise_with(place.path, "a", (struct commit_watermark){17, 4}, &found);
    assert_int_equal(found.receipts.count, 2);
    assert_int_equal(receipt_of(&found, 17), 5);
    assert_int_equal(receipt_of(&found, 34), 9);
    for (uint64_t more = 1; more < RECEIPTS_MAX; more++)
        raise_with(place.path, "a", (struct commit_watermark){100 + more, 1}, &found);
    assert_int_equal(found.receipts.count, RECEIPTS_MAX);
    assert_int_equal(receipt_of(&found, 17), 0); /* later daemons' receipts cover it */
    assert_int_equal(receipt_of(&found, 34), 9);
    raise_with(place.path, "b", (struct commit_watermark){3, 1},
               &found); /* another database */
    assert_int_equal(found.receipts.count, 1);
    place_remove(&place);
}

/* A daemon that runs for long while many are started after it. */
static void a_daemon_never_drops_its_own_receipt(void **state)
{
    (void)state;
    struct place place = place_make();
    struct head found;
    for (uint64_t later = 1; later <= RECEIPTS_MAX; later++)
        raise_with(place.path, "a", (struct commit_watermark){100 + later, 1}, &found);
    raise_with(place.path, "a", (struct commit_watermark){17, 5}, &found);
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
        raise_with(place.path, "a", (struct commit_watermark){100 + daemon, 1}, &found);
    head.receipts = (struct receipts){.store = "a", .count = 1, .all = {{300, 2}}};
    assert_int_equal(raise_head(place.path, &head, &ended), ST_OK);
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
    assert_int_equal(raise_head(place.path, &new, NULL), ST_OK);
    expect_head(place.path, 12);
    assert_int_equal(raise_head(place.path, &old, NULL), ST_OK);
    expect_head(place.path, 12);
    old.authorised = 5000; /* it knows fewer entries, and more steps */
    assert_int_equal(raise_head(place.path, &old, NULL), ST_OK);
    assert_int_equal(head_file_read(place.path, &found, &is_there, NULL), ST_OK);
    assert_int_equal(found.entry.seq, 12);
    assert_memory_equal(found.entry.hash, new.entry.hash, SHA256_SIZE);
    assert_int_equal(found.authorised, 5000);
    place_remove(&place);
}

static struct chain_links links_of(uint64_t from, uint64_t to)
{
    struct chain_links links = {0};
    for (uint64_t seq = from; seq <= to; seq++)
        chain_links_add(&links, &(struct chain_link){head_of(seq).entry, seq % 5 == 0});
    return links;
}

static size_t links_at(const char *path, uint64_t seq)
{
    struct chain_links links;
    struct head head = head_of(seq);
    assert_int_equal(head_file_links(path, &head, &links, NULL), ST_OK);
    size_t count = links.count;
    chain_links_fini(&links);
    return count;
}

static void an_entry_is_in_the_chain_before_the_line_names_it(void **state)
{
    (void)state;
    struct place place = place_make();
    struct head head = head_of(12);
    struct chain_links links = links_of(1, 12);
    sync_trace_start(0);
    assert_int_equal(head_file_append(place.path, &head, &links, NULL), ST_OK);
    assert_string_equal(sync_trace, "ffrd");
    assert_int_equal(links_at(place.path, 12), 12);
    assert_int_equal(links_at(place.path, 7), 7);
    assert_int_equal(links_at(place.path, 13), 0); /* not known */
    sync_trace_start(1);
    struct chain_links more = links_of(11, 14);
    head = head_of(14);
    assert_int_equal(head_file_append(place.path, &head, &more, NULL), ST_IO);
    expect_head(place.path, 12);
    sync_trace_start(0);
    assert_int_equal(head_file_append(place.path, &head, &more, NULL), ST_OK);
    expect_head(place.path, 14);
    assert_int_equal(links_at(place.path, 14), 14);
    chain_links_fini(&more);
    chain_links_fini(&links);
    place_remove(&place);
}

static void another_history_takes_the_line_before_the_chain(void **state)
{
    (void)state;
    static const uint64_t left[] = {12, 12, 3, 3, 3, 3};
    for (size_t call = 1; call <= 6; call++) {
        struct place place = place_make();
        struct head old = head_of(12), new = head_of(3);
        struct chain_links before = links_of(1, 12), after = links_of(2, 3);
        sync_trace_start(0);
        assert_int_equal(head_file_append(place.path, &old, &before, NULL), ST_OK);
        sync_trace_start(call);
        assert_int_equal(head_file_replace(place.path, &new, &after, NULL), ST_IO);
        expect_head(place.path, left[call - 1]);
        assert_true(links_at(place.path, left[call - 1]) >= 2);
        sync_trace_start(0);
        assert_int_equal(head_file_replace(place.path, &new, &after, NULL), ST_OK);
        assert_int_equal(links_at(place.path, 3), 2);
        chain_links_fini(&before);
        chain_links_fini(&after);
        place_remove(&place);
    }
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
        cmocka_unit_test(timelines_and_receipts_have_room),
        cmocka_unit_test(an_entry_is_in_the_chain_before_the_line_names_it),
        cmocka_unit_test(another_history_takes_the_line_before_the_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
