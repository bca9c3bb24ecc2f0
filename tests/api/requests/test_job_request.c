/* Goal: a job is what its text says, or it is refused at the member at fault. Method:
 * one body broken in each place. */
#include "tests/expect.h"

#include "api/requests/job_request.h"
#include "api/limits.h"
#include "tests/api/job_fixture.h"

static enum status read_job(const char *body, struct error *error)
{
    struct job_request request = {0};
    enum status status = job_request_parse(&request, json_text_of(body), error);
    if (status == ST_OK)
        job_request_fini(&request);
    else
        assert_null(request.train.model.layers);
    return status;
}

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

static void a_whole_real_is_the_count_it_equals(void **state)
{
    (void)state;
    struct job_request request;
    char *body = edit(JOB, "[128],", "[128.0,64.0],\"init_seed\":7.0,");
    char *both = edit(body, "1024,\"epochs\":20", "1024.0,\"steps\":2e3");
    must_parse(&request, both);
    assert_int_equal(request.train.model.hidden[0], 128);
    assert_int_equal(request.train.model.hidden[1], 64);
    assert_int_equal(request.train.model.init_seed, 7);
    assert_int_equal(request.train.batch_size, 1024);
    assert_int_equal(request.train.steps, 2000);
    job_request_fini(&request);
    free(both);
    free(body);
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
        {":1024", ":1024.5", "/batch_size"},
        {":1024", ":2147483648", "/batch_size"},
        {":1024", ":\"1024\"", "/batch_size"},
        {":1024", ":1024,\"rows_per_person\":0", "/rows_per_person"},
        {":1024", ":1024,\"rows_per_person\":3", "/rows_per_person"},
        {":1024", ":1024,\"rows_per_person\":32", "/rows_per_person"},
        {":1024", ":1024,\"rows_per_person\":\"4\"", "/rows_per_person"},
        {":1024", ":1024,\"ranks\":0", "/ranks"},
        {":1024", ":1024,\"ranks\":1025", "/ranks"},
        {":1024", ":1024,\"ranks\":1.5", "/ranks"},
        {":1024", ":1024,\"ranks\":\"2\"", "/ranks"},
        {":1024", ":1024,\"augmentation\":{}", "/augmentation"},
        {":1024", ":1024,\"augmentation\":{\"views\":4}", "/augmentation"},
        {":1024", ":1024,\"augmentation\":{\"shift\":0,\"flip\":false}",
         "/augmentation"},
        {":1024", ":1024,\"augmentation\":true", "/augmentation"},
        {":1024", ":1024,\"augmentation\":{\"flip\":1}", "/augmentation/flip"},
        {":1024", ":1024,\"augmentation\":{\"flip\":true,\"views\":0}",
         "/augmentation/views"},
        {":1024", ":1024,\"augmentation\":{\"flip\":true,\"views\":3}",
         "/augmentation/views"},
        {":1024", ":1024,\"augmentation\":{\"flip\":true,\"views\":32}",
         "/augmentation/views"},
        {":1024", ":1024,\"augmentation\":{\"shift\":-1}", "/augmentation/shift"},
        {":1024", ":1024,\"augmentation\":{\"shift\":65}", "/augmentation/shift"},
        {":1024", ":1024,\"augmentation\":{\"shift\":2,\"crop\":1}",
         "/augmentation/crop"},
        {"\"epochs\":20", "\"epochs\":0", "/epochs"},
        {"\"epochs\":20", "\"epochs\":2.5", "/epochs"},
        {"\"epochs\":20", "\"epochs\":10000001", "/epochs"},
        {"\"epochs\":20", "\"epochs\":20,\"steps\":100", "/steps"},
        {"\"epochs\":20", "\"steps\":0", "/steps"},
        {"\"epochs\":20", "\"steps\":10000001", "/steps"},
        {"\"epochs\":20", "\"steps\":1.5e0", "/steps"},
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
    REFUSE_EACH(read_job, JOB, cases);
}

static void all_faults_of_a_job_are_listed_in_its_order(void **state)
{
    (void)state;
    assert_faults(
        read_job,
        "{\"privacy\":{\"epsilon\":1001,\"delat\":1e-5},\"seed\":1,"
        "\"model\":{\"layers\":[{\"type\":\"dense\",\"out\":8},"
        "{\"type\":\"residual\",\"body\":[{\"type\":\"conv2d\",\"kernel\":[3,\"3\"]}]},"
        "{\"type\":\"batch_norm\",\"eps\":0}],\"init_seed\":-1},"
        "\"algorithm\":{\"clip_norm\":0,\"name\":\"dpsgd\"},"
        "\"optimizer\":{\"name\":\"adamw\",\"learning_rate\":[1],\"beta1\":7},"
        "\"batch_size\":20.5,\"epochs\":2,\"steps\":\"many\"}",
        "/privacy/epsilon out_of_range\n/privacy/delat unknown\n/seed unknown\n"
        "/model/layers/1/body/0/kernel/1 wrong_type\n"
        "/model/layers/1/body/0/out missing\n/model/layers/2/type invalid\n"
        "/model/init_seed out_of_range\n/algorithm/clip_norm out_of_range\n"
        "/optimizer/name invalid\n/optimizer/learning_rate wrong_type\n"
        "/batch_size wrong_type\n/steps invalid\n/dataset missing\n");
}

/* A member that cannot be parsed causes no further faults in members that depend on
 * it. */
static void one_fault_is_told_once(void **state)
{
    (void)state;
    static const struct broken cases[] = {
        {"\"mlp\"", "\"cnn\"", "/model/preset"},
        {"\"mlp\"", "7", "/model/preset"},
        {"{\"preset\":\"mlp\",\"hidden\":[128],\"activation\":\"relu\"}", "[]",
         "/model"},
        {"{\"name\":\"dpsgd\",\"clip_norm\":1.5}", "7", "/algorithm"},
        {"\"dpsgd\"", "null", "/algorithm/name"},
        {"\"sgd\"", "\"rmsprop\"", "/optimizer/name"},
        {"{\"epsilon\":2}", "2", "/privacy"},
        {"{\"epsilon\":2}", "{\"epsilon\":\"2\"}", "/privacy/epsilon"},
    };
    REFUSE_EACH(read_job, JOB, cases);
    assert_faults(read_job, "[]", " wrong_type\n");
    assert_faults(read_job, "{}",
                  "/dataset missing\n/model missing\n/algorithm missing\n");
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
        {"{\"epsilon\":2}", "{\"epsilon\":2,\"noise_multiplier\":1}",
         "/privacy/noise_multiplier"},
        {"{\"epsilon\":2}", "{\"budget_fraction\":1,\"epsilon\":2}",
         "/privacy/budget_fraction"},
        {"{\"epsilon\":2}", "{\"epsilon\":0}", "/privacy/epsilon"},
        {"{\"epsilon\":2}", "{\"epsilon\":-2}", "/privacy/epsilon"},
        {"{\"epsilon\":2}", "{\"epsilon\":30.5}", "/privacy/epsilon"},
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
    REFUSE_EACH(read_job, JOB, cases);
    static const struct broken twice[] = {
        {"{\"epsilon\":2}", "{\"noise_multipler\":1.1}", "/privacy/noise_multipler"},
    };
    REFUSE_EACH_TWICE(read_job, JOB, twice);
}

static void privacy_is_asked_for_where_there_is_some(void **state)
{
    (void)state;
    static const struct broken private_jobs[] = {
        {",\"privacy\":{\"epsilon\":2}", "", "/privacy"},
        {"\"dpsgd\"", "\"sgd\"", "/privacy"},
    };
    REFUSE_EACH(read_job, SHORT, private_jobs);
    struct job_request request;
    must_parse(&request, OPEN);
    job_request_fini(&request);
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
    REFUSE_EACH(read_job, JOB, cases);
    static const struct broken twice[] = {
        {"\"mlp\"", "\"linear\"", "/model/hidden"},
    };
    REFUSE_EACH_TWICE(read_job, JOB, twice);
    static const struct broken layers[] = {
        {"\"out\":32", "\"out\":0", "/model/layers/0/out"},
        {",\"out\":32", "", "/model/layers/0/out"},
        {"\"out\":32", "\"out\":67108865", "/model/layers/0/out"},
        {"\"tanh\"", "\"tanh\",\"out\":3", "/model/layers/1/out"},
        {"\"tanh\"", "\"batch_norm\"", "/model/layers/1/type"},
        {"{\"type\":\"tanh\"}", "7", "/model/layers/1"},
        {"\"bias\":false", "\"bias\":0", "/model/layers/2/bias"},
        {"\"layers\":[", "\"hidden\":[3],\"layers\":[", "/model/hidden"},
        {"\"layers\":[", "\"activation\":\"relu\",\"layers\":[", "/model/activation"},
    };
    REFUSE_EACH(read_job, LAYERS, layers);
    static const struct broken layers_twice[] = {
        {"\"out\":32", "\"outs\":32", "/model/layers/0/outs"},
    };
    REFUSE_EACH_TWICE(read_job, LAYERS, layers_twice);
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
        assert_int_equal(job_request_parse(&request, json_text_sized(body, at), NULL),
                         expected);
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
        assert_int_equal(job_request_parse(&request, json_text_sized(body, at), NULL),
                         expected);
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
        {"4.0", "{\"initial\":4}", "/optimizer/learning_rate/final"},
        {"4.0", "{\"initial\":0,\"final\":1}", "/optimizer/learning_rate/initial"},
        {"4.0", "{\"initial\":4,\"final\":-1}", "/optimizer/learning_rate/final"},
        {"4.0", "{\"initial\":4,\"final\":0,\"steps\":9}",
         "/optimizer/learning_rate/steps"},
        {"\"momentum\":0.0", "\"momentum\":1", "/optimizer/momentum"},
        {"\"momentum\":0.0", "\"momentum\":-0.5", "/optimizer/momentum"},
        {"\"momentum\":0.0", "\"beta1\":0.9", "/optimizer/beta1"},
        {"\"momentum\":0.0", "\"nesterov\":true", "/optimizer/nesterov"},
        {"\"momentum\":0.0", "\"schedule\":\"step\"", "/optimizer/schedule"},
        {"\"momentum\":0.0", "\"warmup\":1", "/optimizer/warmup"},
        {"\"momentum\":0.0", "\"warmup\":-0.1", "/optimizer/warmup"},
        {"\"momentum\":0.0", "\"weight_decay\":-1", "/optimizer/weight_decay"},
        {"\"momentum\":0.0", "\"weight_decay\":1001", "/optimizer/weight_decay"},
        {"\"sgd\",\"learning_rate\":4.0,\"momentum\":0.0", "\"adam\",\"beta1\":1",
         "/optimizer/beta1"},
        {"\"sgd\",\"learning_rate\":4.0,\"momentum\":0.0", "\"adam\",\"beta2\":-1",
         "/optimizer/beta2"},
        {"\"sgd\",\"learning_rate\":4.0,\"momentum\":0.0", "\"adam\",\"epsilon\":0",
         "/optimizer/epsilon"},
    };
    REFUSE_EACH(read_job, JOB, cases);
    static const struct broken twice[] = {
        {"4.0", "{}", "/optimizer/learning_rate/initial"},
    };
    REFUSE_EACH_TWICE(read_job, JOB, twice);
    struct job_request request;
    char *body = edit(JOB, "4.0", "{\"initial\":8,\"final\":0}");
    must_parse(&request, body);
    assert_true(request.train.optimizer.learning_rate == 8);
    assert_true(request.train.optimizer.learning_rate_final == 0);
    job_request_fini(&request);
    free(body);
}

static void what_becomes_of_the_releases_is_checked(void **state)
{
    (void)state;
    static const struct broken cases[] = {
        {"\"epochs\"", "\"averaging\":{\"kind\":\"mean\"},\"epochs\"",
         "/averaging/kind"},
        {"\"epochs\"", "\"averaging\":{},\"epochs\"", "/averaging/kind"},
        {"\"epochs\"", "\"averaging\":\"tail\",\"epochs\"", "/averaging"},
        {"\"epochs\"", "\"averaging\":{\"kind\":\"none\",\"share\":0.5},\"epochs\"",
         "/averaging/share"},
        {"\"epochs\"", "\"averaging\":{\"kind\":\"tail\",\"share\":0},\"epochs\"",
         "/averaging/share"},
        {"\"epochs\"", "\"averaging\":{\"kind\":\"tail\",\"share\":1.01},\"epochs\"",
         "/averaging/share"},
        {"\"epochs\"", "\"averaging\":{\"kind\":\"tail\",\"decay\":0.9},\"epochs\"",
         "/averaging/decay"},
        {"\"epochs\"", "\"averaging\":{\"kind\":\"ema\",\"decay\":1},\"epochs\"",
         "/averaging/decay"},
        {"\"epochs\"", "\"averaging\":{\"kind\":\"ema\",\"decay\":-0.1},\"epochs\"",
         "/averaging/decay"},
        {"\"epochs\"", "\"class_weights\":[1],\"epochs\"", "/class_weights"},
        {"\"epochs\"", "\"class_weights\":{},\"epochs\"", "/class_weights"},
        {"\"epochs\"", "\"class_weights\":[1,0],\"epochs\"", "/class_weights/1"},
        {"\"epochs\"", "\"class_weights\":[1,1001],\"epochs\"", "/class_weights/1"},
        {"\"epochs\"", "\"class_weights\":[null,1],\"epochs\"", "/class_weights/0"},
    };
    REFUSE_EACH(read_job, JOB, cases);
}

#define LORA(rank, alpha, targets)                                                     \
    "\"weights\":\"mdl_01ARZ3NDEKTSV4RRFFQ69G5FAV\",\"trainable\":{\"lora\":{"         \
    "\"rank\":" rank ",\"alpha\":" alpha ",\"targets\":" targets "}}"

static void starts_are_checked(void **state)
{
    (void)state;
    static const struct broken cases[] = {
        {"\"relu\"", "\"relu\",\"weights\":\"job_01ARZ3NDEKTSV4RRFFQ69G5FAV\"",
         "/model/weights"},
        {"\"relu\"", "\"relu\",\"weights\":7", "/model/weights"},
        {"\"relu\"", "\"relu\",\"trainable\":\"body\"", "/model/trainable"},
        {"\"relu\"", "\"relu\",\"trainable\":[]", "/model/trainable"},
        {"\"relu\"", "\"relu\",\"trainable\":{}", "/model/trainable"},
        {"\"relu\"", "\"relu\",\"trainable\":{\"only\":[\"a\"],\"except\":[\"b\"]}",
         "/model/trainable"},
        {"\"relu\"", "\"relu\",\"trainable\":{\"only\":[]}", "/model/trainable/only"},
        {"\"relu\"", "\"relu\",\"trainable\":{\"only\":[\"\"]}",
         "/model/trainable/only/0"},
        {"\"relu\"", "\"relu\",\"trainable\":{\"except\":[3]}",
         "/model/trainable/except/0"},
        {"\"relu\"", "\"relu\",\"trainable\":{\"first\":[\"a\"]}",
         "/model/trainable/first"},
        {"\"relu\"", "\"relu\",\"trainable\":{\"last\":0}", "/model/trainable/last"},
        {"\"relu\"", "\"relu\",\"trainable\":{\"last\":1025}", "/model/trainable/last"},
        {"\"relu\"", "\"relu\",\"trainable\":{\"last\":[2]}", "/model/trainable/last"},
        {"\"relu\"", "\"relu\",\"trainable\":{\"last\":2,\"only\":[\"a\"]}",
         "/model/trainable"},
        {"\"relu\"", "\"relu\",\"trainable\":\"last\"", "/model/trainable"},
        {"\"relu\"", "\"relu\",\"trainable\":\"lora\"", "/model/trainable"},
        {"\"relu\"", "\"relu\"," LORA("0", "2", "[\"0\"]"),
         "/model/trainable/lora/rank"},
        {"\"relu\"", "\"relu\"," LORA("1025", "2", "[\"0\"]"),
         "/model/trainable/lora/rank"},
        {"\"relu\"", "\"relu\"," LORA("1.5", "2", "[\"0\"]"),
         "/model/trainable/lora/rank"},
        {"\"relu\"", "\"relu\"," LORA("1", "0", "[\"0\"]"),
         "/model/trainable/lora/alpha"},
        {"\"relu\"", "\"relu\"," LORA("1", "-1", "[\"0\"]"),
         "/model/trainable/lora/alpha"},
        {"\"relu\"", "\"relu\"," LORA("1", "1e7", "[\"0\"]"),
         "/model/trainable/lora/alpha"},
        {"\"relu\"", "\"relu\"," LORA("1", "1", "[]"), "/model/trainable/lora/targets"},
        {"\"relu\"", "\"relu\"," LORA("1", "1", "[\"0\"],\"dropout\":0"),
         "/model/trainable/lora/dropout"},
        {"\"relu\"",
         "\"relu\",\"weights\":\"mdl_01ARZ3NDEKTSV4RRFFQ69G5FAV\",\"trainable\":"
         "{\"lora\":{\"rank\":1,\"targets\":[\"0\"]}}",
         "/model/trainable/lora/alpha"},
        {"\"relu\"", "\"relu\",\"trainable\":{\"lora\":8}", "/model/trainable/lora"},
        {"\"relu\"",
         "\"relu\",\"trainable\":{\"lora\":{\"rank\":1,\"alpha\":1,"
         "\"targets\":[\"0\"]}}",
         "/model/trainable"}, /* without weights */
        {"\"relu\"", "\"relu\",\"fresh\":\"head\"", "/model/fresh"},
        {"\"relu\"",
         "\"relu\",\"weights\":\"mdl_01ARZ3NDEKTSV4RRFFQ69G5FAV\",\"fresh\":\"all\"",
         "/model/fresh"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job_request request;
        struct error error = {0};
        char *body = edit(JOB, cases[i].from, cases[i].to);
        assert_refused_at(job_request_parse(&request, json_text_of(body), &error), body,
                          &error, cases[i].pointer);
        free(body);
    }
}

static void a_start_survives_its_text(void **state)
{
    (void)state;
    static const char *const starts[] = {
        "\"weights\":\"mdl_01ARZ3NDEKTSV4RRFFQ69G5FAV\"",
        "\"weights\":\"mdl_01ARZ3NDEKTSV4RRFFQ69G5FAV\",\"trainable\":\"head\","
        "\"fresh\":\"head\"",
        "\"weights\":\"mdl_01ARZ3NDEKTSV4RRFFQ69G5FAV\","
        "\"trainable\":{\"except\":[\"0.*\",\"2.[wb]*\"]},\"fresh\":[\"4.*\"]",
        "\"trainable\":{\"only\":[\"0.*\"]}",
        "\"trainable\":{\"last\":2}",
        "\"trainable\":\"bias\"",
        "\"weights\":\"mdl_01ARZ3NDEKTSV4RRFFQ69G5FAV\",\"trainable\":"
        "{\"lora\":{\"rank\":2,\"alpha\":16.0,\"targets\":[\"0\",\"*.query\"]}}",
    };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        struct job_request request;
        char with[256];
        snprintf(with, sizeof with, "\"relu\",%s", starts[i]);
        char *body = edit(JOB, "\"relu\"", with);
        must_parse(&request, body);
        char *text = job_request_render(&request);
        assert_non_null(strstr(text, starts[i]));
        char *arch = model_spec_render(&request.train.model);
        assert_null(strstr(arch, "trainable")); /* no member of the file's model */
        free(arch);
        job_request_fini(&request);
        free(text);
        free(body);
    }
}

static void rendered_as(const char *addition, const char *expected)
{
    struct job_request request;
    char with[256];
    snprintf(with, sizeof with, "%s,\"epochs\"", addition);
    char *plain = edit(JOB, "\"epsilon\":2", "\"epsilon\":2,\"delta\":1e-5");
    char *body = edit(plain, "\"epochs\"", with);
    must_parse(&request, body);
    char *text = job_request_render(&request);
    if (expected != NULL)
        assert_non_null(strstr(text, expected));
    else
        assert_null(strstr(text, "averaging"));
    struct job_request again;
    struct error error = {0};
    assert_taken(job_request_restore(&again, text, &error), text, &error);
    char *second = job_request_render(&again);
    assert_string_equal(second, text);
    job_request_fini(&again);
    job_request_fini(&request);
    free(second);
    free(text);
    free(body);
    free(plain);
}

static void what_is_usual_is_not_written(void **state)
{
    (void)state;
    rendered_as("\"augmentation\":{\"flip\":true}",
                "\"augmentation\":{\"views\":4,\"flip\":true,\"shift\":0}");
    rendered_as("\"augmentation\":{\"views\":16,\"shift\":3}",
                "\"augmentation\":{\"views\":16,\"flip\":false,\"shift\":3}");
    rendered_as("\"averaging\":{\"kind\":\"none\"}", NULL);
    rendered_as("\"averaging\":{\"kind\":\"tail\"}",
                "\"averaging\":{\"kind\":\"tail\",\"share\":0.5}");
    rendered_as("\"averaging\":{\"kind\":\"ema\",\"decay\":0.75}",
                "\"averaging\":{\"kind\":\"ema\",\"decay\":0.75}");
    rendered_as("\"class_weights\":[1,2.5,0.25]", "\"class_weights\":[1.0,2.5,0.25]");
    struct job_request request;
    char *body =
        edit(JOB, "\"momentum\":0.0", "\"schedule\":\"cosine\",\"warmup\":0.25");
    must_parse(&request, body);
    assert_true(request.train.optimizer.learning_rate == 4);
    assert_true(request.train.optimizer.learning_rate_final == 0);
    char *text = job_request_render(&request);
    assert_non_null(strstr(text, "{\"name\":\"sgd\",\"learning_rate\":{\"initial\":4.0,"
                                 "\"final\":0.0},\"momentum\":0.0,\"schedule\":"
                                 "\"cosine\",\"warmup\":0.25}"));
    job_request_fini(&request);
    free(text);
    free(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_arrive_in_the_struct),
        cmocka_unit_test(a_whole_real_is_the_count_it_equals),
        cmocka_unit_test(every_member_is_checked),
        cmocka_unit_test(all_faults_of_a_job_are_listed_in_its_order),
        cmocka_unit_test(one_fault_is_told_once),
        cmocka_unit_test(privacy_is_checked),
        cmocka_unit_test(privacy_is_asked_for_where_there_is_some),
        cmocka_unit_test(models_are_checked),
        cmocka_unit_test(layers_and_hidden_widths_are_limited_in_number),
        cmocka_unit_test(optimizers_are_checked),
        cmocka_unit_test(what_becomes_of_the_releases_is_checked),
        cmocka_unit_test(what_is_usual_is_not_written),
        cmocka_unit_test(starts_are_checked),
        cmocka_unit_test(a_start_survives_its_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
