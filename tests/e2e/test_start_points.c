/* Goal: a job that begins with published weights costs what it would cost without, its
 * model names its ancestors, and frozen parts are served bit for bit. */
#include <math.h>
#include <signal.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/account_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

#define TAIL                                                                           \
    "'algorithm':{'name':'dpsgd'},'batch_size':50,'steps':40,"                         \
    "'privacy':{'noise_multiplier':6}}"
#define ON(start)                                                                      \
    "{'dataset':'points','model':{'preset':'mlp','hidden':[6]" start "}," TAIL

struct world {
    struct stage *stage;
    char base[64], sha256[80]; /* a model on public data: 2-6-1 */
};

static int begin(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    void *stage;
    stage_begin_with(&stage, (const char *const[]){"--workers", "1", NULL});
    world->stage = stage;
    *state = world;
    struct client *client = &world->stage->client;
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(4));
    ready_points(client, "open", 200, 2, SAMPLE_PUBLIC);
    const struct reply *model = model_of(
        client, train(client, "{'dataset':'open','model':{'preset':'mlp','hidden':[6]},"
                              "'algorithm':{'name':'sgd'},'steps':50}"));
    snprintf(world->base, sizeof world->base, "%s", reply_text(model, "id"));
    snprintf(world->sha256, sizeof world->sha256, "%s", reply_text(model, "sha256"));
    return 0;
}

static int end(void **state)
{
    struct world *world = *state;
    void *stage = world->stage;
    stage_end(&stage);
    free(world);
    return 0;
}

/* Returns the bytes of a tensor in a model's whole file. */
static const char *tensor(struct client *client, const char *model, const char *name,
                          size_t *size)
{
    const struct reply *file =
        client_get(client, "/v1/models/%s/content?merged=true", model);
    assert_status(file, 200);
    uint64_t header = 0;
    for (int i = 7; i >= 0; i--)
        header = header << 8 | (uint8_t)file->body[i];
    json_auto_t *about = json_loadb(file->body + 8, header, 0, NULL);
    const json_t *offsets =
        json_object_get(json_object_get(about, name), "data_offsets");
    size_t first = (size_t)json_integer_value(json_array_get(offsets, 0));
    *size = (size_t)json_integer_value(json_array_get(offsets, 1)) - first;
    assert_true(*size > 0);
    return file->body + 8 + header + first;
}

static bool same_tensor(struct client *client, const char *a, const char *b,
                        const char *name)
{
    size_t of_a, of_b;
    const char *one = tensor(client, a, name, &of_a);
    const char *two = tensor(client, b, name, &of_b);
    return of_a == of_b && memcmp(one, two, of_a) == 0;
}

static void frozen_parts_are_those_of_the_weights(void **state)
{
    struct world *world = *state;
    struct client *client = &world->stage->client;
    const struct reply *job =
        train(client, ON(",'weights':'%s','trainable':'head'"), world->base);
    const struct reply *model = model_of(client, job);
    const char *id = reply_text(model, "id");
    assert_true(same_tensor(client, id, world->base, "0.weight"));
    assert_true(same_tensor(client, id, world->base, "0.bias"));
    assert_false(same_tensor(client, id, world->base, "2.weight"));
    assert_string_equal(reply_text(job, "model_spec.weights"), world->base);
    assert_string_equal(reply_text(job, "model_spec.trainable"), "head");
    assert_true(reply_number(model, "certificate.frozen.parameters") == 18);
    assert_int_equal(strlen(reply_text(model, "certificate.frozen.sha256")), 64);
    assert_string_equal(reply_text(model, "certificate.ancestors.0.id"), world->base);
    assert_string_equal(reply_text(model, "certificate.ancestors.0.sha256"),
                        world->sha256);
    assert_string_equal(reply_text(model, "certificate.ancestors.0.guarantee"),
                        "not covered");
}

/* The weight below the head keeps its bits, and nothing else does. */
static void a_bias_moves_without_its_weight(void **state)
{
    struct world *world = *state;
    struct client *client = &world->stage->client;
    const struct reply *job =
        train(client, ON(",'weights':'%s','trainable':'bias'"), world->base);
    const struct reply *model = model_of(client, job);
    const char *id = reply_text(model, "id");
    assert_string_equal(reply_text(job, "model_spec.trainable"), "bias");
    assert_true(reply_number(model, "certificate.frozen.parameters") == 12);
    assert_true(same_tensor(client, id, world->base, "0.weight"));
    assert_false(same_tensor(client, id, world->base, "0.bias"));
    assert_false(same_tensor(client, id, world->base, "2.weight"));
    assert_false(same_tensor(client, id, world->base, "2.bias"));
}

static void every_ancestor_is_named(void **state)
{
    struct world *world = *state;
    struct client *client = &world->stage->client;
    const struct reply *second =
        model_of(client, train(client, ON(",'weights':'%s'"), world->base));
    char id[64], sha256[80];
    snprintf(id, sizeof id, "%s", reply_text(second, "id"));
    snprintf(sha256, sizeof sha256, "%s", reply_text(second, "sha256"));
    const struct reply *third = model_of(
        client,
        train(client, ON(",'weights':'%s','trainable':{'except':['0.*']}"), id));
    assert_string_equal(reply_text(third, "certificate.ancestors.0.sha256"),
                        world->sha256);
    assert_string_equal(reply_text(third, "certificate.ancestors.1.id"), id);
    assert_string_equal(reply_text(third, "certificate.ancestors.1.sha256"), sha256);
}

/* --- files --- */

static const struct reply *upload(struct client *client, const char *query,
                                  const void *bytes, size_t size)
{
    char path[300];
    snprintf(path, sizeof path, "/v1/files%s", query);
    return client_send(
        client, &(struct request){.method = "POST",
                                  .path = path,
                                  .headers = {"Content-Type: application/octet-stream"},
                                  .body = bytes,
                                  .size = size});
}

static const struct reply *upload_base(struct world *world, const char *query)
{
    struct client *client = &world->stage->client;
    const struct reply *file = client_get(client, "/v1/models/%s/content", world->base);
    const struct reply *made = upload(client, query, file->body, file->size);
    assert_status(made, 201);
    return made;
}

static void a_file_of_public_weights_is_a_start(void **state)
{
    struct world *world = *state;
    struct client *client = &world->stage->client;
    const struct reply *made = upload_base(world, "?note=a%20page%20of%20ours");
    const char *id = reply_text(made, "id");
    assert_string_equal(reply_text(made, "sha256"), world->sha256);
    assert_string_equal(client_get(client, "/v1/files/%s", id)->body, made->body);
    assert_string_equal(reply_text(client_get(client, "/v1/files"), "files.0.id"), id);
    assert_int_equal(daemon_verify(&world->stage->daemon), 0);
    daemon_stop(&world->stage->daemon, SIGTERM);
    daemon_start(&world->stage->daemon, (const char *const[]){"--workers", "1", NULL});
    assert_string_equal(client_get(client, "/v1/files/%s", id)->body, made->body);
    const struct reply *model =
        model_of(client, train(client, ON(",'weights':'%s','trainable':'head'"), id));
    assert_true(same_tensor(client, reply_text(model, "id"), world->base, "0.weight"));
    assert_string_equal(reply_text(model, "certificate.ancestors.0.id"), id);
    assert_string_equal(reply_text(model, "certificate.ancestors.0.note"),
                        "a page of ours");
    assert_string_equal(reply_text(model, "certificate.ancestors.0.sha256"),
                        world->sha256);
}

static void a_deleted_file_is_gone(void **state)
{
    struct world *world = *state;
    struct client *client = &world->stage->client;
    char path[128];
    const char *id = reply_text(upload_base(world, ""), "id");
    snprintf(path, sizeof path, "/v1/files/%s", id);
    assert_status(client_delete(client, path), 204);
    assert_problem(client_get(client, "%s", path), 404, "not_found");
    assert_problem(client_delete(client, path), 404, "not_found");
    assert_problem(client_create(client, "/v1/jobs", ON(",'weights':'%s'"), id), 404,
                   "not_found");
    const struct reply *list = client_get(client, "/v1/files?page_size=1000");
    assert_null(strstr(list->body, id));
}

/* Uploads a safetensors file of one tensor, whose three values all have these bytes. */
static const struct reply *upload_tensor(struct client *client, const char *dtype,
                                         const void *value, size_t size)
{
    char file[256] = {0};
    int length = snprintf(file + 8, sizeof file - 8,
                          "{\"a\":{\"dtype\":\"%s\",\"shape\":[3],"
                          "\"data_offsets\":[0,%zu]}}",
                          dtype, 3 * size);
    file[0] = (char)length;
    for (int i = 0; i < 3; i++)
        memcpy(file + 8 + length + i * (int)size, value, size);
    return upload(client, "", file, 8 + (size_t)length + 3 * size);
}

static void what_is_no_public_weights_is_refused(void **state)
{
    struct world *world = *state;
    struct client *client = &world->stage->client;
    const float one = 1, nan = NAN, infinity = -INFINITY;
    const uint16_t half = 0x3C00, half_infinity = 0x7C00, brain_nan = 0x7FC1;
    const uint64_t number = 3;
    assert_status(upload_tensor(client, "F32", &one, 4), 201);
    assert_status(upload_tensor(client, "F16", &half, 2), 201);
    assert_status(upload_tensor(client, "BF16", &half_infinity, 2), 201);
    assert_problem(upload_tensor(client, "F32", &nan, 4), 400, "invalid_argument");
    assert_problem(upload_tensor(client, "F32", &infinity, 4), 400, "invalid_argument");
    assert_problem(upload_tensor(client, "F16", &half_infinity, 2), 400,
                   "invalid_argument");
    assert_problem(upload_tensor(client, "BF16", &brain_nan, 2), 400,
                   "invalid_argument");
    assert_problem(upload_tensor(client, "I64", &number, 8), 400, "invalid_argument");
    assert_problem(upload(client, "", "PK", 2), 400, "invalid_argument");
    assert_problem(upload(client, "", "\2\0\0\0\0\0\0\0{}", 10), 400,
                   "invalid_argument");
    char note[300] = "?note=";
    memset(note + 6, 'n', 201);
    assert_string_equal(reply_text(upload(client, note, "PK", 2), "errors.0.parameter"),
                        "note");
    assert_problem(
        client_send(client, &(struct request){.method = "POST",
                                              .path = "/v1/files",
                                              .headers = {"Upload-Offset: 0",
                                                          "Upload-Length: 4"},
                                              .body = "abcd",
                                              .size = 4}),
        400, "invalid_argument");
}

/* Returns the entry without the members that differ between any two entries. */
static json_t *nameless(struct client *client, const char *job)
{
    static const char *const own[] = {"seq", "job", "time", "prev", "hash"};
    const struct reply *ledger =
        client_get(client, "/v1/datasets/points/ledger?page_size=1000");
    json_t *entry = json_deep_copy(account_entry(ledger, "RESERVE", job));
    assert_non_null(entry);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        json_object_del(entry, own[i]);
    return entry;
}

static void a_start_costs_nothing(void **state)
{
    struct world *world = *state;
    struct client *client = &world->stage->client;
    const char *plain = reply_text(train(client, ON("")), "id");
    const char *begun = reply_text(
        train(client, ON(",'weights':'%s','trainable':'head'"), world->base), "id");
    json_t *a = nameless(client, plain), *b = nameless(client, begun);
    assert_true(json_equal(a, b));
    json_decref(a);
    json_decref(b);
}

static void a_head_for_other_outputs_begins_anew(void **state)
{
    struct world *world = *state;
    struct client *client = &world->stage->client;
    static const char loss[] = ",'loss':'softmax_cross_entropy'";
    const struct reply *refused =
        client_create(client, "/v1/jobs", ON(",'weights':'%s'%s"), world->base, loss);
    assert_invalid_at(refused, "/model/weights");
    const struct reply *model = model_of(
        client, train(client, ON(",'weights':'%s','trainable':'head','fresh':'head'%s"),
                      world->base, loss));
    assert_true(same_tensor(client, reply_text(model, "id"), world->base, "0.weight"));
}

static void features_are_cached_where_they_can_be(void **state)
{
    struct world *world = *state;
    struct client *client = &world->stage->client;
    static const char head[] =
        "{'dataset':'points','model':{'preset':'mlp','hidden':[6],'weights':'%s',"
        "'trainable':'%s'},'features':'%s'," TAIL;
    const struct reply *job = train(client, head, world->base, "head", "cached");
    assert_string_equal(reply_text(job, "features"), "cached");
    assert_true(same_tensor(client, reply_text(job, "model"), world->base, "0.weight"));
    train(client, head, world->base, "head", "streamed");
    assert_invalid_at(
        client_create(client, "/v1/jobs", head, world->base, "all", "cached"),
        "/features");
    assert_invalid_at(
        client_create(client, "/v1/jobs", head, world->base, "head", "kept"),
        "/features");
}

static double figure(struct client *client, const char *name)
{
    char line[64];
    const struct reply *metrics = client_get(client, "/metrics");
    assert_status(metrics, 200);
    snprintf(line, sizeof line, "\n%s ", name);
    const char *found = strstr(metrics->body, line);
    assert_non_null(found);
    return strtod(strchr(found + 1, ' '), NULL);
}

/* Returns the bytes of features that are kept for later jobs, as of the last tick. */
static double features_kept(struct client *client)
{
    return figure(client, "epsilond_features_bytes");
}

/* The same, at least as recent as this call. All metrics stay constant during private
 * work. So if processor time has increased, by a second spent on answering these
 * requests, the others have been updated too. */
static double features_kept_now(struct client *client)
{
    static const char processor[] = "process_cpu_seconds_total";
    double before = figure(client, processor);
    while (figure(client, processor) == before)
        continue;
    return features_kept(client);
}

/* Two jobs share the features: 6 floats for each record. */
static void features_stay_for_a_later_job_and_go_with_the_dataset(void **state)
{
    struct world *world = *state;
    struct client *client = &world->stage->client;
    static const char on[] = "{'dataset':'kept','model':{'preset':'mlp','hidden':[6],"
                             "'weights':'%s','trainable':'head'}," TAIL;
    ready_points(client, "kept", 300, 3, SAMPLE_BUDGET(4));
    double before = features_kept_now(client);
    double kept = before + 300 * 6 * 4;
    train(client, on, world->base);
    while (features_kept(client) != kept)
        continue; /* until the next tick */
    train(client, on, world->base);
    assert_true(features_kept(client) == kept);
    assert_status(client_delete(client, "/v1/datasets/kept"), 204);
    while (features_kept(client) != before)
        continue;
}

static void starts_that_cannot_be_are_refused(void **state)
{
    struct world *world = *state;
    struct client *client = &world->stage->client;
    static const struct {
        const char *start, *pointer;
    } cases[] = {
        {"'trainable':{'only':['9.*']}", "/model/trainable/only/0"},
        {"'trainable':{'except':['*']}", "/model/trainable"},
        {"'trainable':{'only':['*.weight']}", "/model/trainable/only/0"},
        {"'trainable':{'last':3}", "/model/trainable/last"},
        {"'trainable':{'only':['*.bias']},'fresh':'head'", "/model/fresh"},
        {"'trainable':{'only':['0.*']},'fresh':'head'", "/model/fresh"},
        {"'weights':'dat_01ARZ3NDEKTSV4RRFFQ69G5FAV'", "/model/weights"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool names = strstr(cases[i].start, "weights") != NULL;
        assert_invalid_at(client_create(client, "/v1/jobs", ON(",%s%s%s%s"),
                                        cases[i].start, names ? "" : ",'weights':'",
                                        names ? "" : world->base, names ? "" : "'"),
                          cases[i].pointer);
    }
    assert_problem(client_create(client, "/v1/jobs",
                                 ON(",'weights':'mdl_01ARZ3NDEKTSV4RRFFQ69G5FAV'")),
                   404, "not_found");
    assert_invalid_at(
        client_create(client, "/v1/jobs",
                      "{'dataset':'points','model':{'preset':'mlp','hidden':[7],"
                      "'weights':'%s'}," TAIL,
                      world->base),
        "/model/weights");
    assert_invalid_at(
        client_create(client, "/v1/jobs",
                      "{'dataset':'points','model':{'preset':'mlp','hidden':[6],"
                      "'weights':'%s','trainable':'head'},"
                      "'algorithm':{'name':'diff2_gd'},'privacy':{'epsilon':1}}",
                      world->base),
        "/model/trainable");
}

static void a_job_whose_weights_are_deleted_fails(void **state)
{
    struct world *world = *state;
    struct client *client = &world->stage->client;
    char path[128];
    const struct reply *base =
        model_of(client, train(client, ON(",'weights':'%s'"), world->base));
    const char *first = submit(client, SAMPLE_JOB, "points", SAMPLE_LONG, 2000.0);
    const char *waiting = submit(client, ON(",'weights':'%s'"), reply_text(base, "id"));
    snprintf(path, sizeof path, "/v1/models/%s", reply_text(base, "id"));
    assert_status(client_delete(client, path), 204);
    cancel(client, first);
    const struct reply *job = await_end(client, waiting);
    assert_string_equal(reply_text(job, "state"), "FAILED");
    assert_string_equal(reply_text(job, "state_reason"), "model_corrupt");
    assert_true(reply_number(job, "privacy.epsilon_spent") == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frozen_parts_are_those_of_the_weights),
        cmocka_unit_test(a_bias_moves_without_its_weight),
        cmocka_unit_test(every_ancestor_is_named),
        cmocka_unit_test(a_file_of_public_weights_is_a_start),
        cmocka_unit_test(a_deleted_file_is_gone),
        cmocka_unit_test(what_is_no_public_weights_is_refused),
        cmocka_unit_test(a_start_costs_nothing),
        cmocka_unit_test(a_head_for_other_outputs_begins_anew),
        cmocka_unit_test(features_are_cached_where_they_can_be),
        cmocka_unit_test(features_stay_for_a_later_job_and_go_with_the_dataset),
        cmocka_unit_test(starts_that_cannot_be_are_refused),
        cmocka_unit_test(a_job_whose_weights_are_deleted_fails),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
