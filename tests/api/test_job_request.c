/* Goal: a job is what its text says or it is refused at the member at fault; resolved
 * and rendered it says everything and reads back to itself. Method: one body broken in
 * each place; the defaults of DESIGN.md 6 worked by hand; ten thousand random bodies
 * rendered and read again. */
#include "tests/expect.h"

#include <string.h>

#include "api/job_request.h"
#include "api/limits.h"

#define JOB                                                                            \
    "{\"dataset\":\"mnist\",\"evaluation\":\"mnist-test\","                            \
    "\"model\":{\"preset\":\"mlp\",\"hidden\":[128],\"activation\":\"relu\"},"         \
    "\"algorithm\":{\"name\":\"dpsgd\",\"clip_norm\":1.5},"                            \
    "\"optimizer\":{\"name\":\"sgd\",\"learning_rate\":4.0,\"momentum\":0.0},"         \
    "\"batch_size\":1024,\"epochs\":20,\"privacy\":{\"epsilon\":2}}"
#define SHORT                                                                          \
    "{\"dataset\":\"d\",\"model\":{\"preset\":\"linear\"},"                            \
    "\"algorithm\":{\"name\":\"dpsgd\"},\"privacy\":{\"epsilon\":2}}"
#define LAYERS                                                                         \
    "{\"dataset\":\"d\",\"model\":{\"layers\":[{\"type\":\"dense\",\"out\":32},"       \
    "{\"type\":\"tanh\"},{\"type\":\"dense\",\"out\":10,\"bias\":false}]},"            \
    "\"algorithm\":{\"name\":\"dpsgd\"},\"optimizer\":{\"name\":\"adam\"},"            \
    "\"privacy\":{\"noise_multiplier\":1.25}}"
#define OPEN                                                                           \
    "{\"dataset\":\"d\",\"model\":{\"preset\":\"linear\"},"                            \
    "\"algorithm\":{\"name\":\"sgd\"}}"

static const struct schema images = {.format = FORMAT_IDX,
                                     .task = TASK_CLASSIFICATION,
                                     .classes = 10,
                                     .shape_count = 3,
                                     .shape = {1, 28, 28},
                                     .scale = 255};
static const struct schema pairs = {.format = FORMAT_LIBSVM,
                                    .task = TASK_CLASSIFICATION,
                                    .classes = 2,
                                    .feature_count = 123};
static const struct schema prices = {.format = FORMAT_LIBSVM,
                                     .task = TASK_REGRESSION,
                                     .feature_count = 8,
                                     .has_target_range = true,
                                     .target_low = 0,
                                     .target_high = 5};

static struct job_dataset private_data(const struct schema *schema, uint64_t records)
{
    return (struct job_dataset){schema, records, false, RELATION_ZERO_OUT, 1e-5};
}

static struct job_dataset public_data(const struct schema *schema, uint64_t records)
{
    return (struct job_dataset){schema, records, true, RELATION_ZERO_OUT, 0};
}

static void must_parse(struct job_request *request, const char *body)
{
    struct error error = {0};
    if (job_request_parse(request, body, strlen(body), &error) != ST_OK)
        fail_msg("%s: %s: %s", body, error.pointer, error.text);
}

static void must_resolve(struct job_request *request, const char *body,
                         struct job_dataset dataset)
{
    struct error error = {0};
    must_parse(request, body);
    if (job_request_resolve(request, &dataset, &error) != ST_OK)
        fail_msg("%s: %s: %s", body, error.pointer, error.text);
}

static void refused(const char *body, struct job_dataset dataset, enum status status,
                    const char *pointer)
{
    struct job_request request;
    struct error error = {0};
    must_parse(&request, body);
    assert_int_equal(job_request_resolve(&request, &dataset, &error), status);
    if (strcmp(error.pointer, pointer) != 0)
        fail_msg("%s: pointer %s, text %s", body, error.pointer, error.text);
    job_request_fini(&request);
}

/* base with its first from replaced by to. */
static char *edit(const char *base, const char *from, const char *to)
{
    const char *at = strstr(base, from);
    char *text = malloc(strlen(base) + strlen(to) + 1);
    if (at == NULL)
        fail_msg("no %s in %s", from, base);
    assert_non_null(text);
    sprintf(text, "%.*s%s%s", (int)(at - base), base, to, at + strlen(from));
    return text;
}

struct broken {
    const char *from, *to, *pointer;
};

static void refuse_each(const char *base, const struct broken *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *body = edit(base, cases[i].from, cases[i].to);
        struct job_request request = {0};
        struct error error = {0};
        if (job_request_parse(&request, body, strlen(body), &error) != ST_INVALID)
            fail_msg("accepted: %s", body);
        if (strcmp(error.pointer, cases[i].pointer) != 0)
            fail_msg("%s: pointer %s, text %s", body, error.pointer, error.text);
        assert_true(error.text[0] != '\0');
        assert_null(request.train.model.layers);
        free(body);
    }
}

#define REFUSE_EACH(base, cases) refuse_each(base, cases, sizeof cases / sizeof *cases)

static void members_arrive_in_the_struct(void **state)
{
    (void)state;
    struct job_request request;
    must_parse(&request, JOB);
    assert_string_equal(request.dataset.text, "mnist");
    assert_true(request.has_evaluation);
    assert_string_equal(request.evaluation.text, "mnist-test");
    assert_int_equal(request.train.model.preset, PRESET_MLP);
    assert_int_equal(request.train.model.hidden_count, 1);
    assert_int_equal(request.train.model.hidden[0], 128);
    assert_string_equal(request.train.algorithm.algorithm->name, "dpsgd");
    assert_int_equal(request.train.optimizer.kind, OPTIMIZER_SGD);
    assert_true(request.train.optimizer.learning_rate == 4);
    assert_true(request.train.optimizer.learning_rate_final == 4);
    assert_int_equal(request.train.batch_size, 1024);
    assert_int_equal(request.epochs, 20);
    assert_int_equal(request.target, TARGET_EPSILON);
    assert_true(request.target_value == 2 && request.delta == 0);
    job_request_fini(&request);
}

static void every_member_is_checked(void **state)
{
    (void)state;
    static const struct broken cases[] = {
        {"\"dataset\":\"mnist\",", "", "/dataset"},
        {"\"mnist\"", "\"MNIST\"", "/dataset"},
        {"\"mnist\"", "null", "/dataset"},
        {"\"mnist-test\"", "\"\"", "/evaluation"},
        {"\"mnist-test\"", "null", "/evaluation"},
        {"\"batch_size\"", "\"batch\"", "/batch"},
        {"\"privacy\"", "\"noise_multipler\":1,\"privacy\"", "/noise_multipler"},
        {":1024", ":0", "/batch_size"},
        {":1024", ":-1024", "/batch_size"},
        {":1024", ":1024.0", "/batch_size"},
        {":1024", ":2147483648", "/batch_size"},
        {":1024", ":\"1024\"", "/batch_size"},
        {"\"epochs\":20", "\"epochs\":0", "/epochs"},
        {"\"epochs\":20", "\"epochs\":2.5", "/epochs"},
        {"\"epochs\":20", "\"epochs\":10000001", "/epochs"},
        {"\"epochs\":20", "\"epochs\":20,\"steps\":100", "/steps"},
        {"\"epochs\":20", "\"steps\":0", "/steps"},
        {"\"epochs\":20", "\"steps\":10000001", "/steps"},
        {"\"epochs\":20", "\"steps\":1e3", "/steps"},
        {"\"epochs\":20", "\"epochs\":20,\"epochs\":20", "/epochs"},
        {"\"algorithm\":{\"name\":\"dpsgd\",\"clip_norm\":1.5},", "", "/algorithm"},
        {"\"dpsgd\"", "\"dp-sgd\"", "/algorithm/name"},
        {"\"dpsgd\"", "1", "/algorithm/name"},
        {"\"name\":\"dpsgd\",", "", "/algorithm/name"},
        {"\"clip_norm\":1.5", "\"clip_norm\":0", "/algorithm/clip_norm"},
        {"\"clip_norm\":1.5", "\"clip_norm\":-1", "/algorithm/clip_norm"},
        {"\"clip_norm\":1.5", "\"clip_norm\":\"1\"", "/algorithm/clip_norm"},
        {"\"clip_norm\":1.5", "\"clip_norm\":null", "/algorithm/clip_norm"},
        {"\"clip_norm\":1.5", "\"clipnorm\":1", "/algorithm/clipnorm"},
        {"\"clip_norm\":1.5", "\"clipping\":\"none\"", "/algorithm/clipping"},
        {"\"clip_norm\":1.5", "\"clipping\":1", "/algorithm/clipping"},
        {"\"clip_norm\":1.5", "\"gamma\":0.01", "/algorithm/gamma"},
        {"\"clip_norm\":1.5", "\"clipping\":\"flat\",\"gamma\":0.01",
         "/algorithm/gamma"},
        {"\"clip_norm\":1.5", "\"clipping\":\"automatic\",\"gamma\":0",
         "/algorithm/gamma"},
    };
    REFUSE_EACH(JOB, cases);
}

static void privacy_is_checked(void **state)
{
    (void)state;
    static const struct broken cases[] = {
        {"{\"epsilon\":2}", "{}", "/privacy"},
        {"{\"epsilon\":2}", "2", "/privacy"},
        {"{\"epsilon\":2}", "null", "/privacy"},
        {"{\"epsilon\":2}", "\"public\"", "/privacy"},
        {"{\"epsilon\":2}", "{\"delta\":1e-6}", "/privacy"},
        {"{\"epsilon\":2}", "{\"noise_multipler\":1.1}", "/privacy/noise_multipler"},
        {"{\"epsilon\":2}", "{\"epsilon\":2,\"noise_multiplier\":1}",
         "/privacy/noise_multiplier"},
        {"{\"epsilon\":2}", "{\"budget_fraction\":1,\"epsilon\":2}",
         "/privacy/budget_fraction"},
        {"{\"epsilon\":2}", "{\"epsilon\":0}", "/privacy/epsilon"},
        {"{\"epsilon\":2}", "{\"epsilon\":-2}", "/privacy/epsilon"},
        {"{\"epsilon\":2}", "{\"epsilon\":1000.5}", "/privacy/epsilon"},
        {"{\"epsilon\":2}", "{\"epsilon\":NaN}", "/privacy/epsilon"},
        {"{\"epsilon\":2}", "{\"epsilon\":1e999}", "/privacy/epsilon"},
        {"{\"epsilon\":2}", "{\"epsilon\":\"2\"}", "/privacy/epsilon"},
        {"{\"epsilon\":2}", "{\"noise_multiplier\":0.0499}",
         "/privacy/noise_multiplier"},
        {"{\"epsilon\":2}", "{\"noise_multiplier\":1000001}",
         "/privacy/noise_multiplier"},
        {"{\"epsilon\":2}", "{\"budget_fraction\":0}", "/privacy/budget_fraction"},
        {"{\"epsilon\":2}", "{\"epsilon\":2,\"accountant\":\"prv\"}",
         "/privacy/accountant"},
        {"{\"epsilon\":2}", "{\"epsilon\":2,\"accountant\":1}", "/privacy/accountant"},
        {"{\"epsilon\":2}", "{\"budget_fraction\":1.01}", "/privacy/budget_fraction"},
        {"{\"epsilon\":2}", "{\"epsilon\":2,\"delta\":0}", "/privacy/delta"},
        {"{\"epsilon\":2}", "{\"epsilon\":2,\"delta\":1}", "/privacy/delta"},
        {"{\"epsilon\":2}", "{\"epsilon\":2,\"delta\":1e-12}", "/privacy/delta"},
    };
    REFUSE_EACH(JOB, cases);
}

static void models_are_checked(void **state)
{
    (void)state;
    static const struct broken cases[] = {
        {"\"preset\":\"mlp\",", "", "/model"},
        {"{\"preset\":\"mlp\",\"hidden\":[128],\"activation\":\"relu\"}", "{}",
         "/model"},
        {"{\"preset\":\"mlp\",\"hidden\":[128],\"activation\":\"relu\"}", "\"mlp\"",
         "/model"},
        {"\"mlp\"", "\"cnn\"", "/model/preset"},
        {"\"mlp\"", "null", "/model/preset"},
        {"\"mlp\"", "\"linear\"", "/model/hidden"},
        {"[128]", "[]", "/model/hidden"},
        {"[128]", "128", "/model/hidden"},
        {"[128]", "[0]", "/model/hidden/0"},
        {"[128]", "[64,-1]", "/model/hidden/1"},
        {"[128]", "[67108865]", "/model/hidden/0"},
        {"[128]", "[128],\"layers\":[{\"type\":\"relu\"}]", "/model/layers"},
        {"\"relu\"", "\"dense\"", "/model/activation"},
        {"\"relu\"", "\"elu\"", "/model/activation"},
        {"\"relu\"", "\"relu\",\"bias\":1", "/model/bias"},
        {"\"relu\"", "\"relu\",\"loss\":\"hinge\"", "/model/loss"},
        {"\"relu\"", "\"relu\",\"init_seed\":-1", "/model/init_seed"},
        {"\"relu\"", "\"relu\",\"init_seed\":9007199254740992", "/model/init_seed"},
        {"\"relu\"", "\"relu\",\"seed\":1", "/model/seed"},
    };
    REFUSE_EACH(JOB, cases);
    static const struct broken layers[] = {
        {"\"out\":32", "\"out\":0", "/model/layers/0/out"},
        {",\"out\":32", "", "/model/layers/0/out"},
        {"\"out\":32", "\"out\":67108865", "/model/layers/0/out"},
        {"\"out\":32", "\"outs\":32", "/model/layers/0/outs"},
        {"\"tanh\"", "\"tanh\",\"out\":3", "/model/layers/1/out"},
        {"\"tanh\"", "\"batch_norm\"", "/model/layers/1/type"},
        {"{\"type\":\"tanh\"}", "7", "/model/layers/1"},
        {"\"bias\":false", "\"bias\":0", "/model/layers/2/bias"},
        {"\"layers\":[", "\"hidden\":[3],\"layers\":[", "/model/hidden"},
        {"\"layers\":[", "\"activation\":\"relu\",\"layers\":[", "/model/activation"},
    };
    REFUSE_EACH(LAYERS, layers);
}

static void layers_and_hidden_widths_are_limited_in_number(void **state)
{
    (void)state;
    for (size_t count = LIMIT_LAYERS; count <= LIMIT_LAYERS + 1; count++) {
        char *body = malloc(32 * count + 200);
        struct job_request request;
        assert_non_null(body);
        size_t at = (size_t)sprintf(body, "{\"dataset\":\"d\",\"algorithm\":"
                                          "{\"name\":\"sgd\"},\"model\":{\"layers\":[");
        for (size_t i = 0; i < count; i++)
            at += (size_t)sprintf(body + at, "{\"type\":\"relu\"}%s",
                                  i + 1 < count ? "," : "]}}");
        enum status expected = count == LIMIT_LAYERS ? ST_OK : ST_INVALID;
        assert_int_equal(job_request_parse(&request, body, at, NULL), expected);
        if (expected == ST_OK)
            job_request_fini(&request);
        free(body);
    }
    for (size_t count = MODEL_HIDDEN_MAX; count <= MODEL_HIDDEN_MAX + 1; count++) {
        char body[600];
        struct job_request request;
        size_t at = (size_t)sprintf(body, "{\"dataset\":\"d\",\"algorithm\":{\"name\":"
                                          "\"sgd\"},\"model\":{\"preset\":\"mlp\","
                                          "\"hidden\":[");
        for (size_t i = 0; i < count; i++)
            at += (size_t)sprintf(body + at, "3%s", i + 1 < count ? "," : "]}}");
        enum status expected = count == MODEL_HIDDEN_MAX ? ST_OK : ST_INVALID;
        assert_int_equal(job_request_parse(&request, body, at, NULL), expected);
        if (expected == ST_OK)
            job_request_fini(&request);
    }
}

static void optimizers_are_checked(void **state)
{
    (void)state;
    static const struct broken cases[] = {
        {"\"name\":\"sgd\",", "", "/optimizer/name"},
        {"\"sgd\"", "\"lion\"", "/optimizer/name"},
        {"\"sgd\"", "\"adam\"", "/optimizer/momentum"},
        {"4.0", "0", "/optimizer/learning_rate"},
        {"4.0", "-4", "/optimizer/learning_rate"},
        {"4.0", "1000001", "/optimizer/learning_rate"},
        {"4.0", "\"4\"", "/optimizer/learning_rate"},
        {"4.0", "[4,0]", "/optimizer/learning_rate"},
        {"4.0", "{}", "/optimizer/learning_rate/initial"},
        {"4.0", "{\"initial\":4}", "/optimizer/learning_rate/final"},
        {"4.0", "{\"initial\":0,\"final\":1}", "/optimizer/learning_rate/initial"},
        {"4.0", "{\"initial\":4,\"final\":-1}", "/optimizer/learning_rate/final"},
        {"4.0", "{\"initial\":4,\"final\":0,\"steps\":9}",
         "/optimizer/learning_rate/steps"},
        {"\"momentum\":0.0", "\"momentum\":1", "/optimizer/momentum"},
        {"\"momentum\":0.0", "\"momentum\":-0.5", "/optimizer/momentum"},
        {"\"momentum\":0.0", "\"beta1\":0.9", "/optimizer/beta1"},
        {"\"momentum\":0.0", "\"nesterov\":true", "/optimizer/nesterov"},
        {"\"sgd\",\"learning_rate\":4.0,\"momentum\":0.0", "\"adam\",\"beta1\":1",
         "/optimizer/beta1"},
        {"\"sgd\",\"learning_rate\":4.0,\"momentum\":0.0", "\"adam\",\"beta2\":-1",
         "/optimizer/beta2"},
        {"\"sgd\",\"learning_rate\":4.0,\"momentum\":0.0", "\"adam\",\"epsilon\":0",
         "/optimizer/epsilon"},
    };
    REFUSE_EACH(JOB, cases);
    struct job_request request;
    char *body = edit(JOB, "4.0", "{\"initial\":8,\"final\":0}");
    must_parse(&request, body);
    assert_true(request.train.optimizer.learning_rate == 8);
    assert_true(request.train.optimizer.learning_rate_final == 0);
    job_request_fini(&request);
    free(body);
}

/* DESIGN.md 6, by hand: n / 60 is 1000, nearest 1024; 12500/60 = 208.3, nearest 256. */
static void the_default_batch_is_the_power_of_two_nearest_a_sixtieth(void **state)
{
    (void)state;
    static const struct {
        uint64_t records, batch_size;
    } cases[] = {{60000, 1024},    {1, 1},
                 {255, 255},       {256, 256},
                 {12500, 256},     {23039, 256},
                 {23040, 256},     {23041, 512},
                 {32560, 512},     {20640, 256},
                 {46079, 512},     {46081, 1024},
                 {1000000, 16384}, {2147483647, 33554432}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job_request request;
        must_resolve(&request, SHORT, private_data(&images, cases[i].records));
        assert_int_equal(request.train.batch_size, cases[i].batch_size);
        job_request_fini(&request);
    }
}

static void steps_follow_from_epochs_rounded_up(void **state)
{
    (void)state;
    struct job_request request;
    must_resolve(&request, JOB, private_data(&images, 60000));
    assert_int_equal(request.train.steps, 1172); /* 20 * 60000 / 1024 = 1171.875 */
    assert_int_equal(request.train.records, 60000);
    job_request_fini(&request);
    must_resolve(&request, SHORT, private_data(&images, 1024));
    assert_int_equal(request.epochs, 20);
    assert_int_equal(request.train.steps, 80); /* 20 * 1024 / 256 */
    job_request_fini(&request);
    char *body = edit(JOB, "\"epochs\":20", "\"steps\":77");
    must_resolve(&request, body, private_data(&images, 60000));
    assert_int_equal(request.train.steps, 77);
    assert_int_equal(request.epochs, 0);
    job_request_fini(&request);
    free(body);
    body = edit(JOB, ":1024,\"epochs\":20", ":1,\"epochs\":10");
    refused(body, private_data(&images, 1000001), ST_INVALID, "/epochs");
    must_resolve(&request, body, private_data(&images, 1000000));
    assert_int_equal(request.train.steps, LIMIT_STEPS);
    job_request_fini(&request);
    free(body);
    body = edit(JOB, ":1024,\"epochs\":20", ":1,\"epochs\":10000000");
    refused(body, private_data(&images, LIMIT_RECORDS), ST_INVALID, "/epochs");
    free(body);
}

static void a_batch_is_at_most_the_data(void **state)
{
    (void)state;
    struct job_request request;
    refused(JOB, private_data(&images, 1023), ST_INVALID, "/batch_size");
    must_resolve(&request, JOB, private_data(&images, 1024));
    job_request_fini(&request);
}

static void losses_and_outputs_follow_the_task(void **state)
{
    (void)state;
    static const struct {
        const struct schema *schema;
        enum loss loss;
        uint32_t outputs;
    } cases[] = {{&images, LOSS_SOFTMAX_CROSS_ENTROPY, 10},
                 {&pairs, LOSS_LOGISTIC, 1},
                 {&prices, LOSS_SQUARED, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job_request request;
        must_resolve(&request, SHORT, private_data(cases[i].schema, 6000));
        const struct model_spec *model = &request.train.model;
        assert_int_equal(model->loss, cases[i].loss);
        assert_int_equal(model->layer_count, 1);
        assert_int_equal(model->layers[0].out, cases[i].outputs);
        assert_true(model->layers[0].bias);
        job_request_fini(&request);
    }
    static const struct {
        const struct schema *schema;
        const char *loss;
        uint32_t outputs; /* 0: refused */
    } named[] = {{&images, "softmax_cross_entropy", 10},
                 {&images, "logistic", 0},
                 {&images, "squared", 0},
                 {&pairs, "softmax_cross_entropy", 2},
                 {&pairs, "logistic", 1},
                 {&pairs, "squared", 0},
                 {&prices, "squared", 1},
                 {&prices, "logistic", 0},
                 {&prices, "softmax_cross_entropy", 0}};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        char member[80];
        struct job_request request;
        sprintf(member, "\"linear\",\"loss\":\"%s\"", named[i].loss);
        char *body = edit(SHORT, "\"linear\"", member);
        struct job_dataset dataset = private_data(named[i].schema, 6000);
        if (named[i].outputs == 0) {
            refused(body, dataset, ST_INVALID, "/model/loss");
        } else {
            must_resolve(&request, body, dataset);
            assert_int_equal(request.train.model.layers[0].out, named[i].outputs);
            job_request_fini(&request);
        }
        free(body);
    }
}

static void presets_expand_and_layers_must_fit(void **state)
{
    (void)state;
    struct job_request request;
    must_resolve(&request, JOB, private_data(&images, 60000));
    const struct model_spec *model = &request.train.model;
    assert_int_equal(model->layer_count, 3);
    assert_int_equal(model->layers[0].out, 128);
    assert_int_equal(model->layers[1].kind, LAYER_RELU);
    assert_int_equal(model->layers[2].out, 10);
    assert_true(model->layers[0].bias && model->layers[2].bias);
    job_request_fini(&request);

    must_resolve(&request, LAYERS, private_data(&images, 60000));
    assert_int_equal(request.train.model.layer_count, 3);
    assert_false(request.train.model.layers[2].bias);
    job_request_fini(&request);
    refused(LAYERS, private_data(&pairs, 60000), ST_INVALID, "/model/layers/2");
    char *body = edit(LAYERS, ",{\"type\":\"dense\",\"out\":10,\"bias\":false}", "");
    refused(body, private_data(&images, 60000), ST_INVALID, "/model/layers/1");
    free(body);
}

/* 784 x w + w + w x 10 + 10 parameters: 2^31 - 1 allows w = 2701237 and no more. */
static void parameters_are_limited_without_overflow(void **state)
{
    (void)state;
    struct job_request request;
    char *body = edit(JOB, "[128]", "[2701237]");
    must_resolve(&request, body, private_data(&images, 60000));
    job_request_fini(&request);
    free(body);
    static const char *const hidden[] = {"[2701238]", "[67108864]",
                                         "[67108864,67108864,67108864]",
                                         "[1,67108864,67108864]"};
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
        body = edit(JOB, "[128]", hidden[i]);
        refused(body, private_data(&images, 60000), ST_INVALID, "/model");
        free(body);
    }
}

static void learning_rates_default_by_what_is_trained(void **state)
{
    (void)state;
    struct job_request request;
    must_resolve(&request, SHORT, private_data(&images, 60000));
    assert_true(request.train.optimizer.learning_rate == 2);
    assert_true(request.train.optimizer.learning_rate_final == 2);
    assert_true(request.train.optimizer.momentum == 0);
    job_request_fini(&request);
    must_resolve(&request, SHORT, private_data(&prices, 60000));
    assert_true(request.train.optimizer.learning_rate == 0.3);
    job_request_fini(&request);
    must_resolve(&request, LAYERS, private_data(&images, 60000));
    assert_true(request.train.optimizer.learning_rate == 0.001);
    assert_true(request.train.optimizer.beta1 == 0.9);
    assert_true(request.train.optimizer.beta2 == 0.999);
    assert_true(request.train.optimizer.epsilon == 1e-8);
    job_request_fini(&request);
    must_resolve(&request, OPEN, public_data(&images, 60000));
    assert_true(request.train.optimizer.learning_rate == 0.1);
    job_request_fini(&request);
}

static void delta_is_the_datasets_unless_a_smaller_one_is_asked(void **state)
{
    (void)state;
    struct job_request request;
    must_resolve(&request, SHORT, private_data(&images, 60000));
    assert_true(request.delta == 1e-5);
    job_request_fini(&request);
    char *body = edit(SHORT, "\"epsilon\":2", "\"epsilon\":2,\"delta\":1e-7");
    must_resolve(&request, body, private_data(&images, 60000));
    assert_true(request.delta == 1e-7);
    job_request_fini(&request);
    free(body);
    body =
        edit(SHORT, "\"epsilon\":2", "\"epsilon\":2,\"delta\":1.0000000000000001e-4");
    refused(body, private_data(&images, 60000), ST_INVALID, "/privacy/delta");
    must_resolve(&request, body, public_data(&images, 60000));
    job_request_fini(&request);
    free(body);
}

static void what_is_not_private_needs_public_data(void **state)
{
    (void)state;
    struct job_request request;
    refused(OPEN, private_data(&images, 60000), ST_DATASET_PRIVATE, "/algorithm/name");
    must_resolve(&request, OPEN, public_data(&images, 60000));
    assert_true(request.delta == 0);
    job_request_fini(&request);
    char *body = edit(OPEN, "\"sgd\"}", "\"sgd\"},\"privacy\":{\"epsilon\":2}");
    refused(body, public_data(&images, 60000), ST_INVALID, "/privacy");
    free(body);
    body = edit(SHORT, ",\"privacy\":{\"epsilon\":2}", "");
    refused(body, private_data(&images, 60000), ST_INVALID, "/privacy");
    refused(body, public_data(&images, 60000), ST_INVALID, "/privacy");
    free(body);
    body = edit(SHORT, "\"epsilon\":2", "\"budget_fraction\":1");
    refused(body, public_data(&images, 60000), ST_INVALID, "/privacy/budget_fraction");
    must_resolve(&request, body, private_data(&images, 60000));
    job_request_fini(&request);
    free(body);
}

static void every_default_is_written_out(void **state)
{
    (void)state;
    struct job_request request;
    must_resolve(&request, SHORT, private_data(&pairs, 32560));
    char *text = job_request_render(&request);
    assert_non_null(strstr(text, "{\"dataset\":\"d\",\"model\":{\"preset\":\"linear\","
                                 "\"loss\":\"logistic\",\"init_seed\":0},"
                                 "\"algorithm\":{\"name\":\"dpsgd\","));
    assert_non_null(strstr(text, "{\"name\":\"dpsgd\",\"clipping\":\"flat\","
                                 "\"clip_norm\":1.0}"));
    assert_non_null(strstr(
        text, "\"optimizer\":{\"name\":\"sgd\",\"learning_rate\":2.0,"
              "\"momentum\":0.0},\"batch_size\":512,\"epochs\":20,"
              "\"privacy\":{\"epsilon\":2.0,\"delta\":1e-05,\"accountant\":\"rdp\"}}"));
    free(text);
    job_request_fini(&request);
}

static void a_parameter_is_shown_only_where_it_means_something(void **state)
{
    (void)state;
    struct job_request request;
    char *body = edit(SHORT, "\"name\":\"dpsgd\"",
                      "\"name\":\"dpsgd\",\"clipping\":\"automatic\"");
    must_resolve(&request, body, private_data(&pairs, 32560));
    char *text = job_request_render(&request);
    assert_non_null(strstr(text, "{\"name\":\"dpsgd\",\"clipping\":\"automatic\","
                                 "\"clip_norm\":1.0,\"gamma\":0.01}"));
    free(text);
    free(body);
    job_request_fini(&request);
}

static void same_layers(const struct model_spec *a, const struct model_spec *b)
{
    assert_int_equal(a->layer_count, b->layer_count);
    for (size_t i = 0; i < a->layer_count; i++) {
        assert_int_equal(a->layers[i].kind, b->layers[i].kind);
        assert_int_equal(a->layers[i].out, b->layers[i].out);
        assert_int_equal(a->layers[i].bias, b->layers[i].bias);
        assert_int_equal(a->layers[i].groups, b->layers[i].groups);
        assert_true(a->layers[i].epsilon == b->layers[i].epsilon);
        assert_true(a->layers[i].rate == b->layers[i].rate);
        assert_int_equal(a->layers[i].body, b->layers[i].body);
        assert_int_equal(a->layers[i].shortcut, b->layers[i].shortcut);
    }
}

static void same_model(const struct model_spec *a, const struct model_spec *b)
{
    assert_int_equal(a->preset, b->preset);
    assert_int_equal(a->hidden_count, b->hidden_count);
    assert_memory_equal(a->hidden, b->hidden, sizeof a->hidden);
    assert_int_equal(a->activation, b->activation);
    assert_int_equal(a->bias, b->bias);
    assert_int_equal(a->loss, b->loss);
    assert_true(a->init_seed == b->init_seed);
    same_layers(a, b);
}

static void same_request(const struct job_request *a, const struct job_request *b)
{
    assert_string_equal(a->dataset.text, b->dataset.text);
    assert_int_equal(a->has_evaluation, b->has_evaluation);
    assert_string_equal(a->evaluation.text, b->evaluation.text);
    assert_true(a->has_loss == b->has_loss);
    assert_true(a->has_learning_rate == b->has_learning_rate);
    assert_true(a->epochs == b->epochs && a->has_steps == b->has_steps);
    assert_true(a->target == b->target && a->target_value == b->target_value);
    assert_int_equal(a->accountant, b->accountant);
    assert_true(a->delta == b->delta);
    assert_ptr_equal(a->train.algorithm.algorithm, b->train.algorithm.algorithm);
    assert_memory_equal(a->train.algorithm.values, b->train.algorithm.values,
                        sizeof a->train.algorithm.values);
    assert_int_equal(a->train.optimizer.kind, b->train.optimizer.kind);
    assert_true(a->train.optimizer.learning_rate == b->train.optimizer.learning_rate &&
                a->train.optimizer.learning_rate_final ==
                    b->train.optimizer.learning_rate_final &&
                a->train.optimizer.momentum == b->train.optimizer.momentum &&
                a->train.optimizer.beta1 == b->train.optimizer.beta1 &&
                a->train.optimizer.beta2 == b->train.optimizer.beta2 &&
                a->train.optimizer.epsilon == b->train.optimizer.epsilon);
    assert_int_equal(a->train.relation, b->train.relation);
    assert_true(a->train.records == b->train.records &&
                a->train.batch_size == b->train.batch_size &&
                a->train.steps == b->train.steps);
    same_model(&a->train.model, &b->train.model);
}

/* xorshift64 (Marsaglia 2003): histories that a failure can be replayed from. */
static uint64_t draw_state = 88172645463325252u;
static uint64_t draw(uint64_t below)
{
    draw_state ^= draw_state << 13;
    draw_state ^= draw_state >> 7;
    draw_state ^= draw_state << 17;
    return draw_state % below;
}

static double draw_real(double low, double high)
{
    return low + (high - low) * ((double)draw(UINT64_C(1) << 53) * 0x1p-53);
}

static void draw_model(char *to, uint32_t outputs)
{
    size_t at = 0;
    if (draw(3) == 0) {
        at += (size_t)sprintf(to, "{\"preset\":\"linear\"");
    } else if (draw(2) == 0) {
        at += (size_t)sprintf(to, "{\"preset\":\"mlp\"");
        if (draw(2) == 0)
            at += (size_t)sprintf(to + at, ",\"hidden\":[%d,%d]", (int)draw(99) + 1,
                                  (int)draw(99) + 1);
        if (draw(2) == 0)
            at += (size_t)sprintf(to + at, ",\"activation\":\"tanh\"");
        if (draw(2) == 0)
            at += (size_t)sprintf(to + at, ",\"bias\":false");
    } else if (draw(2) == 0) {
        at += (size_t)sprintf(to,
                              "{\"layers\":[{\"type\":\"residual\",\"body\":[{"
                              "\"type\":\"dropout\",\"rate\":%.17g},"
                              "{\"type\":\"gelu\"}]},{\"type\":\"group_norm\","
                              "\"groups\":1,\"eps\":%.17g},{\"type\":\"dense\","
                              "\"out\":%u}]",
                              draw_real(0, 1), draw_real(1e-9, 1), outputs);
    } else {
        at += (size_t)sprintf(to,
                              "{\"layers\":[{\"type\":\"dense\",\"out\":%d},"
                              "{\"type\":\"relu\"},{\"type\":\"dense\",\"out\":%u,"
                              "\"bias\":%s}]",
                              (int)draw(99) + 1, outputs,
                              draw(2) == 0 ? "true" : "false");
    }
    if (draw(2) == 0)
        at += (size_t)sprintf(to + at, ",\"init_seed\":%d", (int)draw(1000000));
    sprintf(to + at, "}");
}

static void draw_optimizer(char *to)
{
    double a = draw_real(0.001, 9), b = draw_real(0, 1);
    switch (draw(5)) {
    case 0: strcpy(to, ""); break;
    case 1: strcpy(to, ",\"optimizer\":{\"name\":\"adam\"}"); break;
    case 2:
        sprintf(to,
                ",\"optimizer\":{\"name\":\"sgd\",\"learning_rate\":%.17g,"
                "\"momentum\":%.17g}",
                a, b);
        break;
    case 3:
        sprintf(to,
                ",\"optimizer\":{\"name\":\"sgd\",\"learning_rate\":"
                "{\"initial\":%.17g,\"final\":%.17g}}",
                a, b);
        break;
    default:
        sprintf(to,
                ",\"optimizer\":{\"name\":\"adam\",\"learning_rate\":%.17g,"
                "\"beta1\":%.17g,\"epsilon\":%.17g}",
                a, b, b + 1e-9);
    }
}

static void draw_body(char *body, const struct job_dataset *dataset, uint32_t outputs)
{
    static const char *const targets[] = {"epsilon", "noise_multiplier",
                                          "budget_fraction"};
    char model[400], optimizer[300], length[80] = "", privacy[120] = "", batch[40] = "";
    bool is_private = !dataset->is_public || draw(2) == 0;
    draw_model(model, outputs);
    draw_optimizer(optimizer);
    if (draw(2) == 0)
        sprintf(batch, ",\"batch_size\":%d", (int)draw(dataset->records) + 1);
    if (draw(3) > 0)
        sprintf(length, ",\"%s\":%d", draw(2) == 0 ? "epochs" : "steps",
                (int)draw(100) + 1);
    if (is_private)
        sprintf(privacy, ",\"privacy\":{\"%s\":%.17g%s}",
                targets[draw(dataset->is_public ? 2 : 3)], draw_real(0.05, 1),
                draw(2) == 0 ? ",\"delta\":3.3e-7" : "");
    sprintf(body,
            "{\"dataset\":\"d\"%s,\"model\":%s,\"algorithm\":{\"name\":\"%s\"%s}"
            "%s%s%s%s}",
            draw(2) == 0 ? ",\"evaluation\":\"e\"" : "", model,
            is_private ? "dpsgd" : "sgd",
            is_private && draw(2) == 0 ? ",\"clip_norm\":0.1" : "", optimizer, batch,
            length, privacy);
}

static void what_is_rendered_reads_back_to_the_same_job(void **state)
{
    (void)state;
    static const struct schema *const schemas[] = {&images, &pairs, &prices};
    for (int i = 0; i < 10000; i++) {
        size_t kind = draw(3);
        struct job_dataset dataset = {
            schemas[kind], draw(100000) + 1, draw(2) == 0,
            draw(2) == 0 ? RELATION_ZERO_OUT : RELATION_REPLACE_ONE, 1.7e-6};
        char body[1400];
        struct job_request request, again;
        draw_body(body, &dataset, kind == 0 ? 10 : 1);
        must_resolve(&request, body, dataset);
        char *text = job_request_render(&request);
        must_resolve(&again, text, dataset);
        same_request(&request, &again);
        char *second = job_request_render(&again);
        assert_string_equal(text, second);
        free(second);
        free(text);
        job_request_fini(&again);
        job_request_fini(&request);
    }
}

static void an_architecture_reads_back(void **state)
{
    (void)state;
    static const char *const bodies[] = {JOB, LAYERS, SHORT};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct job_request request;
        struct model_spec again;
        struct error error = {0};
        must_resolve(&request, bodies[i], private_data(&images, 60000));
        char *text = model_spec_render(&request.train.model);
        assert_non_null(strstr(text, "\"layers\":[{\"type\":\"dense\",\"out\":"));
        assert_int_equal(model_spec_parse(&again, text, &error), ST_OK);
        same_model(&request.train.model, &again);
        model_spec_fini(&again);
        free(text);
        job_request_fini(&request);
    }
    static const char *const bad[] = {
        "",
        "{}",
        "[]",
        "{\"layers\":[],\"loss\":\"squared\"}",
        "{\"layers\":[{\"type\":\"relu\"}]}",
        "{\"layers\":[{\"type\":\"relu\"}],\"loss\":\"x\"}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct model_spec model;
        assert_int_equal(model_spec_parse(&model, bad[i], NULL), ST_INVALID);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_arrive_in_the_struct),
        cmocka_unit_test(every_member_is_checked),
        cmocka_unit_test(privacy_is_checked),
        cmocka_unit_test(models_are_checked),
        cmocka_unit_test(layers_and_hidden_widths_are_limited_in_number),
        cmocka_unit_test(optimizers_are_checked),
        cmocka_unit_test(the_default_batch_is_the_power_of_two_nearest_a_sixtieth),
        cmocka_unit_test(steps_follow_from_epochs_rounded_up),
        cmocka_unit_test(a_batch_is_at_most_the_data),
        cmocka_unit_test(losses_and_outputs_follow_the_task),
        cmocka_unit_test(presets_expand_and_layers_must_fit),
        cmocka_unit_test(parameters_are_limited_without_overflow),
        cmocka_unit_test(learning_rates_default_by_what_is_trained),
        cmocka_unit_test(delta_is_the_datasets_unless_a_smaller_one_is_asked),
        cmocka_unit_test(what_is_not_private_needs_public_data),
        cmocka_unit_test(every_default_is_written_out),
        cmocka_unit_test(a_parameter_is_shown_only_where_it_means_something),
        cmocka_unit_test(what_is_rendered_reads_back_to_the_same_job),
        cmocka_unit_test(an_architecture_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
