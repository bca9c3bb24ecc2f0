/* Goal: the header parser accepts everything that the format allows and refuses the
 * rest. Method: headers written by hand, then every prefix and every single-byte change
 * of a good header. */
#include "tests/expect.h"

#include <string.h>

#include "engine/model_file/tensor_header.h"

#define F32(shape, begin, end)                                                         \
    "{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":[" begin "," end "]}"

static enum status parse(struct tensor_list *list, const char *text, uint64_t data_size)
{
    struct error error = {0};
    enum status status =
        tensor_header_parse(list, text, strlen(text), data_size, &error);
    assert_int_equal(error.status, status);
    assert_true(status == ST_OK || error.text[0] != '\0');
    return status;
}

static void tensors_come_in_the_order_of_their_bytes(void **state)
{
    struct tensor_list list;
    (void)state;
    assert_int_equal(
        parse(&list,
              "{\"b\":" F32(
                  "[2,3]", "20",
                  "44") ", \"__metadata__\" : {\"k\":\"v\"},\n"
                        "\"a\\u00e9\\ud83d\\ude00\":" F32(
                            "[5]", "0",
                            "20") ","
                                  "\"none\":" F32("[0,7]", "44", "44") ",\"one\":" F32(
                                      "[]", "44", "48") "}   ",
              48),
        ST_OK);
    assert_int_equal(list.count, 4);
    assert_string_equal(list.tensors[0].tensor.name, "a\xc3\xa9\xf0\x9f\x98\x80");
    assert_int_equal(list.tensors[0].tensor.offset, 0);
    assert_int_equal(list.tensors[0].tensor.count, 5);
    assert_string_equal(list.tensors[1].tensor.name, "b");
    assert_int_equal(list.tensors[1].tensor.offset, 5);
    assert_int_equal(list.tensors[1].tensor.count, 6);
    assert_int_equal(list.tensors[1].tensor.rank, 2);
    assert_int_equal(list.tensors[1].tensor.shape[1], 3);
    assert_string_equal(list.tensors[2].tensor.name, "none");
    assert_int_equal(list.tensors[2].tensor.count, 0);
    assert_int_equal(list.tensors[3].tensor.rank, 0);
    assert_int_equal(list.tensors[3].tensor.count, 1);
    free(list.tensors);
}

static void no_tensors_are_a_file_too(void **state)
{
    struct tensor_list list;
    (void)state;
    assert_int_equal(parse(&list, "{}", 0), ST_OK);
    assert_int_equal(list.count, 0);
    free(list.tensors);
    assert_int_equal(parse(&list, "{ \"__metadata__\" : { } }", 0), ST_OK);
    free(list.tensors);
}

static const struct {
    const char *text;
    uint64_t data_size;
} refused[] = {
    {"", 0},
    {" {}", 0},
    {"[]", 0},
    {"{", 0},
    {"{}x", 0},
    {"{}\n", 0},
    {"{} {}", 0},
    {"{}\t ", 0},
    {"{}}", 0},
    {"{\"a\":" F32("[1]", "0", "4") "}]", 4},
    {"{}", 4},
    {"{\"a\"}", 0},
    {"{\"a\":1}", 0},
    {"{\"a\":null}", 0},
    {"{,}", 0},
    {"{\"a\":" F32("[1]", "0", "4") ",}", 4},
    {"{\"a\":" F32("[1]", "0", "4") " \"b\":" F32("[1]", "4", "8") "}", 8},
    /* data */
    {"{\"a\":" F32("[1]", "0", "4") "}", 8},
    {"{\"a\":" F32("[1]", "0", "4") "}", 0},
    {"{\"a\":" F32("[1]", "4", "8") "}", 8},
    {"{\"a\":" F32("[1]", "0", "4") ",\"b\":" F32("[1]", "8", "12") "}", 12},
    {"{\"a\":" F32("[2]", "0", "8") ",\"b\":" F32("[1]", "4", "8") "}", 8},
    {"{\"a\":" F32("[1]", "0", "4") ",\"b\":" F32("[1]", "0", "4") "}", 4},
    {"{\"a\":" F32("[1]", "4", "0") "}", 0},
    {"{\"a\":" F32("[2]", "0", "4") "}", 4},
    {"{\"a\":" F32("[1]", "0", "2") "}", 2},
    {"{\"a\":" F32("[4611686018427387904]", "0", "0") "}", 0},
    {"{\"a\":" F32("[4294967296,4294967296]", "0", "0") "}", 0},
    {"{\"a\":" F32("[1]", "18446744073709551612", "18446744073709551616") "}", 4},
    /* numbers and lists */
    {"{\"a\":" F32("[-1]", "0", "4") "}", 4},
    {"{\"a\":" F32("[01]", "0", "4") "}", 4},
    {"{\"a\":" F32("[-0]", "0", "0") "}", 0},
    {"{\"a\":" F32("[1]", "-0", "4") "}", 4},
    {"{\"a\":" F32("[1]", "0", "4.0") "}", 4},
    {"{\"a\":" F32("[1]", "0", "4E0") "}", 4},
    {"{\"a\":" F32("[+1]", "0", "4") "}", 4},
    {"{\"a\":" F32("[true]", "0", "4") "}", 4},
    {"{\"a\":" F32("[\"1\"]", "0", "4") "}", 4},
    {"{\"a\":" F32("{}", "0", "4") "}", 4},
    {"{\"a\":" F32("[1.0]", "0", "4") "}", 4},
    {"{\"a\":" F32("[1e0]", "0", "4") "}", 4},
    {"{\"a\":" F32("[1,]", "0", "4") "}", 4},
    {"{\"a\":" F32("[,1]", "0", "4") "}", 4},
    {"{\"a\":" F32("[1 1]", "0", "4") "}", 4},
    {"{\"a\":" F32("[[1]]", "0", "4") "}", 4},
    {"{\"a\":" F32("[1,1,1,1,1]", "0", "4") "}", 4},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 4},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,8]}}", 4},
    /* members */
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4},
    {"{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4},
    {"{\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 4},
    {"{\"a\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4},
    {"{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}"
     "}",
     4},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"shape\":[1],\"data_offsets\":[0,4]}}",
     4},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"more\":1}}", 4},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"offsets\":[0,4]}}", 4},
    {"{\"a\":{\"dtype\":[\"F32\"],\"shape\":[1],\"data_offsets\":[0,4]}}", 4},
    {"{\"a\":{\"dtype\":\"F32\\u0000\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4},
    {"{\"a\":{\"dtype\":\"F32\",\"dtyp\\u0065\":\"F32\",\"data_offsets\":[0,4]}}", 4},
    {"{\"a\":" F32("[1]", "0", "4") ",\"a\":" F32("[1]", "4", "8") "}", 8},
    {"{\"a\":" F32("[1]", "0", "4") ",\"\\u0061\":" F32("[1]", "4", "8") "}", 8},
    {"{\"__metadata__\":{},\"__metadata__\":{}}", 0},
    {"{\"__metadata__\":{\"k\":1}}", 0},
    {"{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}", 0},
    {"{\"__metadata__\":[]}", 0},
    {"{\"__metadata__\":{\"k\":{}}}", 0},
    {"{\"__metadata__\":{\"k\":\"1\",\"\\u006b\":\"2\"}}", 0},
    /* strings */
    {"{\"a:1}", 0},
    {"{\"\\x\":" F32("[1]", "0", "4") "}", 4},
    {"{\"\\", 0},
    {"{\"\\u12\":" F32("[1]", "0", "4") "}", 4},
    {"{\"\\u00zz\":" F32("[1]", "0", "4") "}", 4},
    {"{\"\\ud83d\":" F32("[1]", "0", "4") "}", 4},
    {"{\"\\ud83d\\u0041\":" F32("[1]", "0", "4") "}", 4},
    {"{\"\\ude00\":" F32("[1]", "0", "4") "}", 4},
    {"{\"a\\u0000b\":" F32("[1]", "0", "4") "}", 4},
    {"{\"a\tb\":" F32("[1]", "0", "4") "}", 4},
    {"{\"\xff\":" F32("[1]", "0", "4") "}", 4},
    {"{\"\xc0\xaf\":" F32("[1]", "0", "4") "}", 4},
    {"{\"\xed\xa0\x80\":" F32("[1]", "0", "4") "}", 4},
    {"{\"\xf4\x90\x80\x80\":" F32("[1]", "0", "4") "}", 4},
    {"{\"\xe2\x82\":" F32("[1]", "0", "4") "}", 4},
};

static void anything_else_is_refused(void **state)
{
    struct tensor_list list = {0};
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (parse(&list, refused[i].text, refused[i].data_size) == ST_OK)
            fail_msg("accepted: %s", refused[i].text);
        assert_null(list.tensors);
    }
}

static void a_name_may_fill_a_tensors_name_and_no_more(void **state)
{
    char text[512], name[TENSOR_NAME_SIZE + 1];
    struct tensor_list list;
    (void)state;
    memset(name, 'n', sizeof name);
    name[TENSOR_NAME_SIZE] = '\0';
    snprintf(text, sizeof text, "{\"%s\":" F32("[1]", "0", "4") "}", name);
    assert_int_equal(parse(&list, text, 4), ST_CORRUPT);
    name[TENSOR_NAME_SIZE - 1] = '\0';
    snprintf(text, sizeof text, "{\"%s\":" F32("[1]", "0", "4") "}", name);
    assert_int_equal(parse(&list, text, 4), ST_OK);
    assert_string_equal(list.tensors[0].tensor.name, name);
    free(list.tensors);
}

static const char good[] = "{\"__metadata__\":{\"format\":\"x\\\\\"},\"0.bias\":" F32(
    "[3]", "24", "36") ",\"0.weight\":" F32("[3,2]", "0", "24") "}";

static void every_prefix_is_refused(void **state)
{
    struct tensor_list list;
    (void)state;
    assert_int_equal(parse(&list, good, 36), ST_OK);
    free(list.tensors);
    for (size_t size = 0; size < strlen(good); size++)
        assert_int_equal(tensor_header_parse(&list, good, size, 36, NULL), ST_CORRUPT);
}

/* For every changed byte, an accepted header still covers the data exactly. */
static void a_changed_byte_never_makes_a_gap(void **state)
{
    (void)state;
    for (size_t at = 0; at < strlen(good); at++)
        for (int byte = 0; byte < 256; byte++) {
            char text[sizeof good];
            struct tensor_list list = {0};
            memcpy(text, good, sizeof good);
            text[at] = (char)byte;
            if (tensor_header_parse(&list, text, strlen(good), 36, NULL) != ST_OK)
                continue;
            size_t covered = 0;
            for (size_t i = 0; i < list.count; i++) {
                assert_int_equal(list.tensors[i].tensor.offset, covered);
                covered += list.tensors[i].tensor.count;
            }
            assert_int_equal(covered, 9);
            free(list.tensors);
        }
}

static void halves_fill_half_the_bytes(void **state)
{
    (void)state;
    static const char text[] =
        "{\"a\":{\"dtype\":\"F16\",\"shape\":[3],\"data_offsets\":[0,6]},"
        "\"b\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[6,10]},"
        "\"c\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[10,14]}}";
    struct tensor_list list;
    assert_int_equal(parse(&list, text, 14), ST_OK);
    assert_int_equal(list.tensors[0].dtype, DTYPE_F16);
    assert_int_equal(list.tensors[1].dtype, DTYPE_BF16);
    assert_int_equal(list.tensors[1].begin, 6);
    assert_int_equal(list.tensors[2].begin, 10);
    free(list.tensors);
}

/* Values of another dtype are described, and not read. */
static void every_dtype_of_the_format_has_its_size(void **state)
{
    static const struct {
        const char *name;
        uint64_t size; /* 0: the format has none of this name */
    } dtypes[] = {{"F64", 8}, {"I64", 8}, {"U64", 8},     {"I32", 4},     {"U32", 4},
                  {"I16", 2}, {"U16", 2}, {"I8", 1},      {"U8", 1},      {"BOOL", 1},
                  {"F32", 4}, {"F16", 2}, {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"BF16 ", 0},
                  {"f16", 0}, {"C64", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        for (uint64_t size = 0; size < 10; size++) {
            struct tensor_list list;
            char text[128];
            snprintf(text, sizeof text,
                     "{\"a\":{\"dtype\":\"%s\",\"shape\":[1],\"data_offsets\":[0,%d]}}",
                     dtypes[i].name, (int)size);
            bool fits = size > 0 && size == dtypes[i].size;
            assert_int_equal(parse(&list, text, size), fits ? ST_OK : ST_CORRUPT);
            if (!fits)
                continue;
            enum tensor_dtype dtype = list.tensors[0].dtype;
            assert_string_equal(tensor_dtype_name(dtype), dtypes[i].name);
            assert_int_equal(tensor_dtype_is_float(dtype),
                             strcmp(dtypes[i].name, "F32") == 0 ||
                                 strcmp(dtypes[i].name, "F16") == 0);
            free(list.tensors);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_come_in_the_order_of_their_bytes),
        cmocka_unit_test(no_tensors_are_a_file_too),
        cmocka_unit_test(anything_else_is_refused),
        cmocka_unit_test(a_name_may_fill_a_tensors_name_and_no_more),
        cmocka_unit_test(every_prefix_is_refused),
        cmocka_unit_test(a_changed_byte_never_makes_a_gap),
        cmocka_unit_test(halves_fill_half_the_bytes),
        cmocka_unit_test(every_dtype_of_the_format_has_its_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
