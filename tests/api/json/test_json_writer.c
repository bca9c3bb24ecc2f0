/* Goal: the writer's output is JSON, reads back to the same values, and shows no more
 * digits than requested. Method: exact texts, and jansson as the independent reader. */
#include "tests/expect.h"

#include <jansson.h>
#include <string.h>

#include "api/json/json_writer.h"
#include "base/random.h"

static struct json_writer writer;

static void open_array(enum json_digits digits)
{
    json_writer_open(&writer, digits);
    json_write_array(&writer, NULL);
}

static void close_array(const char *expected)
{
    json_write_array_end(&writer);
    char *text = json_writer_close(&writer);
    assert_string_equal(text, expected);
    free(text);
}

static void members_keep_their_order_and_commas(void **state)
{
    (void)state;
    json_writer_open(&writer, JSON_SHOWN);
    json_write_object(&writer, NULL);
    json_write_object(&writer, "a");
    json_write_object_end(&writer);
    json_write_array(&writer, "b");
    json_write_count(&writer, NULL, 7);
    json_write_flag(&writer, NULL, false);
    json_write_array(&writer, NULL);
    json_write_array_end(&writer);
    json_write_array_end(&writer);
    json_write_raw(&writer, "c", "[1.50]");
    json_write_text(&writer, "d", NULL);
    json_write_real_if(&writer, false, "e", 2.5);
    json_write_count_if(&writer, true, "f", UINT64_MAX);
    json_write_object_end(&writer);
    char *text = json_writer_close(&writer);
    assert_string_equal(text, "{\"a\":{},\"b\":[7,false,[]],\"c\":[1.50],\"d\":null,"
                              "\"e\":null,\"f\":18446744073709551615}");
    free(text);
}

static void reals_have_the_digits_asked_for(void **state)
{
    (void)state;
    static const double values[] = {2, 0.1, 1.0 / 3, 1e-5, 1e300, -0.0, 5e-324};
    open_array(JSON_SHOWN);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        json_write_real(&writer, NULL, values[i]);
    close_array("[2.0,0.1,0.333333333333333,1e-05,1e+300,-0.0,4.94065645841247e-324]");
    open_array(JSON_EXACT);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        json_write_real(&writer, NULL, values[i]);
    close_array("[2.0,0.1,0.3333333333333333,1e-05,1e+300,-0.0,4.94065645841247e-324]");
}

static void exact_reals_read_back_to_the_same_double(void **state)
{
    (void)state;
    for (int i = 0; i < 20000; i++) {
        double value, back;
        random_bytes(&value, sizeof value);
        if (!isfinite(value))
            continue;
        open_array(JSON_EXACT);
        json_write_real(&writer, NULL, value);
        json_write_array_end(&writer);
        char *text = json_writer_close(&writer);
        json_auto_t *root = json_loads(text, 0, NULL);
        back = json_real_value(json_array_get(root, 0));
        assert_memory_equal(&back, &value, sizeof back);
        free(text);
    }
}

static void what_is_not_finite_is_null(void **state)
{
    (void)state;
    open_array(JSON_SHOWN);
    json_write_real(&writer, NULL, INFINITY);
    json_write_real(&writer, NULL, -INFINITY);
    json_write_real(&writer, NULL, NAN);
    json_write_time(&writer, NULL, 0);
    json_write_digest(&writer, NULL, NULL);
    close_array("[null,null,null,null,null]");
}

static void times_are_whole_seconds(void **state)
{
    (void)state;
    open_array(JSON_SHOWN);
    json_write_time(&writer, NULL, INT64_C(1767225599999)); /* date -d @1767225599 */
    close_array("[\"2025-12-31T23:59:59Z\"]");
}

static void strings_are_escaped(void **state)
{
    (void)state;
    open_array(JSON_SHOWN);
    json_write_text(&writer, NULL, "a\"b\\c\n\t\x01\x7f/");
    json_write_text(&writer, NULL, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    close_array("[\"a\\\"b\\\\c\\n\\u0009\\u0001\\u007f/\","
                "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"]");
}

/* jansson refuses text that is not UTF-8: a reader gets valid text for any input
 * bytes. */
static void any_bytes_become_valid_text(void **state)
{
    (void)state;
    static const char *const broken[] = {
        "\xff",     "\xc3",         "\xe2\x82",         "\xf0\x9f\x98",
        "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "ok\x80ok"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken + 5000; i++) {
        char bytes[24] = "";
        if (i < sizeof broken / sizeof *broken)
            strcpy(bytes, broken[i]);
        else
            random_bytes(bytes, sizeof bytes - 1);
        open_array(JSON_SHOWN);
        json_write_text(&writer, NULL, bytes);
        json_write_array_end(&writer);
        char *text = json_writer_close(&writer);
        json_auto_t *root = json_loads(text, 0, NULL);
        assert_non_null(root);
        if (i < sizeof broken / sizeof *broken)
            assert_non_null(strstr(text, "\xef\xbf\xbd"));
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_keep_their_order_and_commas),
        cmocka_unit_test(reals_have_the_digits_asked_for),
        cmocka_unit_test(exact_reals_read_back_to_the_same_double),
        cmocka_unit_test(what_is_not_finite_is_null),
        cmocka_unit_test(times_are_whole_seconds),
        cmocka_unit_test(strings_are_escaped),
        cmocka_unit_test(any_bytes_become_valid_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
