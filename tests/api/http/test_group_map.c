/* Goal: the file of --groups is parsed strictly, and the first matching row decides. */
#include "api/http/group_map.h"

#include <string.h>

#include "tests/expect.h"

#define ROW(group, role, project)                                                      \
    "{\"group\":\"" group "\",\"role\":\"" role "\",\"project\":\"" project "\"}"

static enum status parse(struct group_map *map, const char *text, struct error *error)
{
    return group_map_parse(map, text, strlen(text), error);
}

static void the_first_row_of_the_file_decides(void **state)
{
    (void)state;
    struct group_map map;
    assert_int_equal(
        parse(&map,
              "{\"groups\":[" ROW("officers", "privacy_officer", "default") "," ROW(
                  "fraud", "analyst", "fraud") "," ROW("ops team", "operator",
                                                       "default") "]}",
              NULL),
        ST_OK);
    assert_int_equal(map.count, 3);
    const struct group_row *row = group_map_find(&map, "others, fraud ,officers");
    assert_string_equal(row->group, "officers");
    assert_int_equal(row->role, ROLE_PRIVACY_OFFICER);
    row = group_map_find(&map, "fraud");
    assert_string_equal(row->project, "fraud");
    assert_int_equal(row->role, ROLE_ANALYST);
    assert_string_equal(group_map_find(&map, "\tops team ")->group, "ops team");
    assert_null(group_map_find(&map, "frau"));
    assert_null(group_map_find(&map, "fraudsters"));
    assert_null(group_map_find(&map, "Fraud"));
    assert_null(group_map_find(&map, ""));
    assert_null(group_map_find(&map, " , ,,"));
}

static void what_is_wrong_is_named_by_its_place(void **state)
{
    static const struct {
        const char *text, *pointer;
    } wrong[] = {
        {"{\"groups\":[]}", "/groups"},
        {"{\"groups\":[" ROW("", "analyst", "p") "]}", "/groups/0/group"},
        {"{\"groups\":[" ROW("a,b", "analyst", "p") "]}", "/groups/0/group"},
        {"{\"groups\":[" ROW("a", "local", "p") "]}", "/groups/0/role"},
        {"{\"groups\":[" ROW("a", "king", "p") "]}", "/groups/0/role"},
        {"{\"groups\":[" ROW("a", "analyst", "") "]}", "/groups/0/project"},
        {"{\"groups\":[" ROW("a", "analyst", "P q") "]}", "/groups/0/project"},
        {"{\"groups\":[" ROW("a", "analyst", "p") ",{\"group\":\"b\",\"role\":"
                                                  "\"analyst\"}]}",
         "/groups/1/project"},
        {"{\"groups\":[],\"more\":1}", "/more"},
        {"{}", "/groups"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct group_map map = {.count = 7};
        struct error error = {0};
        assert_int_equal(parse(&map, wrong[i].text, &error), ST_INVALID);
        assert_int_equal(map.count, 7);
        if (strcmp(wrong[i].pointer, "/more") != 0)
            assert_string_equal(error.pointer, wrong[i].pointer);
    }
}

static void what_is_no_json_is_refused(void **state)
{
    (void)state;
    struct group_map map;
    struct error error = {0};
    assert_int_equal(parse(&map, "groups: []", &error), ST_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_row_of_the_file_decides),
        cmocka_unit_test(what_is_wrong_is_named_by_its_place),
        cmocka_unit_test(what_is_no_json_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
