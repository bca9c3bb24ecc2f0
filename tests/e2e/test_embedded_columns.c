/* Goal: a table with columns of words trains, under its budget, a network that embeds
 * them: all of them, or those that are named; predictions take the cells as they are; and
 * what cannot be embedded is refused with a pointer to it. */
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

enum { ROWS = 4000, CODES = 20 };

/* The code says which of two classes a row has, and the place turns it round. */
static char *rows(void)
{
    char *text = malloc(ROWS * 40), *to = text;
    assert_non_null(text);
    for (size_t i = 0; i < ROWS; i++) {
        size_t code = i * 7 % CODES;
        bool out = i % 3 == 0;
        to += sprintf(to, "%zu,%s,c%zu,w%zu,%s\n", i % 60, out ? "out" : "in", code,
                      i % 11, (code % 2 == 0) != out ? "yes" : "no");
    }
    return text;
}

static int begin(void **state)
{
    stage_begin(state);
    struct client *client = &((struct stage *)*state)->client;
    char codes[CODES * 8], *to = codes;
    for (size_t i = 0; i < CODES; i++)
        to += sprintf(to, "%s'c%zu'", i > 0 ? "," : "", i);
    const struct reply *reply = client_create(
        client, "/v1/datasets",
        "{'id':'visits','format':'csv','task':'classification','columns':["
        "{'name':'age','kind':'numeric','range':[0,100]},"
        "{'name':'place','kind':'categorical','values':['in','out'],'other':true},"
        "{'name':'code','kind':'categorical','values':[%s]},"
        "{'name':'ward','kind':'hashed','buckets':50},"
        "{'name':'ill','kind':'label','values':['no','yes']}],"
        "'privacy':{'epsilon':10,'delta':1e-5}}",
        codes);
    assert_status(reply, 201);
    char *data = rows();
    assert_status(
        client_put(client, "/v1/datasets/visits/files/data", data, strlen(data)), 204);
    free(data);
    assert_status(client_act(client, "/v1/datasets/%s:import", "visits"), 200);
    return 0;
}

static const struct reply *train_visits(struct client *client, const char *model,
                                        const char *more)
{
    return train(client,
                 "{'dataset':'visits','model':%s,'algorithm':{'name':'dpsgd'},"
                 "'optimizer':{'name':'adam','learning_rate':0.05},'batch_size':1000,"
                 "%s}",
                 model, more);
}

/* Asks about every code in both places. */
static size_t right_answers(struct client *client, const char *path)
{
    char body[4096], *to = body;
    size_t right = 0;
    to += sprintf(to, "{'inputs':[");
    for (size_t i = 0; i < 2 * CODES; i++)
        to += sprintf(to, "%s[30,'%s','c%zu','w3']", i > 0 ? "," : "",
                      i % 2 == 0 ? "out" : "in", i / 2);
    sprintf(to, "]}");
    const struct reply *answer = client_post(client, path, NULL, "%s", body);
    assert_status(answer, 200);
    for (size_t i = 0; i < 2 * CODES; i++) {
        bool ill = (i / 2 % 2 == 0) != (i % 2 == 0);
        char member[48];
        snprintf(member, sizeof member, "outputs.%zu.class", i);
        right += strcmp(reply_text(answer, member), ill ? "yes" : "no") == 0;
    }
    return right;
}

/* No linear model of the features is right about more than half of them. */
static void words_that_matter_together_are_learned(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    char path[128];
    const struct reply *job =
        train_visits(client, "{'preset':'mlp','hidden':[16],'embed':6}",
                     "'steps':200,'privacy':{'epsilon':9}");
    assert_true(reply_number(job, "model_spec.embed") == 6.0);
    snprintf(path, sizeof path, "/v1/models/%s/predict", reply_text(job, "model"));
    size_t right = right_answers(client, path);
    if (right < 32)
        fail_msg("%zu of %d are right", right, 2 * CODES);
}

static void columns_are_named_or_all(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    const struct reply *job =
        train_visits(client,
                     "{'layers':[{'type':'embed_columns','columns':['code'],'out':3},"
                     "{'type':'dense','out':1}]}",
                     "'steps':2,'privacy':{'noise_multiplier':20}");
    assert_string_equal(reply_text(job, "model_spec.layers.0.columns.0"), "code");
    job =
        train_visits(client,
                     "{'layers':[{'type':'embed_columns','out':3},"
                     "{'type':'dense','out':1}]}",
                     "'standardise':true,'steps':2,'privacy':{'noise_multiplier':20}");
    assert_string_equal(reply_text(job, "model_spec.layers.0.type"), "standardise");
    assert_string_equal(reply_text(job, "model_spec.layers.1.columns.0"), "place");
    assert_string_equal(reply_text(job, "model_spec.layers.1.columns.2"), "ward");
}

static void what_cannot_be_embedded_is_refused_at_its_place(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    static const struct {
        const char *model, *pointer;
    } cases[] = {
        {"{'layers':[{'type':'embed_columns','columns':['code','age'],'out':3},"
         "{'type':'dense','out':1}]}",
         "/model/layers/0/columns/1"},
        {"{'layers':[{'type':'embed_columns','columns':['ill'],'out':3},"
         "{'type':'dense','out':1}]}",
         "/model/layers/0/columns/0"},
        {"{'layers':[{'type':'embed_columns','columns':['kode'],'out':3},"
         "{'type':'dense','out':1}]}",
         "/model/layers/0/columns/0"},
        {"{'layers':[{'type':'embed_columns','columns':['code','code'],'out':3},"
         "{'type':'dense','out':1}]}",
         "/model/layers/0/columns/1"},
        {"{'layers':[{'type':'embed_columns','columns':[],'out':3},"
         "{'type':'dense','out':1}]}",
         "/model/layers/0/columns"},
        {"{'layers':[{'type':'embed_columns','columns':[7],'out':3},"
         "{'type':'dense','out':1}]}",
         "/model/layers/0/columns/0"},
        {"{'layers':[{'type':'embed_columns','out':0},{'type':'dense','out':1}]}",
         "/model/layers/0/out"},
        {"{'layers':[{'type':'dense','out':4},{'type':'embed_columns','out':2},"
         "{'type':'dense','out':1}]}",
         "/model/layers/1/type"},
        {"{'layers':[{'type':'embed_columns','out':2},{'type':'embed_columns','out':2},"
         "{'type':'dense','out':1}]}",
         "/model/layers/1"},
        {"{'preset':'linear','embed':4}", "/model/embed"},
        {"{'preset':'mlp','embed':0}", "/model/embed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_invalid_at(
            client_post(client, "/v1/jobs:estimate", NULL,
                        "{'dataset':'visits','model':%s,'algorithm':{'name':'dpsgd'},"
                        "'batch_size':100,'steps':2,'privacy':{'noise_multiplier':20}}",
                        cases[i].model),
            cases[i].pointer);
}

static void a_dataset_without_words_has_none_to_embed(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    static const char *const models[][2] = {
        {"{'preset':'mlp','embed':4}", "/model/embed"},
        {"{'layers':[{'type':'embed_columns','out':3},{'type':'dense','out':1}]}",
         "/model/layers/0"}};
    assert_status(
        client_create(client, "/v1/datasets",
                      "{'id':'ages','format':'csv','task':'classification','columns':["
                      "{'name':'age','kind':'numeric','range':[0,100]},"
                      "{'name':'ill','kind':'label','values':['no','yes']}],"
                      "'privacy':{'epsilon':1,'delta':1e-5}}"),
        201);
    assert_status(
        client_put(client, "/v1/datasets/ages/files/data", "3,no\n4,yes\n", 11), 204);
    assert_status(client_act(client, "/v1/datasets/%s:import", "ages"), 200);
    for (size_t i = 0; i < 2; i++)
        assert_invalid_at(
            client_post(client, "/v1/jobs:estimate", NULL,
                        "{'dataset':'ages','model':%s,'algorithm':{'name':'dpsgd'},"
                        "'batch_size':1,'steps':2,'privacy':{'noise_multiplier':20}}",
                        models[i][0]),
            models[i][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_that_matter_together_are_learned),
        cmocka_unit_test(columns_are_named_or_all),
        cmocka_unit_test(what_cannot_be_embedded_is_refused_at_its_place),
        cmocka_unit_test(a_dataset_without_words_has_none_to_embed),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
