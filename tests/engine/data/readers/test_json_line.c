/* Goal: a line is read as RFC 8259 says, each number with its own digits, and anything
 * else is refused at its place. Method: tables; and lines in which bytes were changed at
 * random, which jansson accepts if and only if they are accepted here, with the same
 * members. */
#include "tests/expect.h"

#include <jansson.h>
#include <string.h>

#include "engine/data/readers/json_line.h"
#include "tests/engine/draw_fixture.h"

enum { TEXT_MAX = 512 };

struct lines_read {
    char text[TEXT_MAX];
    struct json_line rest;
};

static void begin(struct lines_read *read, const char *text, size_t size)
{
    assert_in_range(size, 0, TEXT_MAX);
    memcpy(read->text, text, size);
    read->rest = json_line_at(&(struct line){read->text, size, 1});
}

/* --- tables --- */

#define CELL(text)                                                                     \
    {                                                                                  \
        text, sizeof text - 1                                                          \
    }

static void a_value_is_its_own_text(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        struct cell value;
    } cases[] = {
        {"\"\"", CELL("")},
        {"\"a b\"", CELL("a b")},
        {"null", CELL("")},
        {"true", CELL("true")},
        {"false", CELL("false")},
        {"0", CELL("0")},
        {"-0", CELL("-0")},
        {"1.50", CELL("1.50")},
        {"1E+2", CELL("1E+2")},
        {"-0.1e-07", CELL("-0.1e-07")},
        {"12345678901234567890123", CELL("12345678901234567890123")},
        {"0.1000000000000000055511151231257827", CELL("0.100000000000000005551115123125"
                                                      "7827")},
        {"1e999", CELL("1e999")}, /* the column decides */
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", CELL("\"\\/\b\f\n\r\t")},
        {"\"\\u0041\\u00e9\\u20AC\"", CELL("A\xc3\xa9\xe2\x82\xac")},
        {"\"\\uD83D\\uDe00\"", CELL("\xf0\x9f\x98\x80")},
        {"\"x\\u0000y\"", CELL("x\0y")},
        {"\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\x7f\"",
         CELL("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\x7f")},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lines_read read;
        struct json_member member;
        char line[TEXT_MAX];
        begin(&read, line,
              (size_t)sprintf(line, " {\t\"n\\u0061me\" :%s } ", cases[i].json));
        if (!json_line_next(&read.rest, &member))
            fail_msg("%s: %s", cases[i].json, read.rest.fault);
        assert_int_equal(member.name.size, 4);
        assert_memory_equal(member.name.text, "name", 4);
        assert_int_equal(member.name_at, 4);
        assert_int_equal(member.value_at, 17);
        assert_int_equal(member.value.size, cases[i].value.size);
        assert_memory_equal(member.value.text, cases[i].value.text, member.value.size);
        assert_false(json_line_next(&read.rest, &member));
        assert_null(read.rest.fault);
    }
}

static void what_is_no_object_is_refused_at_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        size_t place;
        const char *fault;
    } cases[] = {
        {"", 1, "begin with {"},
        {"x,y", 1, "begin with {"},
        {" [1]", 2, "begin with {"},
        {"\"a\"", 1, "begin with {"},
        {"{", 2, "ends inside the object"},
        {"{\"a\"", 5, "a colon"},
        {"{\"a\":", 6, "must be a text in quotes"},
        {"{\"a\":1", 7, "ends inside the object"},
        {"{\"a\":1,", 8, "ends inside the object"},
        {"{\"a\":1,}", 8, "name in quotes"},
        {"{,", 2, "name in quotes"},
        {"{a:1}", 2, "name in quotes"},
        {"{'a':1}", 2, "name in quotes"},
        {"{\"a\" 1}", 6, "a colon"},
        {"{\"a\":1 \"b\":2}", 8, "a comma or }"},
        {"{\"a\":1}{", 8, "goes on behind"},
        {"{} x", 4, "goes on behind"},
        {"{\"a\":[1]}", 6, "an array or an object"},
        {"{\"a\":{}}", 6, "an array or an object"},
        {"{\"a\":NaN}", 6, "must be a text in quotes"},
        {"{\"a\":tru}", 6, "must be a text in quotes"},
        {"{\"a\":True}", 6, "must be a text in quotes"},
        {"{\"a\":truex}", 10, "a comma or }"},
        {"{\"a\":+1}", 6, "must be a text in quotes"},
        {"{\"a\":.5}", 6, "must be a text in quotes"},
        {"{\"a\":01}", 7, "a comma or }"},
        {"{\"a\":-}", 7, "a digit"},
        {"{\"a\":1.}", 8, "a digit"},
        {"{\"a\":1e}", 8, "a digit"},
        {"{\"a\":1e+}", 9, "a digit"},
        {"{\"a\":0x1}", 7, "a comma or }"},
        {"{\"a\":1_0}", 7, "a comma or }"},
        {"{\"a\":\"x", 8, "ends inside a text"},
        {"{\"a\":\"x\\", 9, "a backslash"},
        {"{\"a\":\"\\x\"}", 8, "a backslash"},
        {"{\"a\":\"\x01\"}", 7, "control character"},
        {"{\"a\":\"\t\"}", 7, "control character"},
        {"{\"a\":\"\\u12g4\"}", 11, "four hexadecimal"},
        {"{\"a\":\"\\u12", 11, "four hexadecimal"},
        {"{\"a\":\"\\ud83d\"}", 13, "half of a character"},
        {"{\"a\":\"\\ud83d\\n\"}", 13, "half of a character"},
        {"{\"a\":\"\\ud83d\\u0041\"}", 19, "half of a character"},
        {"{\"a\":\"\\ud83d\\ud83d\"}", 19, "half of a character"},
        {"{\"a\":\"\\ude00\"}", 13, "half of a character"},
        {"{\"a\":\"\xff\"}", 9, "not UTF-8"},
        {"{\"a\":\"\xc0\x80\"}", 10, "not UTF-8"},
        {"{\"a\":\"\xed\xa0\x80\"}", 11, "not UTF-8"},
        {"{\"\xc3\":1}", 5, "not UTF-8"},
        {"{\"a\":1}\f", 8, "goes on behind"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lines_read read;
        struct json_member member;
        begin(&read, cases[i].line, strlen(cases[i].line));
        while (json_line_next(&read.rest, &member))
            continue;
        if (read.rest.fault == NULL || strstr(read.rest.fault, cases[i].fault) == NULL)
            fail_msg("%s: %s", cases[i].line,
                     read.rest.fault != NULL ? read.rest.fault : "no fault");
        if (json_line_place(&read.rest) != cases[i].place)
            fail_msg("%s: %zu", cases[i].line, json_line_place(&read.rest));
    }
}

/* --- jansson --- */

/* Returns whether the value that jansson has read is that cell. */
static bool is_same(const json_t *value, struct cell cell)
{
    char *end;
    char text[TEXT_MAX + 1];
    memcpy(text, cell.text, cell.size);
    text[cell.size] = '\0';
    switch (json_typeof(value)) {
    case JSON_STRING:
        return json_string_length(value) == cell.size &&
               memcmp(json_string_value(value), cell.text, cell.size) == 0;
    case JSON_INTEGER: return json_integer_value(value) == strtoll(text, &end, 10);
    case JSON_REAL: return json_real_value(value) == strtod(text, &end);
    case JSON_TRUE: return strcmp(text, "true") == 0;
    case JSON_FALSE: return strcmp(text, "false") == 0;
    case JSON_NULL: return cell.size == 0;
    case JSON_ARRAY:
    case JSON_OBJECT: return false;
    }
    return false;
}

/* Compares what is read here with what jansson reads. */
static void compare(const char *text, size_t size, size_t *accepted)
{
    struct lines_read read;
    struct json_member member;
    json_error_t error;
    size_t members = 0;
    bool same = true, flat = true;
    const char *key;
    json_t *value;
    json_auto_t *object =
        json_loadb(text, size, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &error);
    if (object == NULL && (json_error_code(&error) == json_error_numeric_overflow ||
                           json_error_code(&error) == json_error_duplicate_key ||
                           json_error_code(&error) == json_error_null_byte_in_key))
        return; /* the reader of the file decides these */
    json_object_foreach(object, key, value) flat =
        flat && !json_is_array(value) && !json_is_object(value);
    begin(&read, text, size);
    while (json_line_next(&read.rest, &member)) {
        char name[TEXT_MAX + 1];
        memcpy(name, member.name.text, member.name.size);
        name[member.name.size] = '\0';
        value = json_object_get(object, name);
        same = same && value != NULL && is_same(value, member.value);
        members++;
    }
    const bool expected = json_is_object(object) && flat;
    if (expected != (read.rest.fault == NULL))
        fail_msg("%.*s: %s", (int)size, text,
                 read.rest.fault != NULL ? read.rest.fault : "accepted");
    if (!expected)
        return;
    assert_true(same);
    assert_int_equal(members, json_object_size(object));
    ++*accepted;
}

static void changed_lines_are_read_as_by_jansson(void **state)
{
    (void)state;
    static const char *const seeds[] = {
        "{\"a\":1,\"b\":\"x\\u00e9\\n\",\"c\":null,\"d\":true,\"e\":-0.5e-3}",
        "{ \"\\ud83d\\ude00\" : \"\xf0\x9f\x98\x80\xc3\xa9\" , \"\" : 1E5 }",
        "{\"a\":[1],\"b\":{}}",
    };
    static const char bytes[] = "{}[]\",:\\u0019aefnrtdD8-+. \t\xc3\xa9\xed\xff\x01";
    uint64_t seed = 28;
    size_t accepted = 0;
    for (int i = 0; i < 200000; i++) {
        const char *from = seeds[draw_below(&seed, 3)];
        char text[TEXT_MAX];
        size_t size = strlen(from);
        memcpy(text, from, size);
        for (uint64_t k = draw_below(&seed, 4); k > 0 && size > 1; k--) {
            const size_t at = draw_below(&seed, size);
            if (draw_below(&seed, 3) == 0) {
                memmove(text + at, text + at + 1, --size - at);
                continue;
            }
            text[at] = bytes[draw_below(&seed, sizeof bytes - 1)];
        }
        compare(text, size, &accepted);
    }
    assert_in_range(accepted, 30000, 170000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_is_its_own_text),
        cmocka_unit_test(what_is_no_object_is_refused_at_its_place),
        cmocka_unit_test(changed_lines_are_read_as_by_jansson),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
