/* Goal: a text is read as one of the words that the caller allows, and a refusal lists
 * them. Method: a table of bodies. */
#include "tests/expect.h"

#include <string.h>

#include "api/json/json_word.h"

static const char *const three[] = {"none", "tail", "ema", NULL};
static const char *const two[] = {"linear", "cosine", NULL};
static const char *const one[] = {"head", NULL};

static void a_word_is_read_as_its_place_and_any_other_text_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        const char *const *words;
        size_t place; /* 9: refused, and the place stays as it was */
        const char *text;
    } cases[] = {
        {"{\"a\":\"none\"}", three, 0, ""},
        {"{\"a\":\"ema\"}", three, 2, ""},
        {"{\"a\":\"cosine\"}", two, 1, ""},
        {"{\"a\":\"head\"}", one, 0, ""},
        {"{\"a\":\"Ema\"}", three, 9, "must be none, tail or ema"},
        {"{\"a\":\"\"}", two, 9, "must be linear or cosine"},
        {"{\"a\":\"heads\"}", one, 9, "must be head"},
        {"{\"a\":7}", three, 9, "must be a string"},
        {"{}", three, 9, "is required: a string"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json_reader reader;
        struct json_node root;
        struct error error = {0};
        size_t place = 9;
        assert_int_equal(
            json_reader_open(&reader, &root, json_text_of(cases[i].body), &error),
            ST_OK);
        bool read = json_read_word(&place, json_member(&root, "a"), cases[i].words);
        enum status status = json_reader_close(&reader);
        assert_int_equal(read, cases[i].place != 9);
        assert_int_equal(status, read ? ST_OK : ST_INVALID);
        assert_int_equal(place, cases[i].place);
        assert_string_equal(error.text, cases[i].text);
        assert_string_equal(error.pointer, read ? "" : "/a");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_is_read_as_its_place_and_any_other_text_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
