/* Goal: a job starts from the file of a public encoder of texts under the names that its
 * authors gave it, and its model predicts as the public model does. Method: tiny encoders
 * and their outputs in float64, made by transformers, from ../shared/vectors/deep. */
#include <math.h>
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_public_file_needs_no_other_names),
        cmocka_unit_test(an_encoder_without_a_classifier_gets_a_fresh_one),
        cmocka_unit_test(another_encoders_file_is_refused),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
