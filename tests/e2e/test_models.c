/* Goal: only the published model leaves the daemon: its file carries its certificate,
 * is enough to compute what predict answers, and is served whole, in ranges, and
 * unchanged. */
#include <openssl/evp.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

struct published {
    struct stage *stage;
    char job[64], model[64], path[128];
};

static int begin(void **state)
{
    struct published *published = calloc(1, sizeof *published);
    assert_non_null(published);
    *state = published;
    void *stage;
    stage_begin(&stage);
    published->stage = stage;
    struct client *client = &published->stage->client;
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(4));
    ready_points(client, "open", 200, 2, SAMPLE_PUBLIC);
    const struct reply *job =
        train(client, "{'dataset':'points','evaluation':'open',"
                      "'model':{'preset':'mlp','hidden':[6],'activation':'tanh'},"
                      "'algorithm':{'name':'dpsgd','clip_norm':1.0},"
                      "'batch_size':100,'epochs':30,'privacy':{'epsilon':2}}");
    snprintf(published->job, sizeof published->job, "%s", reply_text(job, "id"));
    snprintf(published->model, sizeof published->model, "%s", reply_text(job, "model"));
    snprintf(published->path, sizeof published->path, "/v1/models/%s/content",
             published->model);
    return 0;
}

static int end(void **state)
{
    struct published *published = *state;
    void *stage = published->stage;
    if (stage != NULL)
        stage_end(&stage);
    free(published);
    return 0;
}

static struct client *client_of(void **state)
{
    struct published *published = *state;
    return &published->stage->client;
}

static void sha256(uint8_t digest[32], const void *bytes, size_t size)
{
    unsigned length = 32;
    assert_int_equal(EVP_Digest(bytes, size, digest, &length, EVP_sha256(), NULL), 1);
}

static void hex_of(char hex[65], const uint8_t digest[32])
{
    for (int i = 0; i < 32; i++)
        sprintf(hex + 2 * i, "%02x", digest[i]);
}

/* Reads the header of a safetensors file; *data is where the tensors begin. */
static json_t *header_of(const struct reply *content, const char **data)
{
    uint64_t size = 0;
    for (int i = 7; i >= 0; i--)
        size = size << 8 | (uint8_t)content->body[i];
    assert_true(content->size > 8 && size < content->size - 8);
    assert_true(size % 8 == 0 && content->body[8] == '{');
    json_t *header = json_loadb(content->body + 8, size, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(header);
    *data = content->body + 8 + size;
    return header;
}

static json_t *metadata_text(const json_t *header, const char *name)
{
    const json_t *metadata = json_object_get(header, "__metadata__");
    const char *text = json_string_value(json_object_get(metadata, name));
    assert_non_null(text);
    json_t *parsed = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(parsed);
    return parsed;
}

static void the_certificate_is_part_of_the_file(void **state)
{
    struct published *published = *state;
    struct client *client = client_of(state);
    const struct reply *content = client_get(client, "%s", published->path);
    assert_status(content, 200);
    const char *data;
    json_t *header = header_of(content, &data);
    const json_t *metadata = json_object_get(header, "__metadata__");
    assert_string_equal(json_string_value(json_object_get(metadata, "format")),
                        "epsilond/1");
    json_t *certificate = metadata_text(header, "certificate");
    struct reply view = {.json = certificate, .body = content->body + 8};
    const struct reply *job = client_get(client, "/v1/jobs/%s", published->job);
    const struct reply *ledger = client_get(client, "/v1/datasets/points/ledger");

    assert_string_equal(reply_text(&view, "job"), published->job);
    assert_string_equal(reply_text(&view, "dataset"), "points");
    assert_string_equal(reply_text(&view, "guarantee.relation"), "zero_out");
    assert_string_equal(reply_text(&view, "guarantee.unit"), "record");
    assert_true(reply_number(&view, "steps") == reply_number(job, "progress.steps"));
    assert_close(reply_number(&view, "guarantee.noise_multiplier"),
                 reply_number(job, "privacy.noise_multiplier"), 1e-14);
    assert_close(reply_number(&view, "guarantee.sampling_rate"), 0.2, 1e-14);
    assert_close(reply_number(&view, "guarantee.epsilon"),
                 reply_number(job, "privacy.epsilon_planned"), 1e-14);
    assert_true(reply_number(&view, "guarantee.delta") == 1e-5);
    assert_true(reply_number(&view, "guarantee.reserve.seq") ==
                reply_number(job, "privacy.ledger_seq"));
    assert_string_equal(reply_text(ledger, "entries.1.kind"), "RESERVE");
    assert_string_equal(reply_text(&view, "guarantee.reserve.hash"),
                        reply_text(ledger, "entries.1.hash"));
    assert_non_null(strstr(json_string_value(json_object_get(metadata, "certificate")),
                           "sampled_gaussian"));
    assert_string_equal(reply_text(&view, "version"),
                        reply_text(client_get(client, "/v1/version"), "version"));
    json_decref(certificate);
    json_decref(header);
}

static void the_file_is_the_one_that_the_ledger_names(void **state)
{
    struct published *published = *state;
    struct client *client = client_of(state);
    const struct reply *content = client_get(client, "%s", published->path);
    const struct reply *card = client_get(client, "/v1/models/%s", published->model);
    assert_status(card, 200);
    uint8_t digest[32];
    char hex[65], etag[256], quoted[80], given[256], expected[128], text[64];
    sha256(digest, content->body, content->size);
    hex_of(hex, digest);
    assert_string_equal(reply_text(card, "sha256"), hex);
    assert_true(reply_number(card, "size") == (double)content->size);
    assert_string_equal(reply_text(card, "job"), published->job);
    assert_true(reply_header(content, "etag", etag));
    snprintf(quoted, sizeof quoted, "\"%s\"", hex);
    assert_string_equal(etag, quoted);
    EVP_EncodeBlock((unsigned char *)text, digest, 32);
    snprintf(expected, sizeof expected, "sha-256=:%s:", text);
    assert_true(reply_header(content, "content-digest", given));
    assert_string_equal(given, expected);
    const struct reply *ledger = client_get(client, "/v1/datasets/points/ledger");
    assert_string_equal(reply_text(ledger, "entries.2.kind"), "COMMIT");
    assert_non_null(strstr(ledger->body, hex));
}

/* ---- the forward pass of this test's own model, from the bytes of its file ---- */

enum { INPUTS = 2, HIDDEN = 6, OUTPUTS_MAX = 2 };

struct tensors {
    float hidden[HIDDEN][INPUTS], hidden_bias[HIDDEN], out[OUTPUTS_MAX][HIDDEN],
        out_bias[OUTPUTS_MAX];
    size_t outputs;
};

static void read_tensor(float *to, size_t room, const json_t *entry, const char *data)
{
    const json_t *offsets = json_object_get(entry, "data_offsets");
    size_t from = (size_t)json_integer_value(json_array_get(offsets, 0));
    size_t until = (size_t)json_integer_value(json_array_get(offsets, 1));
    assert_string_equal(json_string_value(json_object_get(entry, "dtype")), "F32");
    assert_true(until - from <= room * sizeof *to);
    memcpy(to, data + from, until - from);
}

static void read_tensors(struct tensors *tensors, const struct reply *content)
{
    const char *data, *name;
    json_t *header = header_of(content, &data), *entry;
    json_object_foreach(header, name, entry)
    {
        const json_t *shape = json_object_get(entry, "shape");
        long long rows = json_integer_value(json_array_get(shape, 0));
        size_t length = strlen(name);
        bool weight = length > 7 && strcmp(name + length - 7, ".weight") == 0;
        if (strcmp(name, "__metadata__") == 0)
            continue;
        if (rows == HIDDEN && weight)
            read_tensor(&tensors->hidden[0][0], HIDDEN * INPUTS, entry, data);
        else if (rows == HIDDEN)
            read_tensor(tensors->hidden_bias, HIDDEN, entry, data);
        else if (weight)
            read_tensor(&tensors->out[0][0], OUTPUTS_MAX * HIDDEN, entry, data);
        else
            read_tensor(tensors->out_bias, OUTPUTS_MAX, entry, data);
        if (rows != HIDDEN)
            tensors->outputs = (size_t)rows;
    }
    json_decref(header);
}

/* Returns the probability of "yes", from one logistic output (api.md, loss). */
static double probability(const struct tensors *tensors, const double x[INPUTS])
{
    assert_int_equal(tensors->outputs, 1);
    double sum = (double)tensors->out_bias[0];
    for (size_t i = 0; i < HIDDEN; i++) {
        double h = (double)tensors->hidden_bias[i];
        for (size_t j = 0; j < INPUTS; j++)
            h += (double)tensors->hidden[i][j] * x[j];
        sum += (double)tensors->out[0][i] * tanh(h);
    }
    return 1 / (1 + exp(-sum));
}

static void predict_is_what_the_file_says(void **state)
{
    struct published *published = *state;
    struct client *client = client_of(state);
    struct tensors tensors;
    read_tensors(&tensors, client_get(client, "%s", published->path));
    const double rows[][INPUTS] = {{0.25, -0.75}, {-1, 1}, {0.031, 0.002}, {0.9, 0.9}};
    char path[128];
    snprintf(path, sizeof path, "/v1/models/%s/predict", published->model);
    const struct reply *reply = client_post(
        client, path, NULL, "{'inputs':[[0.25,-0.75],[-1,1],[0.031,0.002],[0.9,0.9]]}");
    assert_status(reply, 200);
    const json_t *outputs = reply_at(reply, "outputs");
    assert_int_equal(json_array_size(outputs), 4);
    for (size_t i = 0; i < 4; i++) {
        double expected = probability(&tensors, rows[i]);
        const json_t *output = json_array_get(outputs, i);
        const json_t *shares = json_object_get(output, "probabilities");
        double yes = json_number_value(json_array_get(shares, 1));
        double no = json_number_value(json_array_get(shares, 0));
        assert_true(fabs(yes - expected) < 1e-5);
        assert_true(fabs(yes + no - 1) < 1e-9);
        assert_string_equal(json_string_value(json_object_get(output, "class")),
                            expected > 0.5 ? "yes" : "no");
    }
}

static void bad_rows_are_refused_at_their_cell(void **state)
{
    struct published *published = *state;
    struct client *client = client_of(state);
    char path[128];
    snprintf(path, sizeof path, "/v1/models/%s/predict", published->model);
    const struct {
        const char *body, *pointer;
    } bad[] = {
        {"{'inputs':[[0.5]]}", "/inputs/0"},
        {"{'inputs':[[0.5,0.5],[0.5,0.5,0.5]]}", "/inputs/1"},
        {"{'inputs':[[0.5,'x']]}", "/inputs/0/1"},
        {"{'inputs':[[0.5,null]]}", "/inputs/0/1"},
        {"{'inputs':[0.5]}", "/inputs/0"},
        {"{'inputs':7}", "/inputs"},
        {"{'rows':[[0.5,0.5]]}", NULL},
        {"{'inputs':[[0.5,0.5]],'top':1}", "/top"},
        {"{'inputs':[[0.5,NaN]]}", NULL},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct reply *reply = client_post(client, path, NULL, "%s", bad[i].body);
        assert_problem(reply, 400, "invalid_argument");
        if (bad[i].pointer != NULL)
            assert_string_equal(reply_text(reply, "errors.0.pointer"), bad[i].pointer);
    }
    assert_problem(client_post(client,
                               "/v1/models/mdl_01ARZ3NDEKTSV4RRFFQ69G5FAV/predict",
                               NULL, "{'inputs':[[0,0]]}"),
                   404, "not_found");
}

static void ranges_are_parts_of_the_file(void **state)
{
    struct published *published = *state;
    struct client *client = client_of(state);
    const struct reply *whole = client_get(client, "%s", published->path);
    char accepted[256];
    assert_true(reply_header(whole, "accept-ranges", accepted));
    assert_string_equal(accepted, "bytes");
    const struct {
        const char *header;
        size_t from, size;
    } ranges[] = {{"Range: bytes=0-7", 0, 8},
                  {"Range: bytes=8-", 8, whole->size - 8},
                  {"Range: bytes=-16", whole->size - 16, 16},
                  {"Range: bytes=100-100000000", 100, whole->size - 100}};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        const struct reply *part =
            client_get_with(client, published->path, ranges[i].header);
        assert_status(part, 206);
        assert_int_equal(part->size, ranges[i].size);
        assert_memory_equal(part->body, whole->body + ranges[i].from, part->size);
        char given[256], expected[128];
        assert_true(reply_header(part, "content-range", given));
        snprintf(expected, sizeof expected, "bytes %zu-%zu/%zu", ranges[i].from,
                 ranges[i].from + ranges[i].size - 1, whole->size);
        assert_string_equal(given, expected);
    }
    const struct reply *beyond =
        client_get_with(client, published->path, "Range: bytes=100000000-");
    assert_problem(beyond, 416, "range_not_satisfiable");
    char given[256];
    assert_true(reply_header(beyond, "content-range", given));
    assert_true(strncmp(given, "bytes */", 8) == 0);
    assert_status(client_get_with(client, published->path, "Range: lines=1-2"), 200);
}

static void a_range_of_another_file_is_the_whole_of_this(void **state)
{
    struct published *published = *state;
    struct client *client = client_of(state);
    const struct reply *whole = client_get(client, "%s", published->path);
    char etag[256], match[300];
    assert_true(reply_header(whole, "etag", etag));
    snprintf(match, sizeof match, "If-Range: %s", etag);
    struct request request = {.method = "GET",
                              .path = published->path,
                              .headers = {"Range: bytes=0-9", match}};
    assert_status(client_send(client, &request), 206);
    request.headers[1] = "If-Range: \"another\"";
    const struct reply *other = client_send(client, &request);
    assert_status(other, 200);
    assert_int_equal(other->size, whole->size);
    snprintf(match, sizeof match, "If-None-Match: %s", etag);
    assert_status(client_get_with(client, published->path, match), 304);
}

static void head_tells_the_size_without_the_file(void **state)
{
    struct published *published = *state;
    struct client *client = client_of(state);
    const struct reply *whole = client_get(client, "%s", published->path);
    const struct reply *head = client_send(
        client, &(struct request){.method = "HEAD", .path = published->path});
    char given[256], expected[32];
    assert_status(head, 200);
    assert_int_equal(head->size, 0);
    assert_true(reply_header(head, "content-length", given));
    snprintf(expected, sizeof expected, "%zu", whole->size);
    assert_string_equal(given, expected);
    assert_true(reply_header(head, "etag", given));
}

/* Returns whether the body, which may be binary, contains the text. */
static bool holds(const struct reply *reply, const char *text)
{
    size_t size = strlen(text);
    for (size_t i = 0; i + size <= reply->size; i++)
        if (memcmp(reply->body + i, text, size) == 0)
            return true;
    return false;
}

/* tests/python/check_onnx.py compares what the ONNX graph computes with predict. */
static void it_comes_as_onnx_too(void **state)
{
    struct published *published = *state;
    struct client *client = client_of(state);
    char path[160], given[256], etag[256], header[300], expected[96];
    snprintf(path, sizeof path, "%s?format=onnx", published->path);
    const struct reply *plain = client_get(client, "%s", published->path);
    const struct reply *onnx = client_get(client, "%s", path);
    assert_status(onnx, 200);
    assert_true(holds(onnx, "certificate_sha256") && holds(onnx, published->model) &&
                holds(onnx, "probabilities"));

    uint8_t digest[32];
    unsigned char base64[64];
    sha256(digest, onnx->body, onnx->size);
    EVP_EncodeBlock(base64, digest, 32);
    assert_true(reply_header(onnx, "content-digest", given));
    snprintf(expected, sizeof expected, "sha-256=:%s:", base64);
    assert_string_equal(given, expected);

    /* It has an ETag of its own, which works like the file's. */
    assert_true(reply_header(onnx, "etag", etag));
    assert_true(reply_header(plain, "etag", given));
    assert_string_not_equal(etag, given);
    snprintf(header, sizeof header, "If-None-Match: %s", etag);
    assert_status(client_get_with(client, path, header), 304);
    assert_status(client_get_with(client, published->path, header), 200);
    snprintf(header, sizeof header, "If-Match: %s", given);
    assert_problem(client_get_with(client, path, header), 412, "precondition_failed");
    const struct reply *again = client_get_with(client, path, "Range: bytes=0-7");
    assert_status(again, 200);
    assert_int_equal(again->size, onnx->size);
    assert_memory_equal(again->body, onnx->body, onnx->size);

    const struct reply *head =
        client_send(client, &(struct request){.method = "HEAD", .path = path});
    assert_status(head, 200);
    assert_int_equal(head->size, 0);
    assert_true(reply_header(head, "content-length", given));
    snprintf(expected, sizeof expected, "%zu", onnx->size);
    assert_string_equal(given, expected);
}

static void a_format_that_is_none_is_refused(void **state)
{
    struct published *published = *state;
    struct client *client = client_of(state);
    const char *queries[] = {"format=onnxx", "format=", "format=ONNX",
                             "format=onnx&format=onnx"};
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        const struct reply *reply =
            client_get(client, "%s?%s", published->path, queries[i]);
        assert_problem(reply, 400, "invalid_argument");
        assert_string_equal(reply_text(reply, "errors.0.parameter"), "format");
    }
    const struct reply *same =
        client_get(client, "%s?format=safetensors", published->path);
    assert_status(same, 200);
    char path[160];
    snprintf(path, sizeof path, "%s?format=onnx", published->path);
    assert_problem(client_get_with(client, path, "Accept: image/png"), 406,
                   "not_acceptable");
}

static void quality_is_shown_on_public_data_over_the_run(void **state)
{
    struct published *published = *state;
    struct client *client = client_of(state);
    const struct reply *job = client_get(client, "/v1/jobs/%s", published->job);
    const json_t *history = reply_at(job, "metrics.history");
    /* 150 steps, n / batch = 5: one evaluation in each epoch, the last after the last
     * step. */
    assert_int_equal(json_array_size(history), 30);
    double before = 0;
    for (size_t i = 0; i < 30; i++) {
        const json_t *point = json_array_get(history, i);
        double step = json_number_value(json_object_get(point, "step"));
        double accuracy = json_number_value(json_object_get(point, "accuracy"));
        assert_true(step == before + 5);
        assert_true(accuracy >= 0 && accuracy <= 1);
        assert_true(json_number_value(json_object_get(point, "loss")) > 0);
        before = step;
    }
    assert_true(reply_number(job, "metrics.evaluation.step") == 150);
    assert_true(reply_number(job, "metrics.evaluation.accuracy") > 0.8);
}

static void nothing_private_is_in_a_job_without_evaluation(void **state)
{
    struct client *client = client_of(state);
    const struct reply *job =
        await_end(client, submit(client, SAMPLE_JOB, "points", 20, 30.0));
    assert_true(json_is_null(reply_at(job, "metrics.evaluation")));
    assert_int_equal(json_array_size(reply_at(job, "metrics.history")), 0);
    const char *words[] = {"train_loss", "gradient", "norms", "realised", "clipped"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        assert_null(strstr(job->body, words[i]));
}

static void a_regression_answers_in_the_units_of_its_label(void **state)
{
    struct client *client = client_of(state);
    const char *ids[] = {"slope", "slope-test"};
    char text[8192], path[80];
    for (int k = 0; k < 2; k++) {
        assert_status(
            client_create(client, "/v1/datasets",
                          "{'id':'%s','format':'csv','task':'regression',"
                          "'header':true,'columns':["
                          "{'name':'x','kind':'numeric','range':[0,10]},"
                          "{'name':'note','kind':'ignored'},"
                          "{'name':'price','kind':'label','range':[100,300]}],"
                          "'privacy':%s}",
                          ids[k], k == 0 ? SAMPLE_BUDGET(8) : SAMPLE_PUBLIC),
            201);
        char *end = text + sprintf(text, "x,note,price\n");
        for (int i = 0; i < 300; i++) {
            double x = (i * 7 + k) % 300 / 30.0;
            end += sprintf(end, "%.3f,n%d,%.3f\n", x, i, 100 + 20 * x);
        }
        snprintf(path, sizeof path, "/v1/datasets/%s/files/data", ids[k]);
        assert_status(client_put(client, path, text, strlen(text)), 204);
        assert_status(client_act(client, "/v1/datasets/%s:import", ids[k]), 200);
    }
    const struct reply *job =
        train(client, "{'dataset':'slope','evaluation':'slope-test',"
                      "'model':{'preset':'linear'},'algorithm':{'name':'dpsgd'},"
                      "'batch_size':150,'epochs':100,'privacy':{'epsilon':4}}");
    /* The labels' spread is 57.7, which is the error of a model that has learnt
     * nothing. */
    assert_true(reply_number(job, "metrics.evaluation.rmse") < 20);
    snprintf(path, sizeof path, "/v1/models/%s/predict", reply_text(job, "model"));
    const struct reply *reply =
        client_post(client, path, NULL, "{'inputs':[[5],[2],[8]]}");
    assert_status(reply, 200);
    assert_true(fabs(reply_number(reply, "outputs.0.value") - 200) < 40);
    assert_true(reply_number(reply, "outputs.1.value") <
                reply_number(reply, "outputs.2.value"));
}

static void a_cancelled_job_leaves_no_model(void **state)
{
    struct client *client = client_of(state);
    const struct reply *before = client_get(client, "/v1/models?page_size=1000");
    const char *job = submit(client, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 100000.0);
    await_training(client, job);
    cancel(client, job);
    assert_true(json_is_null(reply_at(await_end(client, job), "model")));
    const struct reply *after = client_get(client, "/v1/models?page_size=1000");
    assert_int_equal(json_array_size(reply_at(before, "models")),
                     json_array_size(reply_at(after, "models")));
}

/* --- models that diverge --- */

/* Deep, and with steps so long that its parameters stay finite but its outputs do
 * not. */
#define DIVERGING                                                                      \
    "{'dataset':'points',%s'model':{'preset':'mlp','hidden':[64,64,64,64,64,64,64,64]" \
    "},"                                                                               \
    "'algorithm':{'name':'dpsgd','clip_norm':1.0},'privacy':{'epsilon':0.05},"         \
    "'optimizer':{'name':'sgd','learning_rate':1000000.0},'batch_size':100,'steps':"   \
    "30}"

static void a_run_whose_public_evaluation_is_not_finite_has_diverged(void **state)
{
    struct client *client = client_of(state);
    double before =
        reply_number(client_get(client, "/v1/datasets/points/budget"), "epsilon_spent");
    const struct reply *job =
        await_end(client, submit(client, DIVERGING, "'evaluation':'open',"));
    assert_string_equal(reply_text(job, "state"), "FAILED");
    assert_string_equal(reply_text(job, "state_reason"), "diverged");
    assert_true(json_is_null(reply_at(job, "model")));
    assert_true(json_is_null(reply_at(job, "metrics.evaluation")));
    assert_true(reply_number(job, "privacy.epsilon_spent") > 0);
    assert_true(reply_number(client_get(client, "/v1/datasets/points/budget"),
                             "epsilon_spent") > before);
}

/* Its answers were never computed before this request. */
static void rows_without_an_answer_are_named(void **state)
{
    struct client *client = client_of(state);
    const struct reply *job = train(client, DIVERGING, "");
    char path[128];
    snprintf(path, sizeof path, "/v1/models/%s/predict", reply_text(job, "model"));
    const struct reply *refused =
        client_post(client, path, NULL, "{'inputs':[[0.5,-0.25],[-1,1],[1,1]]}");
    assert_problem(refused, 422, "no_answer");
    assert_string_equal(reply_text(refused, "errors.0.pointer"), "/inputs/0");
    assert_string_equal(reply_text(refused, "errors.2.pointer"), "/inputs/2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_certificate_is_part_of_the_file),
        cmocka_unit_test(the_file_is_the_one_that_the_ledger_names),
        cmocka_unit_test(predict_is_what_the_file_says),
        cmocka_unit_test(bad_rows_are_refused_at_their_cell),
        cmocka_unit_test(ranges_are_parts_of_the_file),
        cmocka_unit_test(a_range_of_another_file_is_the_whole_of_this),
        cmocka_unit_test(head_tells_the_size_without_the_file),
        cmocka_unit_test(it_comes_as_onnx_too),
        cmocka_unit_test(a_format_that_is_none_is_refused),
        cmocka_unit_test(quality_is_shown_on_public_data_over_the_run),
        cmocka_unit_test(nothing_private_is_in_a_job_without_evaluation),
        cmocka_unit_test(a_regression_answers_in_the_units_of_its_label),
        cmocka_unit_test(a_cancelled_job_leaves_no_model),
        cmocka_unit_test(a_run_whose_public_evaluation_is_not_finite_has_diverged),
        cmocka_unit_test(rows_without_an_answer_are_named),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
