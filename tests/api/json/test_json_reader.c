/* Goal: the reader accepts nothing that a strict reader of RFC 8259 and of our limits
 * would refuse, and each refusal points at the place. Method: tables of texts. */
#include "tests/expect.h"

#include <string.h>

#include "api/json/json_reader.h"
#include "api/limits.h"
#include "tests/api/verdict_fixture.h"

static struct json_reader reader;
static struct json_node root;
static struct faults faults;
static struct error error;

static enum status open_text(const char *text)
{
    faults.count = 0;
    error = (struct error){.faults = &faults};
    return json_reader_open(&reader, &root, json_text_of(text), &error);
}

/* Opens text, which must be JSON; the caller then reads it and calls refused_at. */
static void open_json(const char *text)
{
    assert_int_equal(open_text(text), ST_OK);
}

static void refused_at(const char *pointer)
{
    assert_int_equal(json_reader_close(&reader), ST_INVALID);
    assert_string_equal(error.pointer, pointer);
    assert_int_equal(error.status, ST_INVALID);
    assert_true(strlen(error.text) > 0);
}

static void accepted(void)
{
    assert_int_equal(json_reader_close(&reader), ST_OK);
}

static void what_is_not_json_is_refused_where_it_stops(void **state)
{
    (void)state;
    static const struct {
        const char *text, *pointer;
    } cases[] = {
        {"", ""},
        {"nonsense", ""},
        {"{", ""},
        {"{\"a\":1}x", ""},
        {"{\"a\":1,}", ""},
        {"{\"a\":}", "/a"},
        {"{\"a\":[1,]}", "/a/1"},
        {"{\"a\":NaN}", "/a"},
        {"{\"a\":Infinity}", "/a"},
        {"{\"a\":1e999}", "/a"},
        {"{\"a\":-1e999}", "/a"},
        {"{\"a\":[0,{\"b/c~d\":1e400}]}", "/a/1/b~1c~0d"},
        {"{\"a\":01}", "/a"},
        {"{\"a\":+1}", "/a"},
        {"{\"a\":.5}", "/a"},
        {"{\"a\":0x10}", "/a"},
        {"{\"a\":'x'}", "/a"},
        {"{\"a\":1,\"a\":1}", "/a"},
        {"{\"p\":{\"a\":1,\"b\":2,\"a\":3}}", "/p/a"},
        {"{\"a\":\"\\u0000\"}", "/a"},
        {"{\"a\":\"\\ud800\"}", "/a"},
        {"{\"a\":\"\xff\"}", "/a"},
        {"{\"a\":\"\xc0\x80\"}", "/a"},
        {"{\"a\":\"line\nbreak\"}", "/a"},
        {"\xef\xbb\xbf{}", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum status status = open_text(cases[i].text);
        assert_refused_at(status, cases[i].text, &error, cases[i].pointer);
        assert_non_null(strstr(error.text, "line "));
        json_reader_close(&reader);
    }
}

static void a_nul_byte_does_not_end_the_text(void **state)
{
    (void)state;
    static const char text[] = "{\"a\":1}\0{}";
    error = (struct error){0};
    assert_int_equal(json_reader_open(&reader, &root,
                                      json_text_sized(text, sizeof text - 1), &error),
                     ST_INVALID);
    json_reader_close(&reader);
}

static void depth_is_limited(void **state)
{
    (void)state;
    char text[2 * LIMIT_JSON_DEPTH + 8];
    for (size_t depth = LIMIT_JSON_DEPTH; depth <= LIMIT_JSON_DEPTH + 1; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        text[2 * depth] = '\0';
        assert_int_equal(open_text(text),
                         depth == LIMIT_JSON_DEPTH ? ST_OK : ST_INVALID);
        json_reader_close(&reader);
    }
    open_json("[\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"]");
    accepted();
}

static void a_deep_text_costs_no_stack(void **state)
{
    (void)state;
    size_t size = 1 << 20;
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, '[', size);
    error = (struct error){0};
    assert_int_equal(
        json_reader_open(&reader, &root, json_text_sized(text, size), &error),
        ST_INVALID);
    json_reader_close(&reader);
    free(text);
}

static void unknown_members_are_refused_by_name(void **state)
{
    (void)state;
    open_json("{\"a\":{\"b\":1,\"c/d\":2}}");
    struct json_node a = json_member(&root, "a");
    json_read_object(a, (const char *const[]){"b", NULL});
    refused_at("/a/c~1d");
}

static void a_long_pointer_is_cut(void **state)
{
    (void)state;
    char text[400] = "{\"";
    memset(text + 2, 'x', 300);
    strcpy(text + 302, "\":1}");
    open_json(text);
    json_read_object(root, (const char *const[]){NULL});
    assert_int_equal(json_reader_close(&reader), ST_INVALID);
    assert_int_equal(strlen(error.pointer), sizeof error.pointer - 1);
}

static void types_are_not_converted(void **state)
{
    (void)state;
    static const char text[] = "{\"n\":null,\"t\":\"1\",\"i\":1,\"r\":1.5,\"b\":true,"
                               "\"a\":[1],\"o\":{}}";
    static const struct {
        const char *name,
            *fits; /* of r real, c count, f flag, t text, a array, o object */
    } cases[] = {{"n", ""},  {"t", "t"}, {"i", "rc"}, {"r", "r"},
                 {"b", "f"}, {"a", "a"}, {"o", "o"},  {"absent", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (const char *kind = "rcftao"; *kind != '\0'; kind++) {
            open_json(text);
            struct json_node node = json_member(&root, cases[i].name);
            switch (*kind) {
            case 'r': json_read_real(node, (struct json_range){-9, 9, 0, 0}); break;
            case 'c': json_read_count(node, 0, 9); break;
            case 'f': json_read_flag(node); break;
            case 't': json_read_text(node); break;
            case 'a': json_read_array(node, 0, 9); break;
            default: json_read_object(node, (const char *const[]){NULL}); break;
            }
            bool fits = strchr(cases[i].fits, *kind) != NULL;
            assert_int_equal(json_refused(root), !fits);
            json_reader_close(&reader);
        }
    }
}

static void a_count_is_whole_however_it_is_written(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool fits;
    } cases[] = {{"[2]", true},
                 {"[7]", true},
                 {"[1]", false},
                 {"[8]", false},
                 {"[3.0]", true},
                 {"[3e0]", true},
                 {"[0.3E1]", true},
                 {"[7.0]", true},
                 {"[3.5]", false},
                 {"[7.000000000000001]", false},
                 {"[1.0]", false},
                 {"[8.0]", false},
                 {"[-3]", false},
                 {"[-3.0]", false},
                 {"[1e300]", false},
                 {"[\"3\"]", false},
                 {"[-9223372036854775808]", false},
                 {"[9223372036854775807]", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_json(cases[i].text);
        json_read_count(json_element(&root, 0), 2, 7);
        assert_int_equal(json_refused(root), !cases[i].fits);
        json_reader_close(&reader);
    }
}

static void a_count_beyond_two_to_the_53_is_no_real(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t value; /* 0: refused */
    } cases[] = {{"[9007199254740991]", 9007199254740991},
                 {"[9007199254740991.0]", 9007199254740991},
                 {"[9007199254740992]", 9007199254740992},
                 {"[9007199254740992.0]", 0},
                 {"[9007199254740993.0]", 0},
                 {"[1e18]", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_json(cases[i].text);
        assert_true(json_read_count(json_element(&root, 0), 1, INT64_MAX) ==
                    cases[i].value);
        assert_int_equal(json_refused(root), cases[i].value == 0);
        json_reader_close(&reader);
    }
}

/* The last element of each array is read as a real: it may be a whole number of any
 * size. */
static void a_whole_number_of_any_size_is_a_real(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"[9223372036854775807]", 0x1p63},
        {"[9223372036854775808]", 0x1p63},
        {"[18446744073709551616]", 0x1p64},
        {"[-9223372036854775808]", -0x1p63},
        {"[-9223372036854775809]", -0x1p63},
        {"[123456789012345678901234567890]", 123456789012345678901234567890.0},
        {"[\"18446744073709551616\",{\"9223372036854775808\":[18446744073709551616"
         ",1e30]},-100000000000000000000]",
         -1e20}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_json(cases[i].text);
        size_t last = json_array_size(root.value) - 1;
        assert_true(json_read_real(json_element(&root, last), json_any_real) ==
                    cases[i].value);
        assert_int_equal(json_reader_close(&reader), ST_OK);
    }
}

static void a_text_keeps_the_digits_that_stand_in_it(void **state)
{
    (void)state;
    open_json("[\"18446744073709551616\",18446744073709551616]");
    assert_string_equal(json_read_text(json_element(&root, 0)), "18446744073709551616");
    assert_int_equal(json_reader_close(&reader), ST_OK);
}

static void a_count_of_any_size_is_told_its_range(void **state)
{
    (void)state;
    static const char *const cases[] = {"[18446744073709551616]", "[1e18]", "[1e300]",
                                        "[-18446744073709551616]"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_json(cases[i]);
        json_read_count(json_element(&root, 0), 2, 7);
        assert_int_equal(json_reader_close(&reader), ST_INVALID);
        assert_string_equal(faults.list[0].pointer, "/0");
        assert_string_equal(faults.list[0].text, "must be a whole number from 2 to 7");
    }
}

static void what_is_wrong_beside_a_large_number_is_named_at_its_place(void **state)
{
    (void)state;
    char digits[1002] = "[";
    memset(digits + 1, '9', sizeof digits - 3);
    digits[sizeof digits - 2] = ']';
    assert_int_equal(
        open_text("{\"a\":18446744073709551616,\n\"b\":[18446744073709551616,tru]}"),
        ST_INVALID);
    assert_non_null(strstr(error.text, "line 2, column 29:"));
    refused_at("/b/1");
    assert_int_equal(open_text(digits), ST_INVALID); /* more than a double holds */
    refused_at("/0");
}

static void a_real_keeps_its_range(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        struct json_range range;
        bool fits;
    } cases[] = {
        {"[0.25]", {0.25, 3.5, false, false}, true},
        {"[0.25]", {0.25, 3.5, true, false}, false},
        {"[3.5]", {0.25, 3.5, false, false}, true},
        {"[3.5]", {0.25, 3.5, false, true}, false},
        {"[3.5000000000000004]", {0.25, 3.5, false, false}, false},
        {"[-0.25]", {0.25, 3.5, false, false}, false},
        {"[2]", {0.25, 3.5, false, false}, true},
        {"[1e308]", {-INFINITY, INFINITY, false, false}, true},
        {"[1e-400]", {0, 1, true, false}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_json(cases[i].text);
        json_read_real(json_element(&root, 0), cases[i].range);
        assert_int_equal(json_refused(root), !cases[i].fits);
        json_reader_close(&reader);
    }
}

static const struct json_range digits = {0, 9, false, false};

static void expect_faults(const char *expected)
{
    char text[LIMIT_FAULTS * 64] = "";
    assert_int_equal(json_reader_close(&reader), ST_INVALID);
    for (size_t i = 0; i < faults.count; i++)
        sprintf(text + strlen(text), "%s %s\n", faults.list[i].pointer,
                fault_wire(faults.list[i].kind));
    assert_string_equal(text, expected);
    assert_string_equal(error.pointer, faults.list[0].pointer);
    assert_string_equal(error.text, faults.list[0].text);
}

static void refusals_are_listed_in_the_order_of_the_text(void **state)
{
    (void)state;
    open_json("{\"z\":{\"y\":1,\"n\":\"x\"},\"b\":[2.5,true,77],\"a\":\"x\",\"c\":0}");
    struct json_node b = json_member(&root, "b"), z = json_member(&root, "z");
    json_read_real(json_member(&root, "gone"), digits);
    json_read_count(json_member(&root, "a"), 0, 9);
    json_read_real(json_element(&b, 2), digits);
    json_refuse(b, "is not what it says");
    json_read_real(json_element(&b, 1), digits);
    json_read_flag(json_member(&root, "also"));
    json_read_object(z, (const char *const[]){"y", "m", NULL});
    json_read_text(json_member(&z, "m"));
    json_read_object(root, (const char *const[]){"z", "b", "a", NULL});
    expect_faults("/z/n unknown\n/z/m missing\n/b/2 out_of_range\n/b invalid\n"
                  "/a wrong_type\n/c unknown\n/gone missing\n/also missing\n");
}

/* /o/name and /gone/0 are read after /o and /gone were refused as a whole, and add no
 * fault. */
static void a_place_is_refused_once(void **state)
{
    (void)state;
    open_json("{\"a\":\"x\",\"o\":7,\"ab\":8}");
    struct json_node a = json_member(&root, "a"), o = json_member(&root, "o");
    struct json_node gone = json_member(&root, "gone");
    assert_int_equal(json_read_count(a, 0, 9), 0);
    json_refuse(a, "must be even");
    json_read_object(o, (const char *const[]){NULL});
    json_read_text(json_member(&o, "name"));
    json_read_array(gone, 1, 2);
    json_read_flag(json_element(&gone, 0));
    assert_int_equal(json_refusals(root), 3);
    json_read_text(json_member(&root, "ab"));
    assert_int_equal(json_refusals(root), 4);
    json_refuse(root, "lacks sense");
    json_read_text(json_member(&root, "later"));
    expect_faults("/a wrong_type\n/o wrong_type\n/ab wrong_type\n/gone missing\n"
                  " invalid\n");
}

static void an_unknown_member_spoils_nothing(void **state)
{
    (void)state;
    open_json("{\"a\":1,\"b\":2}");
    json_read_object(root, (const char *const[]){"a", NULL});
    assert_true(json_refused(root));
    assert_int_equal(json_refusals(root), 0);
    json_reader_close(&reader);
}

/* 100,000 members, each at fault: a search of all others for each would take
 * minutes. */
static void after_so_many_faults_nothing_is_read(void **state)
{
    (void)state;
    enum { MEMBERS = 100000 };
    char *text = malloc(MEMBERS * 16), *at = text;
    assert_non_null(text);
    for (int i = 0; i < MEMBERS; i++)
        at += sprintf(at, "%c\"m%d\":\"\"", i == 0 ? '{' : ',', i);
    strcpy(at, "}");
    open_json(text);
    for (int i = MEMBERS; i-- > 0;) {
        char name[16];
        sprintf(name, "m%d", i);
        assert_true(json_read_real(json_member(&root, name), digits) == 0);
    }
    json_read_object(root, (const char *const[]){NULL});
    assert_int_equal(json_reader_close(&reader), ST_INVALID);
    assert_int_equal(faults.count, LIMIT_FAULTS);
    assert_string_equal(faults.list[LIMIT_FAULTS - 1].pointer, "/m99999");
    assert_string_equal(error.pointer, "/m99968");
    free(text);
}

static void what_is_not_json_is_the_only_fault(void **state)
{
    (void)state;
    open_text("{\"a\":[1,2");
    json_read_text(json_member(&root, "b"));
    expect_faults("/a/1 malformed\n");
    open_text("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[");
    expect_faults(" malformed\n");
}

static void arrays_and_texts_are_limited(void **state)
{
    (void)state;
    char text[LIMIT_TEXT + 8];
    open_json("[1,2,3]");
    assert_int_equal(json_read_array(root, 3, 3), 3);
    accepted();
    open_json("[1,2,3]");
    json_read_array(root, 4, 5);
    refused_at("");
    open_json("[1,2,3]");
    json_read_array(root, 0, 2);
    refused_at("");
    for (size_t size = LIMIT_TEXT; size <= LIMIT_TEXT + 1; size++) {
        memset(text, 'x', sizeof text);
        memcpy(text, "[\"", 2);
        strcpy(text + 2 + size, "\"]");
        open_json(text);
        json_read_text(json_element(&root, 0));
        assert_int_equal(json_refused(root), size > LIMIT_TEXT);
        json_reader_close(&reader);
    }
}

static void the_error_may_be_null(void **state)
{
    (void)state;
    assert_int_equal(
        json_reader_open(&reader, &root, json_text_sized("{\"a\":1}", 7), NULL), ST_OK);
    json_read_text(json_member(&root, "a"));
    assert_int_equal(json_reader_close(&reader), ST_INVALID);
    assert_int_equal(json_reader_open(&reader, &root, json_text_sized("{", 1), NULL),
                     ST_INVALID);
    assert_int_equal(json_reader_close(&reader), ST_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_json_is_refused_where_it_stops),
        cmocka_unit_test(a_nul_byte_does_not_end_the_text),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(a_deep_text_costs_no_stack),
        cmocka_unit_test(unknown_members_are_refused_by_name),
        cmocka_unit_test(a_long_pointer_is_cut),
        cmocka_unit_test(types_are_not_converted),
        cmocka_unit_test(a_count_is_whole_however_it_is_written),
        cmocka_unit_test(a_count_beyond_two_to_the_53_is_no_real),
        cmocka_unit_test(a_whole_number_of_any_size_is_a_real),
        cmocka_unit_test(a_text_keeps_the_digits_that_stand_in_it),
        cmocka_unit_test(a_count_of_any_size_is_told_its_range),
        cmocka_unit_test(what_is_wrong_beside_a_large_number_is_named_at_its_place),
        cmocka_unit_test(a_real_keeps_its_range),
        cmocka_unit_test(refusals_are_listed_in_the_order_of_the_text),
        cmocka_unit_test(a_place_is_refused_once),
        cmocka_unit_test(an_unknown_member_spoils_nothing),
        cmocka_unit_test(after_so_many_faults_nothing_is_read),
        cmocka_unit_test(what_is_not_json_is_the_only_fault),
        cmocka_unit_test(arrays_and_texts_are_limited),
        cmocka_unit_test(the_error_may_be_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
