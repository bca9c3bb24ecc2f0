/* Goal: models of tokens give the answers of the public models whose weights and names
 * they have. Method: tiny models of three dialects and their outputs in float64, made by
 * transformers, from ../shared/vectors/deep. */
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

static void open_model(struct run *run, const struct public_model *public,
                       const struct text_encoder *sizes, uint32_t classes)
{
    struct error error = {0};
    struct network *network;
    struct model_spec model = {.preset = public->preset,
                               .text_encoder = *sizes,
                               .start.trainable = TRAINABLE_HEAD,
                               .start.fresh_head = public->classifier != NULL};
    preset_expand(&model, classes);
    if (network_create(&network, &model,
                       (struct network_shape){public->tokens, classes},
                       &error) != ST_OK)
        fail_msg("%s: %s", error.pointer, error.text);
    model_spec_fini(&model);
    run_open(run, network, public->tokens, classes);
    load(run, public->file);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_public_model_gives_its_answers),
        cmocka_unit_test(the_mean_of_the_tokens_is_that_of_the_public_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
