/* Goal: a job with frozen layers buys the means and deviations of the features behind
 * them, once for the same layers, and its model applies the same numbers. Method: images
 * and points whose features are computed here in double; a real daemon, and its
 * ledger. */
#include <math.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"
#include "tests/e2e/standardise_fixture.h"

enum { SIDE = 8, CHANNELS = 3, PIXELS = SIDE * SIDE, IMAGES = 800, POINTS = 900 };

static struct client *client_of(void **state)
{
    struct stage *stage = *state;
    return &stage->client;
}

/* --- the datasets --- */

/* Channels have different means and spreads; a bright red image is of class 1. */
static uint8_t pixel_of(size_t image, size_t channel, size_t pixel)
{
    size_t noise = (image * 7919 + pixel * 104729 + channel * 271) % 97;
    size_t red = channel == 0 && image % 2 == 1 ? 12 : 0;
    return (uint8_t)(200 - 70 * channel + noise / (channel + 1) / 2 + red);
}

static void send_file(struct client *client, const char *id, const char *name,
                      const uint32_t *dimensions, const uint8_t *bytes)
{
    char path[128];
    size_t size;
    uint8_t *file = sample_idx(dimensions, bytes, &size);
    snprintf(path, sizeof path, "/v1/datasets/%s/files/%s", id, name);
    assert_status(client_put(client, path, (const char *)file, size), 204);
    free(file);
}

static void ready_images(struct client *client, const char *id, size_t count,
                         const char *privacy)
{
    uint8_t *bytes = calloc(count, CHANNELS * PIXELS), *classes = calloc(count, 1);
    assert_non_null(bytes);
    assert_non_null(classes);
    for (size_t i = 0; i < count; i++) {
        classes[i] = i % 2;
        for (size_t c = 0; c < CHANNELS; c++)
            for (size_t p = 0; p < PIXELS; p++)
                bytes[(i * CHANNELS + c) * PIXELS + p] = pixel_of(i, c, p);
    }
    assert_status(client_create(client, "/v1/datasets",
                                "{'id':'%s','format':'idx','task':'classification',"
                                "'classes':2,'features':{'shape':[%d,%d,%d],"
                                "'scale':255},'privacy':%s}",
                                id, CHANNELS, SIDE, SIDE, privacy),
                  201);
    send_file(client, id, "features",
              (const uint32_t[]){(uint32_t)count, CHANNELS, SIDE, SIDE, 0}, bytes);
    send_file(client, id, "labels", (const uint32_t[]){(uint32_t)count, 0}, classes);
    free(bytes);
    free(classes);
    const struct reply *reply = client_act(client, "/v1/datasets/%s:import", id);
    assert_status(reply, 200);
    while (reply = client_get(client, "/v1/datasets/%s", id),
           strcmp(reply_text(reply, "state"), "IMPORTING") == 0)
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    assert_string_equal(reply_text(reply, "state"), "READY");
}

static int begin(void **state)
{
    int failed = stage_begin(state);
    struct client *client = client_of(state);
    ready_images(client, "images", IMAGES, SAMPLE_BUDGET(30) SAMPLE_CONFIRMED);
    ready_images(client, "cut", IMAGES / 2,
                 SAMPLE_BUDGET(20) SAMPLE_CONFIRMED ",'holdout':0.2,'holdout_seed':5");
    ready_points(client, "points", POINTS, 1, SAMPLE_BUDGET(30) SAMPLE_CONFIRMED);
    ready_points(client, "open", 200, 2, SAMPLE_PUBLIC);
    return failed;
}

/* --- images --- */

#define TAIL                                                                           \
    "'algorithm':{'name':'dpsgd'},'batch_size':200,'steps':40,"                        \
    "'privacy':{'epsilon':0.5}"
#define POOLED(kind)                                                                   \
    "'model':{'layers':[{'type':'" kind "','kernel':2,'stride':2},"                    \
    "{'type':'flatten'},{'type':'dense','out':1}]},"
#define BUYS      ",'standardise':{'epsilon':4}"
#define ON_IMAGES "{'dataset':'images',%s" TAIL ",'standardise':true}"

/* The moments of channel c behind pools of 2 x 2, over all positions of all images. */
static void count_pooled(size_t c, double *mean, double *deviation)
{
    double sum = 0, squares = 0;
    size_t count = 0;
    for (size_t i = 0; i < IMAGES; i++)
        for (size_t y = 0; y < SIDE; y += 2)
            for (size_t x = 0; x < SIDE; x += 2, count++) {
                size_t p = y * SIDE + x;
                double pooled =
                    (pixel_of(i, c, p) + pixel_of(i, c, p + 1) +
                     pixel_of(i, c, p + SIDE) + pixel_of(i, c, p + SIDE + 1)) /
                    (4 * 255.0);
                sum += pooled;
                squares += pooled * pooled;
            }
    *mean = sum / (double)count;
    *deviation = sqrt(squares / (double)count - *mean * *mean);
}

/* The job buys them, and its model has them; the numbers are those of the images. */
static void channels_behind_a_pool_are_measured(void **state)
{
    struct client *client = client_of(state);
    const struct reply *job =
        train(client, "{'dataset':'images'," POOLED("avg_pool2d") TAIL BUYS "}");
    assert_int_equal(count_purchases(client, "images"), 1);
    const struct reply *moments =
        await(client, reply_text(job, "standardise.statistics"));
    assert_int_equal(strlen(reply_text(moments, "statistics.0.prefix")), 64);
    assert_int_equal(json_array_size(reply_at(moments, "answers.0.features")),
                     CHANNELS);
    const struct reply *file =
        client_get(client, "/v1/models/%s/content", reply_text(job, "model"));
    assert_status(file, 200);
    for (size_t c = 0; c < CHANNELS; c++) {
        char path[96];
        double mean, deviation;
        snprintf(path, sizeof path, "answers.0.features.%zu.mean", c);
        double released = reply_number(moments, path);
        snprintf(path, sizeof path, "answers.0.features.%zu.interval.1", c);
        double margin = reply_number(moments, path) - released;
        snprintf(path, sizeof path, "answers.0.features.%zu.deviation", c);
        double spread = reply_number(moments, path);
        count_pooled(c, &mean, &deviation);
        assert_true(margin < 0.02);
        assert_true(fabs(released - mean) < 3 * margin); /* 5.9 deviations */
        double floor = sqrt(fmax(0x1p-12, 4 * margin / 1.9599639845400545));
        assert_true(spread >= floor * (1 - 1e-9));
        assert_true(spread < sqrt(deviation * deviation + 4 * floor * floor));
        assert_close((double)tensor_at(file, "1.weight", c), 1 / spread, 1e-6);
        assert_close((double)tensor_at(file, "1.bias", c), -released / spread, 1e-5);
    }
}

/* The same layers share; others, or another input, buy their own. */
static void another_prefix_is_another_release(void **state)
{
    struct client *client = client_of(state);
    const struct reply *job = train(client, ON_IMAGES, POOLED("avg_pool2d"));
    size_t before = count_purchases(client, "images");
    char id[64], hash[80];
    snprintf(id, sizeof id, "%s", reply_text(job, "standardise.statistics"));
    snprintf(hash, sizeof hash, "%s", reply_text(job, "standardise.reserve.hash"));
    double paid = spent(client, "images");
    const struct reply *estimate =
        client_post(client, "/v1/jobs:estimate", NULL, ON_IMAGES, POOLED("avg_pool2d"));
    assert_string_equal(reply_text(estimate, "standardise.statistics"), id);
    assert_true(reply_number(estimate, "standardise.epsilon") == 0);
    job = train(client, ON_IMAGES,
                "'model':{'init_seed':7,'layers':[{'type':'avg_pool2d','kernel':2,"
                "'stride':2},{'type':'standardise'},{'type':'flatten'},{'type':'dense',"
                "'out':4},{'type':'relu'},{'type':'dense','out':1}]},");
    assert_string_equal(reply_text(job, "standardise.statistics"), id);
    assert_string_equal(
        reply_text(model_of(client, job), "certificate.standardise.reserve.hash"),
        hash);
    assert_int_equal(count_purchases(client, "images"), before);
    assert_true(spent(client, "images") < paid + 1);
    static const char *const others[] = {
        POOLED("max_pool2d"),
        "'model':{'layers':[{'type':'avg_pool2d','kernel':4,'stride':4},"
        "{'type':'flatten'},{'type':'dense','out':1}]},",
        "'model':{'layers':[{'type':'crop','size':4},{'type':'avg_pool2d','kernel':2,"
        "'stride':2},{'type':'flatten'},{'type':'dense','out':1}]},",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        job = train(client, ON_IMAGES, others[i]);
        assert_string_not_equal(reply_text(job, "standardise.statistics"), id);
        assert_int_equal(count_purchases(client, "images"), before + i + 1);
    }
}

/* Not the held-out images, which are scaled by the same numbers. */
static void only_what_is_trained_on_is_charged(void **state)
{
    struct client *client = client_of(state);
    const struct reply *job =
        train(client, "{'dataset':'cut','evaluation':{'holdout':true,'epsilon':1},"
                      "'model':{'preset':'scatter'}," TAIL BUYS "}");
    const struct reply *file =
        client_get(client, "/v1/models/%s/content", reply_text(job, "model"));
    /* 81 maps of a channel. */
    assert_true(tensor_at(file, "2.weight", CHANNELS * 81 - 1) > 0);
    const struct reply *budget = client_get(client, "/v1/datasets/cut/budget");
    double train = reply_number(budget, "parts.0.epsilon_spent");
    double holdout = reply_number(budget, "parts.1.epsilon_spent");
    assert_true(train > 4 && train < 5);
    assert_true(holdout > 0.9 && holdout < 1.1);
    struct stage *stage = *state;
    assert_int_equal(daemon_verify(&stage->daemon), 0);
}

#define SWEEP                                                                          \
    "{'job':{'dataset':'images'," POOLED(                                              \
        "avg_pool2d") "'algorithm':{'name':'dpsgd'},"                                  \
                      "'optimizer':{'name':'sgd'},'batch_size':200,'steps':20,'"       \
                      "privacy':"                                                      \
                      "{'noise_multiplier':8},'standardise':{'clip_norm':%g}},'grid':" \
                      "{%s}}"

static void a_sweep_buys_once(void **state)
{
    struct client *client = client_of(state);
    size_t before = count_purchases(client, "images");
    const struct reply *sweep,
        *made = client_create(client, "/v1/sweeps", SWEEP, 0.9,
                              "'/optimizer/learning_rate':[0.5,1,2]");
    assert_status(made, 201);
    while (sweep = client_get(client, "/v1/sweeps/%s", reply_text(made, "id")),
           strcmp(reply_text(sweep, "state"), "ACTIVE") == 0)
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    assert_int_equal((int)reply_number(sweep, "states.SUCCEEDED"), 3);
    assert_int_equal(count_purchases(client, "images"), before + 1);
    assert_problem(client_create(client, "/v1/sweeps", SWEEP, 0.8,
                                 "'/model/layers/0/stride':[1,2]"),
                   400, "invalid_argument");
    assert_int_equal(count_purchases(client, "images"), before + 1);
}

/* --- layers of a model --- */

enum { HIDDEN = 4 };

#define FROM(start) "'model':{'preset':'mlp','hidden':[4]" start "},"
#define ON_POINTS   "{'dataset':'points',"
#define BEHIND                                                                         \
    ON_POINTS FROM(",'weights':'%s','trainable':'head','fresh':'head'") TAIL BUYS "}"

static void base(struct client *client, char id[64], unsigned seed)
{
    const struct reply *job =
        train(client,
              "{'dataset':'open','model':{'preset':'mlp','hidden':[4],'init_seed':%u},"
              "'algorithm':{'name':'sgd'},'steps':50}",
              seed);
    snprintf(id, 64, "%s", reply_text(job, "model"));
}

/* The mean of feature h behind the first layer of the model, over all points. */
static double count_hidden(const struct reply *file, size_t h)
{
    char *text = sample_points(POINTS, 1);
    double sum = 0, at[2];
    for (const char *line = text; sscanf(line, "%lf,%lf", &at[0], &at[1]) == 2;
         line = strchr(line, '\n') + 1) {
        double z = (double)tensor_at(file, "0.bias", h);
        for (size_t j = 0; j < 2; j++)
            z += (double)tensor_at(file, "0.weight", 2 * h + j) * at[j];
        sum += fmax(0, z);
    }
    free(text);
    return sum / POINTS;
}

static void features_behind_a_model_are_measured(void **state)
{
    struct client *client = client_of(state);
    char first[64], second[64];
    base(client, first, 1);
    base(client, second, 2);
    const struct reply *job = train(client, BEHIND, first);
    assert_int_equal(count_purchases(client, "points"), 1);
    const struct reply *moments =
        await(client, reply_text(job, "standardise.statistics"));
    assert_int_equal(json_array_size(reply_at(moments, "answers.0.features")), HIDDEN);
    char model[64];
    snprintf(model, sizeof model, "%s", reply_text(job, "model"));
    const struct reply *file = client_get(client, "/v1/models/%s/content", model);
    for (size_t h = 0; h < HIDDEN; h++) {
        char path[96];
        snprintf(path, sizeof path, "answers.0.features.%zu.mean", h);
        double released = reply_number(moments, path);
        snprintf(path, sizeof path, "answers.0.features.%zu.interval.1", h);
        double margin = reply_number(moments, path) - released;
        assert_true(fabs(released - count_hidden(file, h)) < 3 * margin);
    }
    /* A second job with these weights shares; other weights are another prefix. */
    train(client, BEHIND, first);
    assert_int_equal(count_purchases(client, "points"), 1);
    train(client, BEHIND, second);
    assert_int_equal(count_purchases(client, "points"), 2);
    /* The model predicts what its file computes. */
    file = client_get(client, "/v1/models/%s/content", model);
    double logit = (double)tensor_at(file, "3.bias", 0);
    for (size_t h = 0; h < HIDDEN; h++) {
        double z = (double)tensor_at(file, "0.bias", h) +
                   (double)tensor_at(file, "0.weight", 2 * h) * 0.5 -
                   (double)tensor_at(file, "0.weight", 2 * h + 1) * 0.25;
        z = fmax(0, z) * (double)tensor_at(file, "2.weight", h) +
            (double)tensor_at(file, "2.bias", h);
        logit += (double)tensor_at(file, "3.weight", h) * z;
    }
    char path[96];
    snprintf(path, sizeof path, "/v1/models/%s/predict", model);
    const struct reply *answer =
        client_post(client, path, NULL, "{'inputs':[[0.5,-0.25]]}");
    assert_status(answer, 200);
    assert_true(fabs(reply_number(answer, "outputs.0.probabilities.1") -
                     1 / (1 + exp(-logit))) < 1e-4);
    /* A model that begins with this one keeps its numbers. */
    job = train(client,
                ON_POINTS "'model':{'weights':'%s','trainable':{'only':['3.*']},"
                          "'layers':[{'type':'dense','out':4},{'type':'relu'},"
                          "{'type':'standardise'},{'type':'dense','out':1}]}," TAIL "}",
                model);
    const struct reply *again =
        client_get(client, "/v1/models/%s/content", reply_text(job, "model"));
    float kept = tensor_at(again, "2.weight", 1);
    file = client_get(client, "/v1/models/%s/content", model);
    assert_true(tensor_at(file, "2.weight", 1) == kept);
}

/* --- refusals --- */

static void what_is_not_fixed_is_refused(void **state)
{
    struct client *client = client_of(state);
    static const struct {
        const char *model, *pointer;
    } cases[] = {
        {"'model':{'layers':[{'type':'dense','out':4},{'type':'standardise'},"
         "{'type':'dense','out':1}]}",
         "/standardise"},
        {"'model':{'trainable':'head','layers':[{'type':'dense','out':4},{'type':"
         "'dropout','rate':0.5},{'type':'standardise'},{'type':'dense','out':1}]}",
         "/standardise"},
        {"'model':{'trainable':{'except':['0.*']},'layers':[{'type':'dense','out':4},"
         "{'type':'dense','out':1}]}",
         "/standardise"},
        {"'model':{'trainable':'head','layers':[{'type':'dense','out':4},{'type':"
         "'standardise'},{'type':'standardise'},{'type':'dense','out':1}]}",
         "/model/layers/2/type"},
        {"'model':{'trainable':'head','layers':[{'type':'dense','out':4},"
         "{'type':'dense','out':7}]}",
         "/model/layers/1"},
        {"'model':{'preset':'mlp','weights':'mod_00000000000000000000000000'}",
         "/model/weights"},
    };
    double before = spent(client, "points");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_invalid_at(client_create(client, "/v1/jobs",
                                        ON_POINTS "%s," TAIL ",'standardise':true}",
                                        cases[i].model),
                          cases[i].pointer);
    assert_true(spent(client, "points") == before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(channels_behind_a_pool_are_measured),
        cmocka_unit_test(another_prefix_is_another_release),
        cmocka_unit_test(only_what_is_trained_on_is_charged),
        cmocka_unit_test(a_sweep_buys_once),
        cmocka_unit_test(features_behind_a_model_are_measured),
        cmocka_unit_test(what_is_not_fixed_is_refused),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
