/* Goal: the schemas that GET /v1/algorithms offers are those that validate jobs.
 * Method: every parameter's bounds and default are sent to the real parser. */
#include "tests/expect.h"

#include <jansson.h>
#include <string.h>

#include "api/requests/job_request.h"
#include "api/views/system_view.h"
#include "engine/dp/algorithms/registry.h"

static void a_version_names_what_may_be_relied_on(void **state)
{
    (void)state;
    char *text = version_render("0.1.0", "SkylakeX");
    assert_string_equal(text,
                        "{\"version\":\"0.1.0\",\"api\":\"v1\",\"certificate\":"
                        "\"epsilond/1\",\"grid\":\"g1\",\"kernel\":\"SkylakeX\"}");
    free(text);
}

static void a_status_counts_the_jobs_of_each_state(void **state)
{
    (void)state;
    static const char *const states[] = {"WAITING", "DONE"};
    const struct status_view view = {
        .version = "0.1.0",
        .ready = true,
        .state_count = 2,
        .states = states,
        .jobs = (const size_t[]){3, 41},
        .datasets = {.protected_ones = 5, .public_ones = 2, .waiting = 1},
        .workers = 2,
        .queue_length = 3,
        .queue_length_max = 1000,
        .head = &(struct ledger_entry_name){.seq = 94},
        .start_ms = 1000,
    };
    char *text = status_render(&view);
    json_auto_t *got = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    json_auto_t *expected = json_pack(
        "{s:s,s:b,s:b,s:{s:i,s:i},s:{s:i,s:i,s:i},s:i,s:{s:i,s:i},s:{s:i,s:s},s:s}",
        "version", "0.1.0", "ready", 1, "draining", 0, "jobs", "WAITING", 3, "DONE", 41,
        "datasets", "private", 5, "public", 2, "waiting", 1, "workers", 2, "queue",
        "length", 3, "limit", 1000, "ledger", "seq", 94, "hash",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "start_time", "1970-01-01T00:00:01Z");
    assert_non_null(expected);
    if (!json_equal(got, expected))
        fail_msg("got %s", text);
    free(text);
}

/* Adds to found the choices that parameter requires, as {name: value}: from the
 * algorithm's rules {"if": ..., "else": ...}, and recursively those that such a choice
 * requires. */
static void add_conditions(json_t *found, const json_t *rules, const char *parameter)
{
    json_t *rule, *schema;
    const char *name;
    size_t i;
    json_array_foreach(rules, i, rule)
    {
        json_t *other = json_object_get(json_object_get(rule, "else"), "properties");
        json_t *when = json_object_get(json_object_get(rule, "if"), "properties");
        if (!json_is_false(json_object_get(other, parameter)))
            continue;
        json_object_foreach(when, name, schema)
        {
            json_object_set(found, name, json_object_get(schema, "const"));
            add_conditions(found, rules, name);
        }
    }
}

static json_t *conditions_of(const char *algorithm, const char *parameter)
{
    char *text = algorithms_render();
    json_auto_t *root = json_loads(text, 0, NULL);
    json_t *item, *found = json_object();
    size_t i;
    free(text);
    json_array_foreach(json_object_get(root, "algorithms"), i, item)
    {
        if (strcmp(json_string_value(json_object_get(item, "name")), algorithm) == 0)
            add_conditions(found,
                           json_object_get(json_object_get(item, "schema"), "allOf"),
                           parameter);
    }
    return found;
}

/* Returns whether a job whose algorithm has this one parameter parses. */
static bool accepts(const char *algorithm, const char *parameter, json_t *value)
{
    struct job_request request;
    json_t *members = conditions_of(algorithm, parameter);
    json_object_set_new(members, "name", json_string(algorithm));
    json_object_set(members, parameter, value);
    json_auto_t *body = json_pack("{s:s,s:{s:s},s:o}", "dataset", "d", "model",
                                  "preset", "linear", "algorithm", members);
    assert_non_null(body);
    if (algorithm_find(algorithm)->is_private)
        json_object_set_new(body, "privacy", json_pack("{s:i}", "epsilon", 1));
    char *text = json_dumps(body, JSON_REAL_PRECISION(17));
    enum status status = job_request_parse(&request, json_text_of(text), NULL);
    free(text);
    if (status == ST_OK)
        job_request_fini(&request);
    return status == ST_OK;
}

static bool accepts_real(const char *algorithm, const char *parameter, double value)
{
    json_auto_t *json = json_real(value);
    return accepts(algorithm, parameter, json);
}

static void check_number(const char *algorithm, const char *name, const json_t *schema)
{
    json_t *low = json_object_get(schema, "minimum");
    json_t *above = json_object_get(schema, "exclusiveMinimum");
    json_t *high = json_object_get(schema, "maximum");
    if (low != NULL) {
        assert_true(accepts(algorithm, name, low));
        assert_false(accepts_real(algorithm, name,
                                  nextafter(json_number_value(low), -INFINITY)));
    }
    if (above != NULL)
        assert_false(accepts(algorithm, name, above));
    if (high != NULL) {
        assert_true(accepts(algorithm, name, high));
        assert_false(accepts_real(algorithm, name,
                                  nextafter(json_number_value(high), INFINITY)));
    }
    json_auto_t *word = json_string("1");
    assert_false(accepts(algorithm, name, word));
}

static void check_parameter(const char *algorithm, const char *name,
                            const json_t *schema)
{
    const char *type = json_string_value(json_object_get(schema, "type"));
    json_t *choice;
    size_t i;
    assert_true(accepts(algorithm, name, json_object_get(schema, "default")));
    assert_true(json_string_length(json_object_get(schema, "description")) > 0);
    if (strcmp(type, "number") == 0 || strcmp(type, "integer") == 0)
        check_number(algorithm, name, schema);
    json_array_foreach(json_object_get(schema, "enum"), i, choice)
    {
        assert_true(accepts(algorithm, name, choice));
    }
    json_auto_t *wrong = json_string("no such choice");
    assert_false(accepts(algorithm, name, wrong));
    assert_false(accepts(algorithm, name, json_null()));
}

static void schemas_say_what_the_parser_accepts(void **state)
{
    (void)state;
    char *text = algorithms_render();
    json_auto_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    free(text);
    json_t *list = json_object_get(root, "algorithms"), *algorithm, *schema;
    size_t i;
    const char *name;
    assert_true(json_array_size(list) >= 2);
    json_array_foreach(list, i, algorithm)
    {
        static const char *const texts[] = {"name", "title", "paper", "charge",
                                            "when_to_use"};
        for (size_t j = 0; j < sizeof texts / sizeof *texts; j++)
            assert_true(json_is_string(json_object_get(algorithm, texts[j])));
        const char *of = json_string_value(json_object_get(algorithm, "name"));
        json_t *whole = json_object_get(algorithm, "schema");
        assert_true(json_is_false(json_object_get(whole, "additionalProperties")));
        assert_false(accepts_real(of, "no_such_parameter", 1));
        json_object_foreach(json_object_get(whole, "properties"), name, schema)
        {
            if (strcmp(name, "name") != 0)
                check_parameter(of, name, schema);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_version_names_what_may_be_relied_on),
        cmocka_unit_test(a_status_counts_the_jobs_of_each_state),
        cmocka_unit_test(schemas_say_what_the_parser_accepts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
