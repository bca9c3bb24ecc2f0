/* Goal: a job starts from the file of a public encoder of texts under the names that its
 * authors gave it, and its model predicts as the public model does. Method: tiny encoders
 * and their outputs in float64, made by transformers, from ../shared/vectors/deep. */
#include <math.h>
#include <signal.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

enum { ROWS = 200, TOKENS = 20, VOCABULARY = 31, CLASSES = 3 };

#define SIZES                                                                          \
    "'blocks':2,'width':16,'heads':4,'intermediate':24,'vocabulary':31,"               \
    "'positions':20"
#define BERT(rest) "{'preset':'bert'," SIZES ",'separator':3" rest "}"
/* Steps too small to change the classifier. */
#define STILL                                                                          \
    "'algorithm':{'name':'sgd'},'optimizer':{'name':'sgd','learning_rate':1e-12},"     \
    "'batch_size':50,'steps':1}"
#define PRIVATE                                                                        \
    "'algorithm':{'name':'dpsgd'},'batch_size':50,'steps':4,"                          \
    "'privacy':{'noise_multiplier':4}}"

static void put_idx(struct client *client, const char *path, const uint32_t *dimensions,
                    const uint8_t *bytes)
{
    size_t size;
    uint8_t *file = sample_idx(dimensions, bytes, &size);
    assert_status(client_put(client, path, (const char *)file, size), 204);
    free(file);
}

/* A dataset whose records are ids of tokens. */
static void ready_texts(struct client *client, const char *id, const char *privacy)
{
    static uint8_t ids[ROWS * TOKENS], labels[ROWS];
    char path[64];
    for (size_t i = 0; i < ROWS; i++) {
        labels[i] = (uint8_t)(i % CLASSES);
        for (size_t t = 0; t < TOKENS; t++)
            ids[i * TOKENS + t] =
                (uint8_t)((i * 7 + t * (labels[i] + 1) + (size_t)id[0]) % VOCABULARY);
    }
    assert_status(client_create(client, "/v1/datasets",
                                "{'id':'%s','format':'idx','task':'classification',"
                                "'classes':3,'features':{'shape':[20],'scale':1},"
                                "'privacy':%s}",
                                id, privacy),
                  201);
    snprintf(path, sizeof path, "/v1/datasets/%s/files/features", id);
    put_idx(client, path, (const uint32_t[]){ROWS, TOKENS, 0}, ids);
    snprintf(path, sizeof path, "/v1/datasets/%s/files/labels", id);
    put_idx(client, path, (const uint32_t[]){ROWS, 0}, labels);
    snprintf(path, sizeof path, "/v1/datasets/%s:import", id);
    assert_status(client_act(client, "%s", path), 200);
}

/* Uploads the weights of a tiny model, and copies the file's id. */
static void upload(struct client *client, const char *name, char id[64])
{
    char path[1024], file[128];
    static char bytes[1 << 16];
    snprintf(file, sizeof file, "vectors/deep/%s.safetensors", name);
    shared_path(path, file);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    size_t size = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    const struct reply *made = client_send(
        client, &(struct request){.method = "POST",
                                  .path = "/v1/files",
                                  .headers = {"Content-Type: application/octet-stream"},
                                  .body = bytes,
                                  .size = size});
    assert_status(made, 201);
    snprintf(id, 64, "%s", reply_text(made, "id"));
}

static int begin(void **state)
{
    stage_begin(state);
    struct client *client = &((struct stage *)*state)->client;
    ready_texts(client, "texts", SAMPLE_BUDGET(8));
    ready_texts(client, "open", SAMPLE_PUBLIC);
    return 0;
}

/* --- answers --- */

/* The records of the vectors as rows of predict, with -1 behind the end. */
static char *rows_of(const json_t *known)
{
    const json_t *records = json_object_get(known, "records");
    json_t *rows = json_array();
    for (size_t i = 0; i < json_array_size(records); i++) {
        json_t *row = json_copy(json_object_get(json_array_get(records, i), "ids"));
        while (json_array_size(row) < TOKENS)
            json_array_append_new(row, json_integer(-1));
        json_array_append_new(rows, row);
    }
    char *text = json_dumps(rows, 0);
    json_decref(rows);
    return text;
}

/* Returns the probability of class j by the outputs of the vectors. */
static double share(const json_t *outputs, size_t j)
{
    double sum = 0;
    for (size_t k = 0; k < CLASSES; k++)
        sum += exp(json_number_value(json_array_get(outputs, k)));
    return exp(json_number_value(json_array_get(outputs, j))) / sum;
}

static void expect_answers(struct client *client, const char *model, const char *name)
{
    char path[1024], file[128];
    snprintf(file, sizeof file, "vectors/deep/%s.json", name);
    shared_path(path, file);
    json_auto_t *known = json_load_file(path, 0, NULL);
    const json_t *outputs = json_object_get(known, "outputs");
    char *rows = rows_of(known);
    snprintf(path, sizeof path, "/v1/models/%s/predict", model);
    const struct reply *reply = client_post(client, path, NULL, "{'inputs':%s}", rows);
    assert_status(reply, 200);
    for (size_t i = 0; i < json_array_size(outputs); i++)
        for (size_t j = 0; j < CLASSES; j++) {
            const json_t *answer = json_array_get(reply_at(reply, "outputs"), i);
            double found = json_number_value(
                json_array_get(json_object_get(answer, "probabilities"), j));
            assert_true(fabs(found - share(json_array_get(outputs, i), j)) < 1e-5);
        }
    free(rows);
}

static void a_public_file_needs_no_other_names(void **state)
{
    static const char *const files[] = {"bert", "bert_old_names"};
    struct client *client = &((struct stage *)*state)->client;
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        char id[64], model[64];
        upload(client, files[k], id);
        const struct reply *job = train(
            client, "{'dataset':'open','model':" BERT(",'weights':'%s'") "," STILL, id);
        snprintf(model, sizeof model, "%s", reply_text(job, "model"));
        expect_answers(client, model, "bert");
    }
}

static void an_encoder_without_a_classifier_gets_a_fresh_one(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    static const char job[] =
        "{'dataset':'texts','model':" BERT(",'weights':'%s'%s") "," PRIVATE;
    char id[64];
    upload(client, "bert_no_prefix", id);
    const struct reply *refused = client_create(client, "/v1/jobs", job, id, "");
    assert_invalid_at(refused, "/model/weights");
    assert_non_null(strstr(refused->body, "classifier.weight"));
    assert_non_null(strstr(refused->body, "fresh"));
    train(client, job, id, ",'fresh':'head'");
    train(client, job, id, ",'fresh':'head','take':'mean'");
}

static void another_encoders_file_is_refused(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    char id[64];
    upload(client, "roberta", id);
    assert_invalid_at(
        client_create(client, "/v1/jobs",
                      "{'dataset':'texts','model':" BERT(",'weights':'%s'") "," PRIVATE,
                      id),
        "/model/weights");
    /* Two of its positions are no token's. */
    assert_invalid_at(
        client_create(client, "/v1/jobs",
                      "{'dataset':'texts','model':{'preset':'roberta'," SIZES
                      "}," PRIVATE),
        "/model/positions");
}

/* --- models without their body --- */

#define HEAD_ON                                                                        \
    "{'dataset':'texts','model':" BERT(",'weights':'%s','fresh':'head'") "," PRIVATE

/* A body, and a model whose head was trained on it. */
struct small {
    char file[64], model[64];
};

static struct small make_small(struct client *client)
{
    struct small small;
    upload(client, "bert_no_prefix", small.file);
    snprintf(small.model, sizeof small.model, "%s",
             reply_text(train(client, HEAD_ON, small.file), "model"));
    return small;
}

static size_t tensors_of(const struct reply *file)
{
    uint64_t size = 0;
    memcpy(&size, file->body, sizeof size);
    json_auto_t *header = json_loadb(file->body + 8, size, 0, NULL);
    assert_non_null(header);
    return json_object_size(header) - 1; /* and the metadata */
}

static const struct reply *ask(struct client *client, const char *model)
{
    char path[128], row[128] = "3";
    for (int t = 1; t < TOKENS; t++)
        snprintf(row + strlen(row), sizeof row - strlen(row), ",%d", t % VOCABULARY);
    snprintf(path, sizeof path, "/v1/models/%s/predict", model);
    return client_post(client, path, NULL, "{'inputs':[[%s]]}", row);
}

static char *predicted(struct client *client, const char *model)
{
    const struct reply *reply = ask(client, model);
    assert_status(reply, 200);
    return strdup(reply->body);
}

static void a_head_is_published_without_its_body(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    struct small small = make_small(client);
    const struct reply *card = client_get(client, "/v1/models/%s", small.model);
    assert_string_equal(reply_text(card, "certificate.base.file"), small.file);
    assert_string_equal(reply_text(card, "certificate.base.names"), "bert");
    assert_string_equal(reply_text(card, "certificate.base.sha256"),
                        reply_text(card, "certificate.ancestors.0.sha256"));
    assert_true(reply_number(card, "size") < 12000);
    const struct reply *own =
        client_get(client, "/v1/models/%s/content?merged=false", small.model);
    assert_status(own, 200);
    assert_int_equal(tensors_of(own), 2);
    assert_non_null(strstr(own->body + 8, "\\\"names\\\":\\\"bert\\\""));
    const struct reply *whole =
        client_get(client, "/v1/models/%s/content?merged=true", small.model);
    assert_status(whole, 200);
    assert_int_equal(tensors_of(whole), 41);
    assert_problem(client_get(client, "/v1/models/%s/content?merged=yes", small.model),
                   400, "invalid_argument");
    assert_status(client_get(client, "/v1/models/%s/content?format=onnx", small.model),
                  200);
}

/* Everything is trained through; the body has what is not. A bias without its weight is
 * in the file, and the weight is in the body. */
static void any_part_is_trained_on_the_body(void **state)
{
    static const struct {
        const char *trainable;
        size_t tensors, whole; /* of its own file, and with the body */
    } cases[] = {
        {"'bias'", 25, 41},
        {"{'last':1}", 20, 41},
        {"{'only':['*.bias','classifier.weight']}", 20, 41},
        {"{'except':['bert.embeddings.*']}", 36, 41},
        {"'all'", 41, 41},
        {"{'lora':{'rank':2,'alpha':4,'targets':['*.query','*.value']}}", 10, 49},
    };
    struct client *client = &((struct stage *)*state)->client;
    char id[64], model[64];
    upload(client, "bert_no_prefix", id);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const struct reply *job =
            train(client,
                  "{'dataset':'texts','model':" BERT(
                      ",'weights':'%s','fresh':'head','trainable':%s") "," PRIVATE,
                  id, cases[k].trainable);
        snprintf(model, sizeof model, "%s", reply_text(job, "model"));
        const struct reply *own = client_get(client, "/v1/models/%s/content", model);
        assert_int_equal(tensors_of(own), cases[k].tensors);
        own = client_get(client, "/v1/models/%s/content?merged=true", model);
        assert_int_equal(tensors_of(own), cases[k].whole);
        assert_status(ask(client, model), 200);
    }
    assert_invalid_at(client_create(client, "/v1/jobs",
                                    "{'dataset':'texts','model':" BERT(
                                        ",'weights':'%s','fresh':'head','trainable':"
                                        "{'last':3}") "," PRIVATE,
                                    id),
                      "/model/trainable/last");
}

#define ADAPTED(rank, targets)                                                         \
    ",'weights':'%s','trainable':{'lora':{'rank':" rank                                \
    ",'alpha':8,'targets':[" targets "]}}"

/* Adapters begin with the outputs of their body, and a second job goes on with those of
 * the first. A step of length 0 moves nothing. */
static void adapters_begin_as_their_body_and_go_on(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    struct small small = make_small(client);
    char begun[64], trained[64], again[64];
    static const char still[] =
        "{'dataset':'open','model':" BERT(ADAPTED("3", "'*.query'")) "," STILL;
    snprintf(begun, sizeof begun, "%s",
             reply_text(train(client, still, small.model), "model"));
    snprintf(trained, sizeof trained, "%s",
             reply_text(train(client,
                              "{'dataset':'texts','model':" BERT(
                                  ADAPTED("3", "'*.query'")) "," PRIVATE,
                              begun),
                        "model"));
    snprintf(again, sizeof again, "%s",
             reply_text(train(client, still, trained), "model"));
    char *body = predicted(client, small.model), *first = predicted(client, begun),
         *second = predicted(client, trained), *third = predicted(client, again);
    assert_string_equal(body, first);
    assert_string_not_equal(first, second);
    assert_string_equal(second, third);
    free(body);
    free(first);
    free(second);
    free(third);
    const struct {
        const char *start, *rank, *targets, *pointer;
    } others[] = {
        {trained, "2", "'*.query'", "/model/weights"},
        {trained, "3", "'*.value'", "/model/weights"},
        {trained, "3", "'*.query','*.key'", "/model/weights"},
        {small.model, "17", "'*.query'", "/model/trainable/lora/rank"},
        {small.model, "3", "'classifier'", "/model/trainable/lora/targets/0"},
    };
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        assert_invalid_at(
            client_create(
                client, "/v1/jobs",
                "{'dataset':'open','model':" BERT(ADAPTED("%s", "%s")) "," STILL,
                others[k].start, others[k].rank, others[k].targets),
            others[k].pointer);
    assert_invalid_at(
        client_create(client, "/v1/jobs",
                      "{'dataset':'open','model':" BERT(",'weights':'%s'") "," STILL,
                      trained),
        "/model/weights");
}

/* The merged file, uploaded, is a start whose predictions are the same. */
static void both_files_together_are_the_model(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    struct small small = make_small(client);
    const struct reply *whole =
        client_get(client, "/v1/models/%s/content?merged=true", small.model);
    const struct reply *made = client_send(
        client, &(struct request){.method = "POST",
                                  .path = "/v1/files",
                                  .headers = {"Content-Type: application/octet-stream"},
                                  .body = whole->body,
                                  .size = whole->size});
    assert_status(made, 201);
    char again[64], chained[64];
    static const char still[] =
        "{'dataset':'open','model':" BERT(",'weights':'%s'") "," STILL;
    snprintf(again, sizeof again, "%s",
             reply_text(train(client, still, reply_text(made, "id")), "model"));
    snprintf(chained, sizeof chained, "%s",
             reply_text(train(client, still, small.model), "model"));
    char *first = predicted(client, small.model), *second = predicted(client, again),
         *third = predicted(client, chained);
    assert_string_equal(first, second);
    assert_string_equal(first, third);
    free(first);
    free(second);
    free(third);
    /* A model that started from another model is whole. */
    assert_int_equal(tensors_of(client_get(client, "/v1/models/%s/content", chained)),
                     41);
}

static void a_body_stays_while_a_model_needs_it(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    struct small small = make_small(client);
    char path[128], model[128];
    snprintf(path, sizeof path, "/v1/files/%s", small.file);
    snprintf(model, sizeof model, "/v1/models/%s", small.model);
    char *before = predicted(client, small.model);
    assert_problem(client_delete(client, path), 409, "file_in_use");
    assert_int_equal(daemon_verify(&stage->daemon), 0);
    daemon_stop(&stage->daemon, SIGTERM);
    daemon_start(&stage->daemon, (const char *const[]){NULL});
    assert_problem(client_delete(client, path), 409, "file_in_use");
    char *after = predicted(client, small.model);
    assert_string_equal(before, after);
    free(before);
    free(after);
    assert_status(client_delete(client, model), 204);
    assert_status(client_delete(client, path), 204);
}

/* Its own file is not damaged. The daemon starts again, because other models have the same
 * body, which is in memory. */
static void a_model_whose_body_is_damaged_answers_nothing(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    struct small small = make_small(client);
    static const char *const forms[] = {"merged=true", "format=onnx"};
    char path[256], aside[300];
    snprintf(path, sizeof path, "%s/weights/%s.safetensors", stage->daemon.data_dir,
             small.file);
    snprintf(aside, sizeof aside, "%s.aside", path);
    daemon_stop(&stage->daemon, SIGTERM);
    daemon_start(&stage->daemon, (const char *const[]){NULL});
    assert_int_equal(rename(path, aside), 0);
    assert_problem(ask(client, small.model), 500, "model_corrupt");
    for (size_t k = 0; k < 2; k++)
        assert_problem(
            client_get(client, "/v1/models/%s/content?%s", small.model, forms[k]), 500,
            "model_corrupt");
    assert_status(client_get(client, "/v1/models/%s/content", small.model), 200);
    assert_true(daemon_verify(&stage->daemon) != 0);
    snprintf(path, sizeof path, "%s/weights/%s.safetensors", stage->daemon.data_dir,
             small.file);
    assert_int_equal(rename(aside, path), 0);
    char *answer = predicted(client, small.model);
    assert_int_equal(daemon_verify(&stage->daemon), 0);
    /* A body in memory was what it must be when it was read, and is used until the next
     * start; a download reads the file. */
    assert_int_equal(rename(path, aside), 0);
    char *again = predicted(client, small.model);
    assert_string_equal(again, answer);
    assert_problem(client_get(client, "/v1/models/%s/content?merged=true", small.model),
                   500, "model_corrupt");
    assert_int_equal(rename(aside, path), 0);
    free(answer);
    free(again);
}

static void a_body_stays_while_a_job_may_need_it(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    char file[64], path[128];
    upload(client, "bert_no_prefix", file);
    snprintf(path, sizeof path, "/v1/files/%s", file);
    const char *job =
        submit(client,
               "{'dataset':'texts','model':" BERT(
                   ",'weights':'%s','fresh':'head'") ","
                                                     "'algorithm':{'name':'dpsgd'},'"
                                                     "batch_size':50,"
                                                     "'steps':400000,'privacy':{'noise_"
                                                     "multiplier':2000}}",
               file);
    assert_problem(client_delete(client, path), 409, "file_in_use");
    cancel(client, job);
    await_end(client, job);
    assert_status(client_delete(client, path), 204);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_public_file_needs_no_other_names),
        cmocka_unit_test(an_encoder_without_a_classifier_gets_a_fresh_one),
        cmocka_unit_test(another_encoders_file_is_refused),
        cmocka_unit_test(a_head_is_published_without_its_body),
        cmocka_unit_test(any_part_is_trained_on_the_body),
        cmocka_unit_test(adapters_begin_as_their_body_and_go_on),
        cmocka_unit_test(both_files_together_are_the_model),
        cmocka_unit_test(a_body_stays_while_a_model_needs_it),
        cmocka_unit_test(a_model_whose_body_is_damaged_answers_nothing),
        cmocka_unit_test(a_body_stays_while_a_job_may_need_it),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
