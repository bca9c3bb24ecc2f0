/* Goal: a table in another dialect becomes the data that it is with commas and points,
 * and an import in the wrong dialect names the right one. */
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

static int begin(void **state)
{
    return stage_begin(state);
}

static struct client *client_of(void **state)
{
    return &((struct stage *)*state)->client;
}

/* Declares a public table of two numbers and a label. */
static void declare(struct client *client, const char *id, const char *dialect)
{
    assert_status(client_create(client, "/v1/datasets",
                                "{'id':'%s','format':'csv','task':'classification',"
                                "'header':true,%s'columns':["
                                "{'name':'age','kind':'numeric','range':[0,100]},"
                                "{'name':'dose','kind':'numeric','range':[0,10],"
                                "'default':2.5},"
                                "{'name':'ill','kind':'label','values':['no','yes']}],"
                                "'privacy':'public'}",
                                id, dialect),
                  201);
}

static const struct reply *import(struct client *client, const char *id,
                                  const char *text)
{
    char path[96];
    snprintf(path, sizeof path, "/v1/datasets/%s/files/data", id);
    assert_status(client_put(client, path, text, strlen(text)), 204);
    return client_act(client, "/v1/datasets/%s:import", id);
}

static void a_table_in_any_dialect_is_the_same_data(void **state)
{
    struct client *client = client_of(state);
    static const char *const tables[][3] = {
        {"points", "", "age,dose,ill\n20.5,1.25,no\n70,,yes\n"},
        {"semicolons", "'delimiter':';','decimal':',',",
         "ill;age;dose\r\nno;20,5;1,25\r\nyes;70;\r\n"},
        {"old-mac", "'delimiter':'\\t',",
         "age\tdose\till\r20.5\t1.25\tno\r70\t\tyes\r"},
        {"bars", "'delimiter':'|','decimal':',',",
         "age|dose|ill\n\"20,5\"|125e-2|no\n70| |yes"},
    };
    char sha256[80] = "";
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        declare(client, tables[i][0], tables[i][1]);
        assert_status(import(client, tables[i][0], tables[i][2]), 200);
        const struct reply *ready = client_get(client, "/v1/datasets/%s", tables[i][0]);
        if (i == 0)
            snprintf(sha256, sizeof sha256, "%s", reply_text(ready, "sha256"));
        assert_string_equal(reply_text(ready, "sha256"), sha256);
    }
}

static void an_import_in_the_wrong_dialect_names_the_right_one(void **state)
{
    struct client *client = client_of(state);
    declare(client, "wrong", "");
    const struct reply *refused =
        import(client, "wrong", "age;dose;ill\n20,5;1,25;no\n");
    assert_problem(refused, 422, "import_failed");
    assert_int_equal((int)reply_number(refused, "line"), 1);
    assert_non_null(strstr(reply_text(refused, "detail"), "semicolons"));
    assert_non_null(strstr(reply_text(refused, "detail"), "\"delimiter\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_in_any_dialect_is_the_same_data),
        cmocka_unit_test(an_import_in_the_wrong_dialect_names_the_right_one),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
