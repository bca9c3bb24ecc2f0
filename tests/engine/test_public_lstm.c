/* Goal: a trained model of tokens has the outputs, norms and clipped sums of the public
 * model whose weights it has, in each subset of its tensors. Method: a tiny LSTM of two
 * layers above an embedding, whose answers torch computed in float64 for one record at a
 * time. */
#include <string.h>

#include "tests/expect.h"

#include "engine/model_file/safetensors.h"
#include "tests/engine/nn/sequence_fixture.h"
#include "tests/engine/vectors_fixture.h"

/* The second of two LSTM layers is an entry of its own here, with the prefix "second". */
static const char *name_in_file(const char *name)
{
    static const char prefix[] = "second.";
    static char own[TENSOR_NAME_SIZE];
    size_t length = strlen(name) - (sizeof prefix - 1);
    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return name;
    snprintf(own, sizeof own, "lstm.%.*s1", (int)length - 1, name + sizeof prefix - 1);
    return own;
}

static struct safetensors *open_vectors(const char *name)
{
    char path[1024];
    struct safetensors *file;
    struct error error = {0};
    weights_path(path, name);
    assert_int_equal(safetensors_open(&file, path, &error), ST_OK);
    return file;
}

/* to (count) = the tensor of this name. */
static void read_tensor(struct safetensors *file, const char *name, float *to,
                        size_t count)
{
    struct error error = {0};
    size_t found = 0;
    for (size_t j = 0; j < safetensors_tensor_count(file); j++) {
        const struct tensor *tensor = safetensors_tensor(file, j);
        if (strcmp(tensor->name, name) != 0)
            continue;
        assert_int_equal(tensor->count, count);
        assert_int_equal(safetensors_read(file, tensor, to, &error), ST_OK);
        found++;
    }
    assert_int_equal(found, 1);
}

static void load(struct run *run, const char *name)
{
    struct safetensors *file = open_vectors(name);
    size_t count = network_tensor_count(run->network);
    for (size_t i = 0; i < count; i++) {
        const struct tensor *tensor = network_tensor(run->network, i);
        read_tensor(file, name_in_file(tensor->name), run->theta + tensor->offset,
                    tensor->count);
    }
    assert_int_equal(count, safetensors_tensor_count(file));
    safetensors_close(file);
}

static void lstm_list(struct list *list, const json_t *config)
{
    *list = (struct list){0};
    struct layer_spec *embedding = add(list, &layer_embedding, "embedding");
    embedding->rows = number(config, "vocabulary");
    embedding->out = number(config, "dim");
    add(list, &layer_lstm, "lstm")->out = number(config, "hidden");
    add(list, &layer_lstm, "second")->out = number(config, "hidden");
    add(list, &layer_take_last, "");
    add_dense(list, "out", number(config, "classes"));
}

/* A network that trains the layers of a subset of the vectors. */
static void train_subset(struct run *run, struct list *list, const char *pattern,
                         uint32_t positions, uint32_t classes)
{
    char texts[2][TENSOR_NAME_SIZE] = {"", "second.*"};
    struct model_spec model = {
        .layer_count = list->count,
        .layers = list->layers,
        .loss = LOSS_SOFTMAX_CROSS_ENTROPY,
        .start = {.trainable = TRAINABLE_ONLY, .named = {.texts = texts}}};
    struct error error = {0};
    struct network *network;
    snprintf(texts[0], sizeof texts[0], "%s", pattern);
    model.start.named.count = strcmp(pattern, "lstm.*") == 0 ? 2 : 1;
    if (network_create(&network, &model, (struct network_shape){positions, classes},
                       &error) != ST_OK)
        fail_msg("%s: %s", error.pointer, error.text);
    run_open(run, network, positions, classes);
}

static double real_at(const json_t *list, size_t i)
{
    return json_number_value(json_array_get(list, i));
}

/* |ours - known| / |known| of the clipped sums over all trained tensors. */
static double sum_error(const struct run *run, struct safetensors *sums,
                        const char *subset, const float *sum)
{
    double square = 0, apart = 0;
    for (size_t i = 0; i < network_tensor_count(run->network); i++) {
        const struct tensor *tensor = network_tensor(run->network, i);
        char name[2 * TENSOR_NAME_SIZE];
        if (tensor->offset >= network_parameters(run->network))
            continue;
        float *known = calloc(tensor->count, sizeof *known);
        snprintf(name, sizeof name, "%s/%s", subset, name_in_file(tensor->name));
        read_tensor(sums, name, known, tensor->count);
        for (size_t j = 0; j < tensor->count; j++) {
            square += pow((double)known[j], 2);
            apart += pow((double)known[j] - (double)sum[tensor->offset + j], 2);
        }
        free(known);
    }
    return sqrt(apart / square);
}

/* to (parameters) = the sum over the first count records, tile by tile. */
static void sum_all(const struct run *run, size_t count, float *to)
{
    size_t size = (network_tile_floats_max(run->network) * sizeof(float) + 63) / 64;
    float *block = aligned_alloc(64, 64 * size);
    for (size_t t = 0; t < network_tile_count(run->network); t++) {
        struct tile tile = network_tile(run->network, t);
        workspace_sum(run->workspace, t, (struct row_range){0, count}, block);
        memcpy(to + tile.offset, block, tile.count * sizeof *to);
    }
    free(block);
}

/* Checks the norms and the clipped sum of the records of one subset. */
static void expect_subset(struct run *run, const char *subset, const json_t *known,
                          const json_t *records)
{
    size_t count = json_array_size(records);
    float factors[ROWS], *sum = calloc(network_parameters(run->network), sizeof *sum);
    struct safetensors *sums = open_vectors("lstm.sums");
    const json_t *norms = json_object_get(known, "norms");
    workspace_forward(run->workspace, run->theta, count);
    for (size_t i = 0; i < count; i++)
        workspace_classes(run->workspace)[i] =
            number(json_array_get(records, i), "label");
    workspace_loss(run->workspace);
    workspace_backward(run->workspace, run->theta);
    workspace_measure(run->workspace, NULL);
    for (size_t i = 0; i < count; i++) {
        double own = workspace_norms(run->workspace)[i];
        if (!(fabs(own / real_at(norms, i) - 1) <= 1e-5))
            fail_msg("%s: record %zu has norm %.9g", subset, i, own);
        factors[i] = (float)real_at(json_object_get(known, "factors"), i);
    }
    workspace_scale(run->workspace, factors);
    sum_all(run, count, sum);
    double error = sum_error(run, sums, subset, sum);
    if (!(error <= 1e-5))
        fail_msg("%s: the sum is off by %g", subset, error);
    safetensors_close(sums);
    free(sum);
}

/* Norms and sums to 1e-5. The records have 1 to 12 tokens, which repeat. */
static void a_public_lstm_gives_its_answers_and_gradients(void **state)
{
    (void)state;
    json_t *known = vectors("lstm");
    const json_t *records = json_object_get(known, "records"), *subset;
    const json_t *config = json_object_get(known, "config");
    uint32_t classes = number(config, "classes");
    size_t count = json_array_size(records), subsets = 0;
    struct list list;
    const char *name;
    lstm_list(&list, config);
    json_object_foreach(json_object_get(known, "subsets"), name, subset)
    {
        const json_t *pattern = json_array_get(json_object_get(subset, "patterns"), 0);
        double outputs[ROWS * 8];
        float ids[64];
        struct run run;
        train_subset(&run, &list, json_string_value(pattern), 12, classes);
        load(&run, "lstm");
        for (size_t i = 0; i < count; i++)
            put(&run, i, ids, ids_of(json_array_get(records, i), ids));
        forward(&run, count, outputs);
        assert_true(worst(outputs, json_object_get(known, "outputs"), classes) <= 2e-5);
        expect_subset(&run, name, subset, records);
        run_fini(&run);
        subsets++;
    }
    assert_int_equal(subsets, 3);
    json_decref(known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_public_lstm_gives_its_answers_and_gradients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
