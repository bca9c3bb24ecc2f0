/* Goal: the schemas of GET /v1/algorithms are the ones that validate jobs: values at
 * the bounds that a schema gives are accepted, values beyond them are refused at that
 * very member. A job on a dataset that does not exist is checked by its text only: 404
 * means that the text was accepted. Further, every algorithm accepts a job that names
 * it and an epsilon, and dpsgd's defaults train the digits (`make numbers` has the
 * other data). */
#include <math.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

struct probe {
    struct client *client;
    const json_t *algorithm; /* as in the list */
    const char *parameter;
    unsigned passed, refused; /* number of values tried */
};

static const struct reply *estimate(struct client *client, const json_t *job)
{
    char *text = json_dumps(job, JSON_REAL_PRECISION(17));
    assert_non_null(text);
    struct request request = {.method = "POST",
                              .path = "/v1/jobs:estimate",
                              .headers = {"Content-Type: application/json"},
                              .body = text,
                              .size = strlen(text)};
    const struct reply *reply = client_send(client, &request);
    free(text);
    return reply;
}

static const char *name_of(const json_t *algorithm)
{
    return json_string_value(json_object_get(algorithm, "name"));
}

static json_t *schema_of(const json_t *algorithm, const char *member)
{
    return json_object_get(json_object_get(algorithm, "schema"), member);
}

/* Returns a job with the dataset, a model, the algorithm and, if it needs one,
 * noise. */
static json_t *job_of(const json_t *algorithm, const char *dataset)
{
    json_t *job =
        json_pack("{s:s,s:{s:s},s:{s:s}}", "dataset", dataset, "model", "preset",
                  "linear", "algorithm", "name", name_of(algorithm));
    assert_non_null(job);
    if (json_is_true(json_object_get(algorithm, "private")))
        json_object_set_new(job, "privacy",
                            json_pack("{s:f}", "noise_multiplier", 4.0));
    return job;
}

/* Returns the condition under which the schema allows the parameter, or NULL. */
static json_t *condition_of(const struct probe *probe, const char *parameter)
{
    json_t *rule;
    size_t i;
    json_array_foreach(schema_of(probe->algorithm, "allOf"), i, rule)
    {
        json_t *otherwise = json_object_get(rule, "else");
        if (json_object_get(json_object_get(otherwise, "properties"), parameter) !=
            NULL)
            return json_object_get(json_object_get(rule, "if"), "properties");
    }
    return NULL;
}

/* Meets the parameter's condition, or violates it with another of the choices. The
 * conditions of that choice itself are met. */
static void set_choice(const struct probe *probe, const char *parameter, json_t *named,
                       bool meet)
{
    const char *choice;
    json_t *rule, *wanted;
    json_object_foreach(condition_of(probe, parameter), choice, rule)
    {
        const json_t *schema =
            json_object_get(schema_of(probe->algorithm, "properties"), choice);
        json_t *other = json_array_get(json_object_get(schema, "enum"), 0);
        wanted = json_object_get(rule, "const");
        if (json_equal(other, wanted))
            other = json_array_get(json_object_get(schema, "enum"), 1);
        set_choice(probe, choice, named, true);
        json_object_set(named, choice, meet ? wanted : other);
    }
}

/* Takes ownership of value. */
static const struct reply *ask(struct probe *probe, json_t *value, bool meet)
{
    json_auto_t *job = job_of(probe->algorithm, "nowhere");
    json_t *named = json_object_get(job, "algorithm");
    assert_non_null(value);
    set_choice(probe, probe->parameter, named, meet);
    assert_int_equal(json_object_set_new(named, probe->parameter, value), 0);
    return estimate(probe->client, job);
}

static void passes(struct probe *probe, json_t *value)
{
    const struct reply *reply = ask(probe, value, true);
    if (reply->status != 404)
        fail_msg("%s.%s: %s", name_of(probe->algorithm), probe->parameter, reply->body);
    probe->passed++;
}

static void assert_refused_there(struct probe *probe, const struct reply *reply)
{
    char pointer[128];
    snprintf(pointer, sizeof pointer, "/algorithm/%s", probe->parameter);
    if (reply->status != 400 ||
        strcmp(reply_text(reply, "errors.0.pointer"), pointer) != 0)
        fail_msg("%s %s: %ld %s", name_of(probe->algorithm), pointer, reply->status,
                 reply->body);
    probe->refused++;
}

static void refuses(struct probe *probe, json_t *value)
{
    assert_refused_there(probe, ask(probe, value, true));
}

static void probe_number(struct probe *probe, const json_t *schema)
{
    const json_t *low = json_object_get(schema, "minimum");
    const json_t *open = json_object_get(schema, "exclusiveMinimum");
    const json_t *high = json_object_get(schema, "maximum");
    assert_true((low != NULL) != (open != NULL) && high != NULL);
    double least = json_number_value(low != NULL ? low : open);
    double most = json_number_value(high);
    if (low != NULL)
        passes(probe, json_real(least));
    else
        refuses(probe, json_real(least));
    passes(probe, json_real(nextafter(least, INFINITY)));
    passes(probe, json_real(most));
    refuses(probe, json_real(nextafter(least, -INFINITY)));
    refuses(probe, json_real(nextafter(most, INFINITY)));
    refuses(probe, json_string("1"));
    refuses(probe, json_null());
}

static void probe_integer(struct probe *probe, const json_t *schema)
{
    json_int_t least = json_integer_value(json_object_get(schema, "minimum"));
    json_int_t most = json_integer_value(json_object_get(schema, "maximum"));
    assert_true(least < most);
    passes(probe, json_integer(least));
    passes(probe, json_integer(most));
    refuses(probe, json_integer(least - 1));
    refuses(probe, json_integer(most + 1));
    refuses(probe, json_real((double)least + 0.5));
    refuses(probe, json_string("2"));
}

static void probe_choice(struct probe *probe, const json_t *schema)
{
    json_t *choices = json_object_get(schema, "enum"), *choice;
    size_t i;
    assert_true(json_array_size(choices) >= 2);
    json_array_foreach(choices, i, choice)
    {
        passes(probe, json_copy(choice));
    }
    refuses(probe, json_string(""));
    refuses(probe, json_string("nothing of the kind"));
    refuses(probe, json_integer(0));
}

static void probe_parameter(struct probe *probe, const json_t *schema)
{
    const char *type = json_string_value(json_object_get(schema, "type"));
    json_t *fallback = json_object_get(schema, "default");
    assert_true(json_string_length(json_object_get(schema, "description")) > 0);
    if (fallback != NULL)
        passes(probe, json_copy(fallback));
    if (strcmp(type, "number") == 0)
        probe_number(probe, schema);
    else if (strcmp(type, "integer") == 0)
        probe_integer(probe, schema);
    else if (strcmp(type, "string") == 0)
        probe_choice(probe, schema);
    else
        fail_msg("%s is a %s: this test knows no such type", probe->parameter, type);
    if (condition_of(probe, probe->parameter) == NULL)
        return;
    json_t *value = fallback != NULL ? json_copy(fallback)
                                     : json_copy(json_object_get(schema, "maximum"));
    assert_refused_there(probe, ask(probe, value, false));
}

static void the_schema_shown_is_what_validates(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    json_t *algorithm;
    size_t i;
    unsigned tried = 0;
    json_array_foreach(reply_at(client_get(client, "/v1/algorithms"), "algorithms"), i,
                       algorithm)
    {
        struct probe probe = {.client = client, .algorithm = algorithm};
        json_t *schema;
        json_object_foreach(schema_of(algorithm, "properties"), probe.parameter, schema)
        {
            if (strcmp(probe.parameter, "name") != 0)
                probe_parameter(&probe, schema);
        }
        assert_true(json_is_false(schema_of(algorithm, "additionalProperties")));
        probe.parameter = "no_such_parameter";
        refuses(&probe, json_integer(1));
        print_message("%s: %u values passed, %u were refused\n", name_of(algorithm),
                      probe.passed, probe.refused);
        tried += probe.passed + probe.refused;
    }
    assert_true(tried > 200);
}

static void every_algorithm_takes_a_job_that_names_little_else(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    json_t *algorithm;
    size_t i;
    json_array_foreach(reply_at(client_get(client, "/v1/algorithms"), "algorithms"), i,
                       algorithm)
    {
        bool is_private = json_is_true(json_object_get(algorithm, "private"));
        if (strcmp(name_of(algorithm), "boosted_histograms") == 0)
            continue; /* needs columns: test_boosting.c */
        json_auto_t *job = job_of(algorithm, is_private ? "digits" : "open");
        if (is_private)
            json_object_set_new(job, "privacy", json_pack("{s:f}", "epsilon", 8.0));
        const struct reply *reply = estimate(client, job);
        if (reply->status != 200)
            fail_msg("%s: %s", name_of(algorithm), reply->body);
        assert_string_equal(reply_text(reply, "fits"), "yes");
        static const char *const told[] = {"title", "paper", "charge", "when_to_use"};
        for (size_t k = 0; k < sizeof told / sizeof *told; k++)
            assert_true(json_string_length(json_object_get(algorithm, told[k])) > 10);
    }
}

/* Each model has a learning rate of its own, a power of two: one with more parameters
 * tolerates less. Over 72 runs 90.2 % and 88.1 % with deviations of 1.4 and 1.7; the
 * bounds are five deviations below. */
static void diff2_trains_the_digits_by_defaults_alone(void **state)
{
    static const char *const models[] = {"'preset':'linear'",
                                         "'preset':'mlp','hidden':[64]"};
    struct client *client = &((struct stage *)*state)->client;
    static const double least[] = {0.83, 0.79};
    double before = 2;
    for (size_t k = 0; k < 2; k++) {
        const struct reply *ended =
            train(client,
                  "{'dataset':'digits','evaluation':'open','model':{%s},"
                  "'algorithm':{'name':'diff2_gd'},"
                  "'privacy':{'epsilon':2}}",
                  models[k]);
        assert_true(reply_number(ended, "metrics.evaluation.accuracy") > least[k]);
        double rate = reply_number(ended, "optimizer.learning_rate");
        assert_true(rate < before && rate > 0.1);
        assert_true(exp2(rint(log2(rate))) == rate);
        before = rate;
    }
}

/* The documentation claims 90 % as the median. Over 14 runs 92.1 % with a deviation of
 * 1.0. */
static void the_defaults_alone_train_the_digits(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *ended =
        train(client, "{'dataset':'digits','evaluation':'open','model':"
                      "{'preset':'linear'},'algorithm':{'name':'dpsgd'},"
                      "'privacy':{'epsilon':2}}");
    assert_true(reply_number(ended, "metrics.evaluation.accuracy") > 0.86);
    assert_true(reply_number(ended, "privacy.epsilon_spent") <= 2);
    assert_true(reply_number(ended, "batch_size") == 256);
    assert_true(reply_number(ended, "optimizer.learning_rate") == 2);
}

static int begin(void **state)
{
    stage_begin(state);
    struct client *client = &((struct stage *)*state)->client;
    ready_digits(client, "open", SAMPLE_TEST, SAMPLE_PUBLIC);
    ready_digits(client, "digits", SAMPLE_TRAIN, SAMPLE_BUDGET(30) SAMPLE_CONFIRMED);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_schema_shown_is_what_validates),
        cmocka_unit_test(every_algorithm_takes_a_job_that_names_little_else),
        cmocka_unit_test(the_defaults_alone_train_the_digits),
        cmocka_unit_test(diff2_trains_the_digits_by_defaults_alone),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
