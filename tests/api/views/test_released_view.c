/* Goal: what a job released is shown and stored unchanged, and no other text is
 * accepted. Method: two points through both texts; details broken one by one. */
#include "api/views/released_view.h"

#include <string.h>

#include "tests/expect.h"

static const double first[] = {0.7, 1.4, 12.25, -3.5, 1.0 / 3};
static const double second[] = {1.365, 2.73, 0.125, 8, -1e-3};

static void values_of(struct released_value values[RELEASED_SERIES_MAX],
                      const double *numbers)
{
    values[0] = (struct released_value){"clip_norm", numbers, 1, false};
    values[1] = (struct released_value){"range", numbers + 1, 1, false};
    values[2] = (struct released_value){"histogram", numbers + 2, 3, true};
}

static struct released_history *history_of_two(void)
{
    struct released_value values[RELEASED_SERIES_MAX];
    values_of(values, first);
    struct released_history *history = released_create(values, 3);
    released_append(history, 4, values);
    values_of(values, second);
    released_append(history, 9, values);
    return history;
}

static char *shown(const struct released_history *history, size_t count)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_SHOWN);
    released_write(&writer, NULL, history, count);
    return json_writer_close(&writer);
}

static char *stored(const struct released_history *history, size_t count)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    released_write_detail(&writer, NULL, history, count);
    return json_writer_close(&writer);
}

static enum status parse(struct released_history **history, const char *text)
{
    struct json_reader reader;
    struct json_node root;
    *history = NULL;
    if (json_reader_open(&reader, &root, json_text_of(text), NULL) == ST_OK)
        *history = released_read(root);
    return json_reader_close(&reader);
}

static void points_are_shown_by_name(void **state)
{
    (void)state;
    struct released_history *history = history_of_two();
    char *text = shown(history, 2);
    assert_string_equal(
        text, "[{\"step\":4,\"clip_norm\":0.7,\"range\":1.4,\"histogram\":[12.25,-3.5,"
              "0.333333333333333]},{\"step\":9,\"clip_norm\":1.365,\"range\":2.73,"
              "\"histogram\":[0.125,8.0,-0.001]}]");
    free(text);
    text = shown(history, 0);
    assert_string_equal(text, "[]");
    free(text);
    text = shown(NULL, 0);
    assert_string_equal(text, "[]");
    free(text);
    free(history);
}

static void what_is_stored_reads_back(void **state)
{
    (void)state;
    struct released_history *history = history_of_two(), *again;
    char *text = stored(history, 2);
    assert_int_equal(parse(&again, text), ST_OK);
    assert_int_equal(again->point_count, 2);
    assert_int_equal(again->width, 5);
    assert_memory_equal(again->points, history->points, 12 * sizeof(double));
    char *repeated = stored(again, 2);
    assert_string_equal(text, repeated);
    free(repeated);
    free(text);
    free(again);
    text = stored(NULL, 0);
    assert_string_equal(text, "null");
    free(text);
    free(history);
}

static void a_history_has_room_for_its_limit(void **state)
{
    (void)state;
    struct released_value values[RELEASED_SERIES_MAX];
    values_of(values, first);
    struct released_history *history = released_create(values, 3), *again;
    for (uint64_t step = 1; step <= LIMIT_HISTORY; step++)
        released_append(history, step, values);
    char *text = stored(history, LIMIT_HISTORY);
    assert_int_equal(parse(&again, text), ST_OK);
    assert_int_equal(again->point_count, LIMIT_HISTORY);
    free(again);
    free(text);
    free(history);
}

static void broken_details_are_refused(void **state)
{
    (void)state;
    static const char *const broken[] = {
        "[]",
        "{}",
        "{\"series\":[],\"points\":[]}",
        "{\"series\":[[\"a\",1,false]]}",
        "{\"series\":[[\"a\",0,false]],\"points\":[]}",
        "{\"series\":[[\"a\",2,false]],\"points\":[]}",
        "{\"series\":[[\"a\",81,true]],\"points\":[]}",
        "{\"series\":[[\"a\",50,true],[\"b\",50,true]],\"points\":[]}",
        "{\"series\":[[\"a\",1]],\"points\":[]}",
        "{\"series\":[[\"a\",1,false]],\"points\":[[1]]}",
        "{\"series\":[[\"a\",1,false]],\"points\":[[1,2,3]]}",
        "{\"series\":[[\"a\",1,false]],\"points\":[[-1,2]]}",
        "{\"series\":[[\"a\",1,false]],\"points\":[[1,\"2\"]]}",
        "{\"series\":[[\"a\",1,false]],\"points\":[],\"more\":1}",
        "{\"series\":[[\"a name that is longer than any name could be\",1,false]],"
        "\"points\":[]}",
        "{\"series\":[[\"a\",1,false],[\"b\",1,false],[\"c\",1,false],[\"d\",1,false],"
        "[\"e\",1,false]],\"points\":[]}",
    };
    for (size_t k = 0; k < sizeof broken / sizeof *broken; k++) {
        struct released_history *history;
        if (parse(&history, broken[k]) != ST_INVALID || history != NULL)
            fail_msg("read: %s", broken[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_shown_by_name),
        cmocka_unit_test(what_is_stored_reads_back),
        cmocka_unit_test(a_history_has_room_for_its_limit),
        cmocka_unit_test(broken_details_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
