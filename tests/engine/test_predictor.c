/* Goal: a published model answers as the mathematics says, whatever the number of rows.
 * Method: small models with weights written by hand, expected values from libm. */
#include "tests/expect.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>

#include "engine/model_file/model_file.h"
#include "engine/nn/layers/preset.h"
#include "engine/nn/layers/registry.h"
#include "engine/predictor.h"

enum { FEATURES = 3, ROWS = 200 };

static void scratch_path(char path[64])
{
    snprintf(path, 64, "/tmp/test_predictor.%ld", (long)getpid());
}

/* One dense layer of outputs with weights w[j][k] = 0.1 (j + 1) - 0.3 k, bias 0.01 j. */
static double logit(const float *x, uint32_t j)
{
    double sum = (double)(0.01F * (float)j);
    for (uint32_t k = 0; k < FEATURES; k++)
        sum += (double)(0.1F * (float)(j + 1) - 0.3F * (float)k) * (double)x[k];
    return sum;
}

static struct file_checksum publish(const char *path, struct model_spec *model,
                                    enum loss loss, uint32_t outputs)
{
    static const struct metadata metadata[] = {{"format", "epsilond/1"}};
    struct network_shape shape = {FEATURES, outputs};
    struct network *network = NULL;
    struct file_checksum seal;
    float theta[64];

    *model = (struct model_spec){.preset = PRESET_LINEAR, .loss = loss};
    preset_expand(model, outputs);
    assert_int_equal(network_create(&network, model, shape, NULL), ST_OK);
    for (uint32_t j = 0; j < outputs; j++) {
        for (uint32_t k = 0; k < FEATURES; k++)
            theta[j * FEATURES + k] = 0.1F * (float)(j + 1) - 0.3F * (float)k;
        theta[outputs * FEATURES + j] = 0.01F * (float)j;
    }
    struct model_content content = {network, theta, {metadata, 1}};
    assert_int_equal(model_file_write(path, &content, &seal, NULL), ST_OK);
    network_destroy(network);
    return seal;
}

static enum status open_model(struct predictor **out, const char *path,
                              const struct model_spec *model, struct data_shape data,
                              struct error *error)
{
    return predictor_open(out,
                          &(struct predictor_source){
                              .files = {.path = path}, .model = model, .data = data},
                          error);
}

/* Runs any number of rows, in as many blocks as they need. */
static void run(struct predictor *predictor, double *outputs, size_t columns,
                const float *features, size_t count)
{
    size_t stride;
    float *input = predictor_input(predictor, &stride);
    for (size_t i = 0; i < count; i += PREDICTOR_ROWS) {
        size_t some = count - i < PREDICTOR_ROWS ? count - i : PREDICTOR_ROWS;
        for (size_t r = 0; r < some; r++)
            memcpy(input + r * stride, features + (i + r) * FEATURES,
                   FEATURES * sizeof *input);
        predictor_run(predictor, outputs + i * columns, some);
    }
}

static void predictions_are_the_formula(void **state)
{
    static const enum loss losses[] = {LOSS_SOFTMAX_CROSS_ENTROPY, LOSS_LOGISTIC,
                                       LOSS_SQUARED, LOSS_HUBER};
    static const uint32_t columns[] = {5, 2, 1, 1}, outputs[] = {5, 1, 1, 1},
                          classes[] = {5, 2, 0, 0};
    static float x[ROWS * FEATURES];
    char path[64];
    (void)state;
    scratch_path(path);
    for (size_t i = 0; i < ROWS * FEATURES; i++)
        x[i] = (float)(3.0 * sin(1.3 * (double)i));
    for (size_t l = 0; l < sizeof losses / sizeof *losses; l++) {
        struct model_spec model;
        struct predictor *predictor = NULL;
        double out[ROWS * 5];
        publish(path, &model, losses[l], outputs[l]);
        assert_int_equal(open_model(&predictor, path, &model,
                                    (struct data_shape){FEATURES, classes[l]}, NULL),
                         ST_OK);
        run(predictor, out, columns[l], x, ROWS);
        for (size_t i = 0; i < ROWS; i++) {
            const float *row = x + i * FEATURES;
            const double *answer = out + i * columns[l];
            double total = 0.0;
            switch (losses[l]) {
            case LOSS_SOFTMAX_CROSS_ENTROPY:
                for (uint32_t j = 0; j < 5; j++)
                    total += exp(logit(row, j));
                for (uint32_t j = 0; j < 5; j++)
                    assert_close(answer[j], exp(logit(row, j)) / total, 1e-5);
                break;
            case LOSS_LOGISTIC:
                assert_close(answer[1], 1.0 / (1.0 + exp(-logit(row, 0))), 1e-5);
                assert_close(answer[0] + answer[1], 1.0, 1e-12);
                break;
            case LOSS_SQUARED:
            case LOSS_HUBER:
                assert_true(fabs(answer[0] - logit(row, 0)) <= 1e-5);
                break;
            }
        }
        predictor_close(predictor);
        model_spec_fini(&model);
    }
    unlink(path);
}

static void a_row_is_answered_alike_in_any_company(void **state)
{
    static float x[ROWS * FEATURES];
    struct model_spec model;
    struct predictor *predictor = NULL;
    double all[ROWS * 5], one[5];
    char path[64];
    (void)state;
    scratch_path(path);
    for (size_t i = 0; i < ROWS * FEATURES; i++)
        x[i] = (float)cos((double)i);
    publish(path, &model, LOSS_SOFTMAX_CROSS_ENTROPY, 5);
    assert_int_equal(
        open_model(&predictor, path, &model, (struct data_shape){FEATURES, 5}, NULL),
        ST_OK);
    run(predictor, all, 5, x, ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        run(predictor, one, 5, x + i * FEATURES, 1);
        for (size_t j = 0; j < 5; j++)
            assert_close(one[j], all[i * 5 + j], 1e-6);
    }
    predictor_run(predictor, one, 0);
    predictor_close(predictor);
    predictor_close(NULL);
    model_spec_fini(&model);
    unlink(path);
}

static void a_wrong_file_or_model_is_refused(void **state)
{
    struct model_spec model;
    struct predictor *predictor = NULL;
    struct error error = {0};
    char path[64];
    (void)state;
    scratch_path(path);
    publish(path, &model, LOSS_SOFTMAX_CROSS_ENTROPY, 5);
    assert_int_equal(
        open_model(&predictor, path, &model, (struct data_shape){FEATURES, 4}, &error),
        ST_INVALID);
    assert_int_equal(open_model(&predictor, path, &model,
                                (struct data_shape){FEATURES + 1, 5}, NULL),
                     ST_CORRUPT);
    assert_int_equal(open_model(&predictor, "/nonexistent/model", &model,
                                (struct data_shape){FEATURES, 5}, NULL),
                     ST_IO);
    assert_int_equal(truncate(path, 100), 0);
    assert_int_equal(
        open_model(&predictor, path, &model, (struct data_shape){FEATURES, 5}, NULL),
        ST_CORRUPT);
    model.loss = LOSS_LOGISTIC;
    assert_int_equal(
        open_model(&predictor, path, &model, (struct data_shape){FEATURES, 5}, NULL),
        ST_INVALID);
    assert_null(predictor);
    model_spec_fini(&model);
    unlink(path);
}

/* Flips a bit of a weight: the file is still valid safetensors of the model. */
static void a_damaged_file_is_refused_where_its_seal_is_known(void **state)
{
    struct model_spec model;
    struct predictor *predictor = NULL;
    struct error error = {0};
    char path[64], byte;
    (void)state;
    scratch_path(path);
    const struct file_checksum seal = publish(path, &model, LOSS_SQUARED, 1);
    struct predictor_source source = {
        .files = {.path = path, .seal = &seal}, .model = &model, .data = {FEATURES, 0}};
    assert_int_equal(predictor_open(&predictor, &source, NULL), ST_OK);
    predictor_close(predictor);
    predictor = NULL;
    int file = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(pread(file, &byte, 1, (off_t)seal.size - 1), 1);
    byte ^= 4;
    assert_int_equal(pwrite(file, &byte, 1, (off_t)seal.size - 1), 1);
    close(file);
    assert_int_equal(predictor_open(&predictor, &source, &error), ST_CORRUPT);
    assert_null(predictor);
    source.files.seal = NULL;
    assert_int_equal(predictor_open(&predictor, &source, NULL), ST_OK);
    predictor_close(predictor);
    model_spec_fini(&model);
    unlink(path);
}

static void parameters_that_do_not_fit_are_refused(void **state)
{
    struct model_spec model = {
        .preset = PRESET_LINEAR, .loss = LOSS_SQUARED, LOSS_HUBER};
    struct predictor *predictor = NULL;
    (void)state;
    if (SANITIZED)
        skip_because("a sanitizer's allocator aborts");
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    small = before;
    small.rlim_cur = 1 << 30;
    preset_expand(&model, 1);
    assert_int_equal(setrlimit(RLIMIT_AS, &small), 0);
    enum status status = open_model(&predictor, "/nonexistent/model", &model,
                                    (struct data_shape){60000000, 0}, NULL);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(status, ST_NO_MEMORY);
    model_spec_fini(&model);
}

/* Worked out by hand from network.md 2 and 6. */
static void the_work_of_a_row_is_that_of_its_products(void **state)
{
    static const struct {
        enum preset preset;
        uint32_t hidden, features, classes;
        double flops;
    } models[] = {
        {PRESET_LINEAR, 0, 784, 10, 2.0 * 784 * 10},
        {PRESET_MLP, 128, 784, 10, 2.0 * (784 * 128 + 128 * 10)},
        {PRESET_LINEAR, 0, 784, 2, 2.0 * 784},
    };
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        uint32_t hidden = models[i].hidden;
        struct model_spec model = {
            .preset = models[i].preset,
            .loss = models[i].classes > 2 ? LOSS_SOFTMAX_CROSS_ENTROPY : LOSS_LOGISTIC,
            .hidden = {hidden},
            .hidden_count = hidden > 0,
            .activation = &layer_relu};
        struct data_shape data = {models[i].features, models[i].classes};
        double flops = 0;
        preset_expand(&model, model_spec_outputs(&model, data.classes));
        assert_int_equal(predictor_flops(&flops, &model, data, NULL), ST_OK);
        assert_true(flops == models[i].flops);
        model_spec_fini(&model);
    }
    struct model_spec wrong = {.preset = PRESET_LINEAR, .loss = LOSS_SQUARED};
    double flops = 7;
    preset_expand(&wrong, 1);
    assert_int_equal(
        predictor_flops(&flops, &wrong, (struct data_shape){FEATURES, 5}, NULL),
        ST_INVALID);
    assert_true(flops == 7);
    model_spec_fini(&wrong);
}

static void a_header_is_its_text(void **state)
{
    struct model_spec model;
    struct error error = {0};
    char path[64], *header = NULL;
    (void)state;
    scratch_path(path);
    publish(path, &model, LOSS_SQUARED, 1);
    assert_int_equal(predictor_header(&header, path, NULL), ST_OK);
    assert_string_equal(
        header,
        "{\"__metadata__\":{\"format\":\"epsilond/1\"},"
        "\"0.bias\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
        "\"0.weight\":{\"dtype\":\"F32\",\"shape\":[1,3],\"data_offsets\":[4,16]}}");
    free(header);
    assert_int_equal(predictor_header(&header, "/nonexistent/model", &error), ST_IO);
    assert_int_equal(truncate(path, 20), 0);
    assert_int_equal(predictor_header(&header, path, NULL), ST_CORRUPT);
    model_spec_fini(&model);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions_are_the_formula),
        cmocka_unit_test(a_row_is_answered_alike_in_any_company),
        cmocka_unit_test(a_wrong_file_or_model_is_refused),
        cmocka_unit_test(a_damaged_file_is_refused_where_its_seal_is_known),
        cmocka_unit_test(parameters_that_do_not_fit_are_refused),
        cmocka_unit_test(the_work_of_a_row_is_that_of_its_products),
        cmocka_unit_test(a_header_is_its_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
