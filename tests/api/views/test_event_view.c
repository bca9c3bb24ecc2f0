/* Goal: texts for followers are framed as the HTML standard requires, with one id at
 * the last event of a text; and an id is accepted only if it is ours. */
#include "api/views/event_view.h"

#include <stdlib.h>
#include <string.h>

#include "tests/expect.h"

static const char nonce[] = "0123456789abcdef";

static void events_are_framed_and_the_last_has_the_id(void **state)
{
    (void)state;
    size_t size;
    struct event_writer writer;
    event_writer_open(&writer);
    event_write(&writer, "state", strdup("{\"a\":1}"));
    event_write(&writer, "end", strdup("{}"));
    event_write_id(&writer, nonce, 17);
    char *text = event_writer_close(&writer, &size);
    static const char expected[] = "event: state\ndata: {\"a\":1}\n\n"
                                   "event: end\ndata: {}\nid: 0123456789abcdef-17\n\n";
    assert_int_equal(size, strlen(expected));
    assert_string_equal(text, expected);
    free(text);
}

static void nothing_written_is_nothing(void **state)
{
    (void)state;
    size_t size = 9;
    struct event_writer writer;
    event_writer_open(&writer);
    free(event_writer_close(&writer, &size));
    assert_int_equal(size, 0);
}

static void an_id_is_read_back(void **state)
{
    (void)state;
    uint64_t version = 0;
    assert_true(event_id_parse(&version, "0123456789abcdef-17", nonce));
    assert_true(version == 17);
    assert_true(
        event_id_parse(&version, "0123456789abcdef-9999999999999999999", nonce));
    assert_true(version == UINT64_C(9999999999999999999));
}

static void what_is_no_id_of_ours_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "17",
        "0123456789abcdef",
        "0123456789abcdef-",
        "0123456789abcdef17",
        "0123456789abcdee-17",
        "0123456789abcdef-17 ",
        "0123456789abcdef- 17",
        "0123456789abcdef-+17",
        "0123456789abcdef--17",
        "0123456789abcdef-0x11",
        "0123456789abcdef-10000000000000000000",
        "0123456789abcdef-99999999999999999999999999",
    };
    uint64_t version = 5;
    assert_false(event_id_parse(&version, NULL, nonce));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (event_id_parse(&version, texts[i], nonce))
            fail_msg("taken: %s", texts[i]);
    assert_true(version == 5);
}

static void a_mark_is_read_back_whoever_has_written_it(void **state)
{
    (void)state;
    size_t size;
    uint64_t version = 3;
    struct event_writer writer;
    const struct event_mark written = {4, 0, UINT64_C(9999999999999999999), 2};
    struct event_mark read = {0};
    event_writer_open(&writer);
    event_write(&writer, "end", strdup("{}"));
    event_write_mark(&writer, nonce, 17, &written);
    char *text = event_writer_close(&writer, &size);
    assert_string_equal(text, "event: end\ndata: {}\n"
                              "id: 0123456789abcdef-17-4-0-9999999999999999999-2\n\n");
    free(text);
    static const char id[] = "0123456789abcdef-17-4-0-9999999999999999999-2";
    assert_true(event_mark_parse(&read, &version, id, nonce));
    assert_memory_equal(&read, &written, sizeof read);
    assert_int_equal(version, 17);
    assert_true(event_mark_parse(&read, &version, id, "fedcba9876543210"));
    assert_memory_equal(&read, &written, sizeof read);
    assert_int_equal(version, 0);
    static const char *const wrong[] = {
        "",
        "0123456789abcdef-17",
        "0123456789abcdef-17-4-0-9",
        "0123456789abcdef-17-4-0-9-",
        "0123456789abcdef-17-4-0-9-2-",
        "0123456789abcdef-17-4-0-9-2 ",
        "0123456789abcdef-17-4--9-2",
        "0123456789abcdef-17-4-+0-9-2",
        "0123456789abcde-17-4-0-9-2",
        "0123456789abcdef0-17-4-0-9-2",
        "0123456789abcdeX-17-4-0-9-2",
        "0123456789abcdef-17-4-0-10000000000000000000-2",
    };
    assert_false(event_mark_parse(&read, &version, NULL, nonce));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (event_mark_parse(&read, &version, wrong[i], nonce))
            fail_msg("taken: %s", wrong[i]);
    assert_memory_equal(&read, &written, sizeof read);
}

static struct job_view sample(const struct job_id *id)
{
    return (struct job_view){.id = id,
                             .state = "QUEUED",
                             .steps = 1000,
                             .step = 20,
                             .is_private = true,
                             .epsilon_spent = 0.5,
                             .queue_position = 3};
}

static void expect_text(char *text_take, const char *expected)
{
    assert_string_equal(text_take, expected);
    free(text_take);
}

static void what_is_not_known_is_null(void **state)
{
    (void)state;
    struct job_id id = {"job_01JJZ0000000000000000000AB"};
    struct model_id model = {"mdl_01JJZ0000000000000000000AB"};
    struct job_view view = sample(&id);
    expect_text(event_state_render(&view),
                "{\"id\":\"job_01JJZ0000000000000000000AB\",\"state\":\"QUEUED\","
                "\"state_reason\":null,\"queue_position\":3}");
    expect_text(event_progress_render(&view),
                "{\"id\":\"job_01JJZ0000000000000000000AB\",\"step\":20,\"steps\":1000,"
                "\"epsilon_spent\":0.5,\"seconds_left\":null}");
    view.is_private = false;
    view.seconds_left = 7;
    expect_text(event_progress_render(&view),
                "{\"id\":\"job_01JJZ0000000000000000000AB\",\"step\":20,\"steps\":1000,"
                "\"epsilon_spent\":null,\"seconds_left\":7}");
    expect_text(event_end_render(&view), "{\"state\":\"QUEUED\",\"model\":null}");
    view.model = &model;
    expect_text(event_end_render(&view),
                "{\"state\":\"QUEUED\",\"model\":\"mdl_01JJZ0000000000000000000AB\"}");
    expect_text(event_change_render(&view),
                "{\"id\":\"job_01JJZ0000000000000000000AB\"}");
    expect_text(event_lists_render(NULL), "{\"dataset\":null}");
    expect_text(event_lists_render("mnist"), "{\"dataset\":\"mnist\"}");
}

static void lists_of_what_was_released_come_where_they_are_asked_for(void **state)
{
    (void)state;
    const double norm = 2.5, counts[] = {1, 2.5};
    const struct released_value values[] = {
        {.name = "clip_norm", .count = 1, .numbers = &norm},
        {.name = "histogram", .count = 2, .numbers = counts, .is_list = true}};
    struct released_history *history = released_create(values, 2);
    released_append(history, 40, values);
    const struct job_view view = {.released = history};
    expect_text(event_released_render(&view, 0, false),
                "{\"step\":40,\"clip_norm\":2.5}");
    expect_text(event_released_render(&view, 0, true),
                "{\"step\":40,\"clip_norm\":2.5,\"histogram\":[1.0,2.5]}");
    free(history);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_framed_and_the_last_has_the_id),
        cmocka_unit_test(nothing_written_is_nothing),
        cmocka_unit_test(an_id_is_read_back),
        cmocka_unit_test(a_mark_is_read_back_whoever_has_written_it),
        cmocka_unit_test(what_is_no_id_of_ours_is_refused),
        cmocka_unit_test(what_is_not_known_is_null),
        cmocka_unit_test(lists_of_what_was_released_come_where_they_are_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
