/* Goal: models of tokens give the answers of the public models whose weights and names
 * they have, and each record's gradient there has the norm and the clipped sum that it
 * has, whichever tensors are trained. Method: tiny models of three dialects and their
 * outputs, norms and sums in float64, made by transformers, from ../shared/vectors/deep.
 */
#include <string.h>

#include "tests/expect.h"

#include "engine/model_file/model_file.h"
#include "tests/engine/nn/sequence_fixture.h"
#include "tests/engine/vectors_fixture.h"

enum { WIDTH = 16 }; /* of the tiny models */

/* As a job reads the weights that it starts from. */
static void load(struct run *run, const char *name)
{
    char path[1024];
    struct error error = {0};
    struct weights_source source = {.path = path};
    weights_path(path, name);
    assert_int_equal(file_checksum_of(&source.seal, path, &error), ST_OK);
    if (model_file_read_start(&source, run->network, run->theta, &error) != ST_OK)
        fail_msg("%s: %s", name, error.text);
}

/* Gives a fresh classifier the weights of a file that has one. */
static void load_classifier(struct run *run, const char *name)
{
    char path[1024];
    struct safetensors *file;
    weights_path(path, name);
    assert_int_equal(safetensors_open(&file, path, NULL), ST_OK);
    for (size_t i = 0; i < network_tensor_count(run->network); i++) {
        const struct tensor *tensor = network_tensor(run->network, i);
        for (size_t j = 0; j < safetensors_tensor_count(file) && tensor->fresh; j++)
            if (strcmp(safetensors_tensor(file, j)->name, tensor->name) == 0)
                assert_int_equal(safetensors_read(file, safetensors_tensor(file, j),
                                                  run->theta + tensor->offset, NULL),
                                 ST_OK);
    }
    safetensors_close(file);
}

static struct text_encoder sizes_of(const json_t *config)
{
    return (struct text_encoder){.blocks = number(config, "layers"),
                                 .width = number(config, "hidden"),
                                 .heads = number(config, "heads"),
                                 .intermediate = number(config, "inner"),
                                 .vocabulary = number(config, "vocabulary"),
                                 .positions = number(config, "positions"),
                                 .separator = 3};
}

struct public_model {
    enum preset preset;
    const char *file, *known; /* weights, and the records with their outputs */
    uint32_t tokens;          /* the most of a record: RoBERTa's positions begin at 2 */
    const char *classifier;   /* the file that has one; NULL: its own */
};

static const struct public_model models[] = {
    {PRESET_BERT, "bert", "bert", 20, NULL},
    {PRESET_BERT, "bert_old_names", "bert", 20, NULL},
    {PRESET_BERT, "bert_no_prefix", "bert", 20, "bert"},
    {PRESET_ROBERTA, "roberta", "roberta", 18, NULL},
    {PRESET_DISTILBERT, "distilbert", "distilbert", 20, NULL}};

static void open_trained(struct run *run, const struct public_model *public,
                         const struct text_encoder *sizes, uint32_t classes,
                         const struct model_start *start)
{
    struct error error = {0};
    struct network *network;
    struct model_spec model = {.preset = public->preset, .text_encoder = *sizes};
    model_start_copy(&model.start, start);
    preset_expand(&model, classes);
    if (network_create(&network, &model,
                       (struct network_shape){public->tokens, classes},
                       &error) != ST_OK)
        fail_msg("%s: %s", error.pointer, error.text);
    model_spec_fini(&model);
    run_open(run, network, public->tokens, classes);
    load(run, public->file);
}

static void open_model(struct run *run, const struct public_model *public,
                       const struct text_encoder *sizes, uint32_t classes)
{
    const struct model_start head = {.trainable = TRAINABLE_HEAD,
                                     .fresh_head = public->classifier != NULL};
    open_trained(run, public, sizes, classes, &head);
}

/* Returns their number. */
static size_t put_records(struct run *run, const json_t *known)
{
    const json_t *records = json_object_get(known, "records");
    float ids[64];
    for (size_t i = 0; i < json_array_size(records); i++)
        put(run, i, ids, ids_of(json_array_get(records, i), ids));
    return json_array_size(records);
}

/* Outputs to 2e-5 of the largest (the README of the vectors). The records have from 2
 * tokens to all positions. */
static void a_public_model_gives_its_answers(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        json_t *known = vectors(models[k].known);
        const json_t *config = json_object_get(known, "config");
        struct text_encoder sizes = sizes_of(config);
        uint32_t classes = number(config, "classes");
        double outputs[ROWS * WIDTH];
        struct run run;
        open_model(&run, &models[k], &sizes, classes);
        if (models[k].classifier != NULL)
            load_classifier(&run, models[k].classifier);
        forward(&run, put_records(&run, known), outputs);
        double error = worst(outputs, json_object_get(known, "outputs"), classes);
        if (!(error <= 2e-5))
            fail_msg("%s: %g", models[k].file, error);
        run_fini(&run);
        json_decref(known);
    }
}

/* The classifier is the identity, so its outputs are the mean of the tokens. The pooler
 * of the file is ignored. */
static void the_mean_of_the_tokens_is_that_of_the_public_model(void **state)
{
    static const struct public_model public = {PRESET_BERT, "bert_no_prefix", "bert",
                                               20, "bert"};
    json_t *known = vectors("bert"), *hidden = vectors("bert_hidden");
    struct text_encoder sizes = sizes_of(json_object_get(known, "config"));
    double outputs[ROWS * WIDTH];
    struct run run;
    (void)state;
    sizes.mean = true;
    open_model(&run, &public, &sizes, WIDTH);
    for (size_t i = 0; i < network_tensor_count(run.network); i++) {
        const struct tensor *tensor = network_tensor(run.network, i);
        for (size_t j = 0; tensor->fresh && j < tensor->count; j++)
            run.theta[tensor->offset + j] = tensor->rank == 2 && j % (WIDTH + 1) == 0;
    }
    forward(&run, put_records(&run, known), outputs);
    assert_true(worst(outputs, json_object_get(hidden, "mean"), WIDTH) <= 2e-5);
    run_fini(&run);
    json_decref(known);
    json_decref(hidden);
}

/* --- gradients --- */

/* The tensors that a subset of the vectors trains; the caller releases it. */
static struct model_start start_of(const json_t *subset)
{
    const json_t *patterns = json_object_get(subset, "patterns");
    struct model_start start = {.trainable = TRAINABLE_ONLY,
                                .named.count = json_array_size(patterns)};
    start.named.texts = calloc(start.named.count, sizeof *start.named.texts);
    for (size_t k = 0; k < start.named.count; k++)
        snprintf(start.named.texts[k], TENSOR_NAME_SIZE, "%s",
                 json_string_value(json_array_get(patterns, k)));
    return start;
}

static double real_at(const json_t *list, size_t index)
{
    return json_number_value(json_array_get(list, index));
}

/* The passes up to the norms. */
static void measure(struct run *run, const json_t *known)
{
    const json_t *records = json_object_get(known, "records");
    size_t count = put_records(run, known);
    for (size_t i = 0; i < count; i++)
        workspace_classes(run->workspace)[i] =
            number(json_array_get(records, i), "label");
    workspace_forward(run->workspace, run->theta, count);
    workspace_loss(run->workspace);
    workspace_backward(run->workspace, run->theta);
    workspace_measure(run->workspace, NULL);
}

/* sum (parameters) = the sum of the records, each times its factor of the subset. */
static void sum_clipped(struct run *run, const json_t *subset, float *sum)
{
    const json_t *factors = json_object_get(subset, "factors");
    size_t count = json_array_size(factors);
    float own[ROWS], *block;
    for (size_t i = 0; i < count; i++)
        own[i] = (float)real_at(factors, i);
    workspace_scale(run->workspace, own);
    block = aligned_alloc(
        64, (network_tile_floats_max(run->network) * sizeof(float) + 63) / 64 * 64);
    for (size_t t = 0; t < network_tile_count(run->network); t++) {
        struct tile tile = network_tile(run->network, t);
        workspace_sum(run->workspace, t, (struct row_range){0, count}, block);
        memcpy(sum + tile.offset, block, tile.count * sizeof *sum);
    }
    free(block);
}

/* Returns the distance of our sum from the file's, divided by the norm of that. */
static double sum_error(const struct run *run, const float *sum, const char *name,
                        const char *subset)
{
    char path[1024], file_name[32], tensor_name[TENSOR_NAME_SIZE + 32];
    struct safetensors *file;
    double apart = 0, all = 0;
    float known[1024];
    snprintf(file_name, sizeof file_name, "%s.sums", name);
    weights_path(path, file_name);
    assert_int_equal(safetensors_open(&file, path, NULL), ST_OK);
    for (size_t i = 0; i < network_tensor_count(run->network); i++) {
        const struct tensor *tensor = network_tensor(run->network, i);
        size_t found = 0;
        snprintf(tensor_name, sizeof tensor_name, "%s/%s", subset, tensor->name);
        for (size_t j = 0; j < safetensors_tensor_count(file); j++)
            if (strcmp(safetensors_tensor(file, j)->name, tensor_name) == 0) {
                assert_int_equal(
                    safetensors_read(file, safetensors_tensor(file, j), known, NULL),
                    ST_OK);
                found++;
            }
        bool trained = tensor->offset < network_parameters(run->network);
        assert_int_equal(found, trained ? 1 : 0);
        for (size_t j = 0; trained && j < tensor->count; j++) {
            apart += pow((double)sum[tensor->offset + j] - (double)known[j], 2);
            all += pow((double)known[j], 2);
        }
    }
    safetensors_close(file);
    return sqrt(apart / all);
}

/* Norms to 1e-5, sums to 1e-5 of their norm. */
static void expect_subset(const struct public_model *public, const json_t *known,
                          const char *name, const json_t *subset)
{
    const json_t *config = json_object_get(known, "config"),
                 *norms = json_object_get(subset, "norms");
    struct text_encoder sizes = sizes_of(config);
    struct model_start start = start_of(subset);
    struct run run;
    open_trained(&run, public, &sizes, number(config, "classes"), &start);
    measure(&run, known);
    for (size_t i = 0; i < json_array_size(norms); i++) {
        double norm = workspace_norms(run.workspace)[i], expected = real_at(norms, i);
        if (!(fabs(norm - expected) <= 1e-5 * expected))
            fail_msg("%s, %s: record %zu: %g, expected %g", public->file, name, i, norm,
                     expected);
    }
    float *sum = calloc(network_parameters(run.network), sizeof *sum);
    sum_clipped(&run, subset, sum);
    double error = sum_error(&run, sum, public->known, name);
    if (!(error <= 1e-5))
        fail_msg("%s, %s: %g", public->file, name, error);
    free(sum);
    model_start_fini(&start);
    run_fini(&run);
}

static void gradients_are_those_of_the_public_model(void **state)
{
    size_t subsets = 0;
    (void)state;
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        json_t *known = vectors(models[k].known);
        const char *name;
        json_t *subset;
        if (models[k].classifier == NULL)
            json_object_foreach(json_object_get(known, "subsets"), name, subset)
            {
                expect_subset(&models[k], known, name, subset);
                subsets++;
            }
        json_decref(known);
    }
    assert_int_equal(subsets, 16);
}

/* Embeddings come before all blocks, the pooler and the classifier behind them. */
static void the_last_blocks_are_those_of_the_encoder(void **state)
{
    (void)state;
    json_t *known = vectors("bert");
    const json_t *config = json_object_get(known, "config"),
                 *subset = json_object_get(json_object_get(known, "subsets"),
                                           "last_layer_pooler_head");
    struct text_encoder sizes = sizes_of(config);
    struct model_start named = start_of(subset),
                       last = {.trainable = TRAINABLE_LAST, .last = 1};
    struct run by_name, by_number;
    open_trained(&by_name, &models[0], &sizes, number(config, "classes"), &named);
    open_trained(&by_number, &models[0], &sizes, number(config, "classes"), &last);
    for (size_t i = 0; i < network_tensor_count(by_name.network); i++)
        assert_int_equal(network_tensor(by_number.network, i)->offset,
                         network_tensor(by_name.network, i)->offset);
    run_fini(&by_number);
    run_fini(&by_name);
    last.last = 2;
    open_trained(&by_number, &models[0], &sizes, number(config, "classes"), &last);
    for (size_t i = 0; i < network_tensor_count(by_number.network); i++) {
        const struct tensor *tensor = network_tensor(by_number.network, i);
        assert_int_equal(strncmp(tensor->name, "bert.embeddings", 15) == 0,
                         tensor->offset >= network_parameters(by_number.network));
    }
    run_fini(&by_number);
    model_start_fini(&named);
    json_decref(known);
}

static void more_blocks_than_the_encoder_has_are_refused(void **state)
{
    (void)state;
    json_t *known = vectors("bert");
    struct network *network;
    struct error error = {0};
    struct model_spec model = {.preset = PRESET_BERT,
                               .text_encoder =
                                   sizes_of(json_object_get(known, "config")),
                               .start = {.trainable = TRAINABLE_LAST, .last = 3}};
    preset_expand(&model, 3);
    assert_int_equal(
        network_create(&network, &model, (struct network_shape){20, 3}, &error),
        ST_INVALID);
    assert_string_equal(error.pointer, "/model/trainable/last");
    assert_non_null(strstr(error.text, "2 blocks"));
    model_spec_fini(&model);
    json_decref(known);
}

/* --- adapters --- */

/* Returns our name of a tensor of an adapter's file, which the caller reads at once. */
static const char *own_name(const char *theirs)
{
    static const char prefix[] = "base_model.model.";
    return strncmp(theirs, prefix, sizeof prefix - 1) == 0 ? theirs + sizeof prefix - 1
                                                           : theirs;
}

/* Gives the model the tensors of an adapter's file, all of which it has. */
static void load_adapter(struct run *run)
{
    char path[1024];
    struct safetensors *file;
    weights_path(path, "lora_adapter/adapter_model");
    assert_int_equal(safetensors_open(&file, path, NULL), ST_OK);
    size_t found = 0;
    for (size_t i = 0; i < network_tensor_count(run->network); i++) {
        const struct tensor *tensor = network_tensor(run->network, i);
        for (size_t j = 0; j < safetensors_tensor_count(file); j++) {
            const struct tensor *theirs = safetensors_tensor(file, j);
            if (strcmp(own_name(theirs->name), tensor->name) != 0)
                continue;
            found++;
            assert_int_equal(
                safetensors_read(file, theirs, run->theta + tensor->offset, NULL),
                ST_OK);
        }
    }
    assert_int_equal(found, safetensors_tensor_count(file));
    safetensors_close(file);
}

static void open_adapted(struct run *run, const json_t *bert)
{
    const json_t *config = json_object_get(bert, "config");
    struct text_encoder sizes = sizes_of(config);
    char targets[][TENSOR_NAME_SIZE] = {"*.query", "*.value"};
    const struct model_start start = {
        .trainable = TRAINABLE_LORA, .rank = 3, .alpha = 6, .named = {2, targets}};
    open_trained(run, &models[0], &sizes, number(config, "classes"), &start);
    load_adapter(run);
}

/* The norm of a part of a record's gradient, that of a tensor. */
static double part_norm(struct run *run, const struct tensor *tensor, size_t record)
{
    double square = 0;
    float *sum = calloc(network_parameters(run->network), sizeof *sum);
    float *block = aligned_alloc(
        64, (network_tile_floats_max(run->network) * sizeof(float) + 63) / 64 * 64);
    for (size_t t = 0; t < network_tile_count(run->network); t++) {
        struct tile tile = network_tile(run->network, t);
        workspace_sum(run->workspace, t, (struct row_range){record, 1}, block);
        memcpy(sum + tile.offset, block, tile.count * sizeof *sum);
    }
    for (size_t j = 0; j < tensor->count; j++)
        square += pow((double)sum[tensor->offset + j], 2);
    free(block);
    free(sum);
    return sqrt(square);
}

/* "NAME.lora_A.default.weight", and "NAME.modules_to_save.default.bias" of the head. */
static const json_t *norms_of(const json_t *known, const char *name)
{
    const char *part = strrchr(name, '.');
    char theirs[2 * TENSOR_NAME_SIZE];
    snprintf(theirs, sizeof theirs, "base_model.model.%.*s%s.default%s",
             (int)(part - name), name,
             strstr(name, "lora_") == NULL ? ".modules_to_save" : "", part);
    return json_object_get(json_object_get(known, "norms_by_tensor"), theirs);
}

static void an_adapter_gives_the_answers_and_gradients_of_peft(void **state)
{
    json_t *bert = vectors("bert"), *known = vectors("lora");
    const json_t *norms = json_object_get(known, "norms");
    uint32_t classes = number(json_object_get(bert, "config"), "classes");
    double outputs[ROWS * WIDTH];
    size_t parts = 0;
    struct run run;
    (void)state;
    open_adapted(&run, bert);
    measure(&run, known);
    workspace_predict(run.workspace, outputs);
    assert_true(worst(outputs, json_object_get(known, "outputs"), classes) <= 2e-5);
    for (size_t i = 0; i < json_array_size(norms); i++)
        assert_close(workspace_norms(run.workspace)[i], real_at(norms, i), 1e-5);
    for (size_t k = 0; k < network_tensor_count(run.network); k++) {
        const struct tensor *tensor = network_tensor(run.network, k);
        if (tensor->offset >= network_parameters(run.network))
            continue;
        const json_t *own = norms_of(known, tensor->name);
        assert_int_equal(json_array_size(own), json_array_size(norms));
        for (size_t i = 0; i < json_array_size(own); i++)
            assert_close(part_norm(&run, tensor, i), real_at(own, i), 1e-5);
        parts++;
    }
    assert_int_equal(parts,
                     json_object_size(json_object_get(known, "norms_by_tensor")));
    run_fini(&run);
    json_decref(known);
    json_decref(bert);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_public_model_gives_its_answers),
        cmocka_unit_test(the_mean_of_the_tokens_is_that_of_the_public_model),
        cmocka_unit_test(gradients_are_those_of_the_public_model),
        cmocka_unit_test(the_last_blocks_are_those_of_the_encoder),
        cmocka_unit_test(more_blocks_than_the_encoder_has_are_refused),
        cmocka_unit_test(an_adapter_gives_the_answers_and_gradients_of_peft),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
