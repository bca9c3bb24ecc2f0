/* Goal: a network's parameters survive the file, and a network accepts only its own
 * file. Method: round trips, then files of other models. */
#include "engine/nn/initial_values.h"
#include "tests/expect.h"

#include <string.h>

#include "engine/model_file/model_file.h"
#include "engine/nn/layers/preset.h"
#include "engine/nn/layers/registry.h"
#include "tests/engine/nn/random_batch_fixture.h"
#include "tests/engine/nn/network_oracle.h"

static struct network *mlp(uint32_t features, uint32_t hidden, bool bias)
{
    struct model_spec model = {.preset = PRESET_MLP,
                               .hidden_count = 1,
                               .hidden = {hidden},
                               .activation = &layer_tanh,
                               .bias = bias};
    struct network_shape shape = {features, 3};
    struct network *network = NULL;
    preset_expand(&model, 3);
    assert_int_equal(network_create(&network, &model, shape, NULL), ST_OK);
    model_spec_fini(&model);
    return network;
}

static void scratch_path(char path[64])
{
    snprintf(path, 64, "/tmp/test_model_file.%ld", (long)getpid());
}

static void write_model(const char *path, const struct network *network, uint64_t seed,
                        float *theta)
{
    static const struct metadata metadata[] = {{"format", "epsilond/1"}};
    struct model_content content = {network, theta, {metadata, 1}};
    struct file_checksum seal;
    network_init(network, theta, seed);
    assert_int_equal(model_file_write(path, &content, &seal, NULL), ST_OK);
    assert_true(seal.size > 4 * network_parameters(network));
}

static void parameters_survive_the_file(void **state)
{
    struct network *network = mlp(13, 11, true);
    size_t count = network_parameters(network);
    float *written = calloc(count, sizeof *written),
          *read = calloc(count, sizeof *read);
    char path[64];
    (void)state;
    scratch_path(path);
    write_model(path, network, 2385, written);
    assert_int_equal(model_file_read(path, NULL, network, read, NULL), ST_OK);
    assert_memory_equal(written, read, count * sizeof *read);
    free(written);
    free(read);
    network_destroy(network);
    unlink(path);
}

static void another_models_file_is_refused(void **state)
{
    struct network *network = mlp(13, 11, true);
    struct network *others[] = {mlp(13, 12, true), mlp(12, 11, true),
                                mlp(13, 11, false)};
    float theta[1024];
    char path[64];
    (void)state;
    scratch_path(path);
    write_model(path, network, 1, theta);
    for (size_t i = 0; i < 3; i++) {
        struct error error = {0};
        assert_int_equal(model_file_read(path, NULL, others[i], theta, &error),
                         ST_CORRUPT);
        assert_int_equal(error.status, ST_CORRUPT);
        network_destroy(others[i]);
    }
    network_destroy(network);
    unlink(path);
}

static void tensors_of_other_names_are_refused(void **state)
{
    struct network *network = mlp(13, 11, true);
    struct tensor tensors[4];
    float theta[1024] = {0};
    struct safetensors_content content = {tensors, 4, theta, {0}};
    struct file_checksum seal;
    char path[64];
    (void)state;
    scratch_path(path);
    for (size_t i = 0; i < 4; i++)
        tensors[i] = *network_tensor(network, i);
    strcpy(tensors[3].name, "2.bias2");
    assert_int_equal(safetensors_write(path, &content, &seal, NULL), ST_OK);
    assert_int_equal(model_file_read(path, NULL, network, theta, NULL), ST_CORRUPT);
    network_destroy(network);
    unlink(path);
}

/* Checks whether a training of network may begin with the file at path; if it may not,
 * the error must name the tensor. */
static void start_is(const char *path, const struct network *network,
                     const char *refused_for)
{
    struct error error = {0};
    enum status expected = refused_for == NULL ? ST_OK : ST_INVALID;
    const struct weights_source weights = {.path = path};
    assert_int_equal(model_file_check_start(&weights, network, &error), expected);
    if (refused_for == NULL)
        return;
    assert_string_equal(error.pointer, "/model/weights");
    assert_non_null(strstr(error.text, refused_for));
}

static struct network *fresh_mlp(uint32_t hidden, uint32_t outputs)
{
    struct model_spec model = {.preset = PRESET_MLP,
                               .hidden_count = 1,
                               .hidden = {hidden},
                               .activation = &layer_tanh,
                               .bias = true,
                               .start.fresh_head = true};
    struct network *network = NULL;
    preset_expand(&model, outputs);
    assert_int_equal(
        network_create(&network, &model, (struct network_shape){13, outputs}, NULL),
        ST_OK);
    model_spec_fini(&model);
    return network;
}

static void a_training_begins_with_its_own_tensors_alone(void **state)
{
    (void)state;
    struct network *network = mlp(13, 11, true), *wider = mlp(13, 12, true);
    struct network *unbiased = mlp(13, 11, false), *fresh = fresh_mlp(11, 5);
    float theta[1024];
    char path[64];
    scratch_path(path);
    write_model(path, network, 1, theta);
    start_is(path, network, NULL);
    start_is(path, wider, "0.weight");
    start_is(path, unbiased, "0.bias");
    start_is(path, fresh, NULL); /* its head has five classes */
    write_model(path, unbiased, 1, theta);
    start_is(path, network, "0.bias");
    const struct weights_source absent = {.path = "/nonexistent"};
    assert_int_equal(model_file_check_start(&absent, network, NULL), ST_IO);
    unlink(path);
    network_destroy(network);
    network_destroy(wider);
    network_destroy(unbiased);
    network_destroy(fresh);
}

static void fresh_tensors_stay_as_they_were(void **state)
{
    (void)state;
    struct network *network = mlp(13, 11, true), *fresh = fresh_mlp(11, 3);
    float theta[1024], begun[1024], values[1024];
    char path[64];
    size_t body = 13 * 11 + 11, count = network_floats(fresh);
    struct weights_source source = {.path = path};
    scratch_path(path);
    struct model_content content = {network, theta, {0}};
    network_init(network, theta, 1);
    assert_int_equal(model_file_write(path, &content, &source.seal, NULL), ST_OK);
    network_init(fresh, begun, 2);
    memcpy(values, begun, sizeof values);
    assert_int_equal(model_file_read_start(&source, fresh, values, NULL), ST_OK);
    assert_memory_equal(values, theta, body * sizeof *values);
    assert_memory_equal(values + body, begun + body, (count - body) * sizeof *values);
    unlink(path);
    network_destroy(network);
    network_destroy(fresh);
}

/* Adapters of rank 2 of the first layer of the mlp above, 11 wide. */
static struct network *adapted_mlp(uint32_t rank, const char *target)
{
    char targets[1][TENSOR_NAME_SIZE];
    snprintf(targets[0], sizeof targets[0], "%s", target);
    struct model_spec model = {.preset = PRESET_MLP,
                               .hidden_count = 1,
                               .hidden = {11},
                               .activation = &layer_tanh,
                               .bias = true,
                               .start = {.trainable = TRAINABLE_LORA,
                                         .rank = rank,
                                         .alpha = 1,
                                         .named = {1, targets}}};
    struct network *network = NULL;
    preset_expand(&model, 3);
    assert_int_equal(
        network_create(&network, &model, (struct network_shape){13, 3}, NULL), ST_OK);
    model.start.named = (struct name_patterns){0};
    model_spec_fini(&model);
    return network;
}

/* Both matrices begin anew if the file has neither, and are those of the file if it has
 * both. */
static void adapters_are_those_of_the_file_if_it_has_some(void **state)
{
    (void)state;
    struct network *body = mlp(13, 11, true), *adapted = adapted_mlp(2, "0");
    struct network *other = adapted_mlp(3, "0");
    float theta[1024], values[1024], begun[1024];
    char path[64];
    const size_t floats = network_floats(adapted), adapters = 2 * (13 + 11);
    struct weights_source source = {.path = path};
    scratch_path(path);
    struct model_content content = {body, theta, {0}};
    network_init(body, theta, 1);
    assert_int_equal(model_file_write(path, &content, &source.seal, NULL), ST_OK);
    network_init(adapted, begun, 2);
    memcpy(values, begun, sizeof values);
    assert_int_equal(model_file_read_start(&source, adapted, values, NULL), ST_OK);
    assert_memory_equal(values, begun, adapters * sizeof *values);
    for (size_t j = adapters; j < floats; j++)
        assert_true(values[j] != begun[j]);
    content = (struct model_content){adapted, begun, {0}};
    assert_int_equal(model_file_write(path, &content, &source.seal, NULL), ST_OK);
    network_init(adapted, values, 3);
    assert_int_equal(model_file_read_start(&source, adapted, values, NULL), ST_OK);
    assert_memory_equal(values, begun, floats * sizeof *values);
    start_is(path, body, "0.lora_A.weight");
    start_is(path, other, "0.lora_A.weight");
    unlink(path);
    network_destroy(body);
    network_destroy(adapted);
    network_destroy(other);
}

static void half_an_adapter_is_refused(void **state)
{
    (void)state;
    struct network *adapted = adapted_mlp(2, "0");
    float theta[1024];
    char path[64];
    struct tensor tensors[8];
    struct file_checksum seal;
    size_t count = 0;
    scratch_path(path);
    network_init(adapted, theta, 2);
    for (size_t i = 0; i < network_tensor_count(adapted); i++)
        if (strcmp(network_tensor(adapted, i)->name, "0.lora_B.weight") != 0)
            tensors[count++] = *network_tensor(adapted, i);
    const struct safetensors_content half = {
        .tensors = tensors, .tensor_count = count, .parameters = theta};
    assert_int_equal(safetensors_write(path, &half, &seal, NULL), ST_OK);
    start_is(path, adapted, "0.lora_B.weight");
    unlink(path);
    network_destroy(adapted);
}

static void weights_must_be_finite(void **state)
{
    (void)state;
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    struct network *network = mlp(13, 11, true);
    float theta[1024], values[1024];
    char path[64];
    struct weights_source source = {.path = path};
    scratch_path(path);
    struct model_content content = {network, theta, {0}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        struct error error = {0};
        network_init(network, theta, 1);
        theta[13 * 11 + 4] = bad[k];
        assert_int_equal(model_file_write(path, &content, &source.seal, NULL), ST_OK);
        assert_int_equal(model_file_read_start(&source, network, values, &error),
                         ST_INVALID);
        assert_non_null(strstr(error.text, "0.bias"));
    }
    unlink(path);
    network_destroy(network);
}

static void no_file_is_an_io_error(void **state)
{
    struct network *network = mlp(3, 2, true);
    float theta[64] = {0};
    struct model_content content = {network, theta, {0}};
    struct file_checksum seal;
    (void)state;
    assert_int_equal(model_file_read("/nonexistent/model", NULL, network, theta, NULL),
                     ST_IO);
    assert_int_equal(model_file_write("/nonexistent/model", &content, &seal, NULL),
                     ST_IO);
    network_destroy(network);
}

/* Tensors in the file have PyTorch's order: the double oracle reads that order, and its
 * outputs from the file must be the network's own outputs. */
static void check_order(const char *layers)
{
    struct batch batch;
    char path[64];
    batch_make(&batch, &(struct batch_demand){.layers = layers,
                                              .loss = LOSS_SOFTMAX_CROSS_ENTROPY,
                                              .features = 5 * 6 * 2,
                                              .count = 9,
                                              .input = {5, 6, 2},
                                              .form = -1});
    struct model_content content = {batch.network, batch.theta, {0}};
    struct file_checksum seal;
    struct safetensors *file;
    float *raw = calloc(batch.parameters, sizeof *raw);
    float *again = calloc(batch.parameters, sizeof *again);
    double *wide = calloc(batch.parameters, sizeof *wide), z[3], outputs[9 * 3];
    scratch_path(path);
    assert_int_equal(model_file_write(path, &content, &seal, NULL), ST_OK);
    assert_int_equal(model_file_read(path, NULL, batch.network, again, NULL), ST_OK);
    assert_memory_equal(again, batch.theta, batch.parameters * sizeof *again);

    assert_int_equal(safetensors_open(&file, path, NULL), ST_OK);
    for (size_t t = 0; t < network_tensor_count(batch.network); t++) {
        const struct tensor *wanted = network_tensor(batch.network, t);
        for (size_t k = 0; k < safetensors_tensor_count(file); k++)
            if (strcmp(safetensors_tensor(file, k)->name, wanted->name) == 0)
                assert_int_equal(safetensors_read(file, safetensors_tensor(file, k),
                                                  raw + wanted->offset, NULL),
                                 ST_OK);
    }
    safetensors_close(file);
    for (size_t j = 0; j < batch.parameters; j++)
        wide[j] = (double)raw[j];
    batch_run(&batch);
    workspace_predict(batch.workspace, outputs);
    for (size_t i = 0; i < batch.count; i++) {
        struct oracle_record record = {.features = batch.x + i * batch.features,
                                       .feature_count = batch.features};
        oracle_evaluate(&batch.model, wide, &record, NULL, z);
        for (size_t j = 1; j < 3; j++)
            assert_close(outputs[i * 3 + j] / outputs[i * 3], exp(z[j] - z[0]), 1e-4);
    }
    free(wide);
    free(raw);
    free(again);
    batch_fini(&batch);
    unlink(path);
}

static void images_are_in_the_order_of_the_file(void **state)
{
    (void)state;
    check_order("c4,3x2,1,1rd6tm2,1fd3");
    check_order("lc4,3x2,1,1lrd6tm2,1fd3");
    check_order("c4,3x2,1,1n2r[C6,3,2,1n3rc6,3,1,1n2|c6,1,2]rfd3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_survive_the_file),
        cmocka_unit_test(another_models_file_is_refused),
        cmocka_unit_test(tensors_of_other_names_are_refused),
        cmocka_unit_test(no_file_is_an_io_error),
        cmocka_unit_test(images_are_in_the_order_of_the_file),
        cmocka_unit_test(a_training_begins_with_its_own_tensors_alone),
        cmocka_unit_test(fresh_tensors_stay_as_they_were),
        cmocka_unit_test(adapters_are_those_of_the_file_if_it_has_some),
        cmocka_unit_test(half_an_adapter_is_refused),
        cmocka_unit_test(weights_must_be_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
