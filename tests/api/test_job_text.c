/* Goal: the text of a resolved job says everything and reads back to itself. Method:
 * the members of a short job looked up; ten thousand random bodies rendered and read
 * again. */
#include "tests/expect.h"

#include "api/requests/job_defaults.h"
#include "tests/api/job_fixture.h"

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

/* xorshift64 (Marsaglia 2003): a failure can be replayed. */
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
        struct job_dataset dataset = {schemas[kind],
                                      draw(100000) + 1,
                                      0,
                                      {0, 0},
                                      draw(2) == 0,
                                      draw(2) == 0 ? RELATION_ZERO_OUT
                                                   : RELATION_REPLACE_ONE,
                                      1.7e-6};
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

/* A file's model must say its adapters: without alpha and rank nobody could run it. */
static void an_architecture_says_its_adapters(void **state)
{
    (void)state;
    char *body = edit(JOB, "\"relu\"",
                      "\"relu\",\"weights\":\"mdl_01ARZ3NDEKTSV4RRFFQ69G5FAV\","
                      "\"trainable\":{\"lora\":{\"rank\":2,\"alpha\":16,"
                      "\"targets\":[\"0\"]}}");
    struct job_request request;
    struct model_spec again;
    must_resolve(&request, body, private_data(&images, 60000));
    char *text = model_spec_render(&request.train.model);
    assert_non_null(
        strstr(text, "\"lora\":{\"rank\":2,\"alpha\":16.0,\"targets\":[\"0\"]}"));
    assert_int_equal(model_spec_parse(&again, text, NULL), ST_OK);
    assert_int_equal(again.start.trainable, TRAINABLE_LORA);
    assert_int_equal(again.start.rank, 2);
    assert_true(again.start.alpha == 16);
    assert_int_equal(again.start.named.count, 1);
    model_spec_fini(&again);
    free(text);
    job_request_fini(&request);
    free(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_default_is_written_out),
        cmocka_unit_test(a_parameter_is_shown_only_where_it_means_something),
        cmocka_unit_test(what_is_rendered_reads_back_to_the_same_job),
        cmocka_unit_test(an_architecture_reads_back),
        cmocka_unit_test(an_architecture_says_its_adapters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
