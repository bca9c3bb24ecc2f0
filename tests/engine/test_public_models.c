/* Goal: models of tokens give the answers of the public models whose weights and names
 * they have. Method: tiny models of three dialects and their outputs in float64, made by
 * transformers, from ../shared/vectors/deep. */
#include <string.h>

#include <jansson.h>

#include "tests/expect.h"

#include "engine/model_file/safetensors.h"
#include "tests/engine/nn/sequence_fixture.h"

static json_t *vectors(const char *name)
{
    char path[1024], file[64];
    snprintf(file, sizeof file, "vectors/deep/%s.json", name);
    shared_path(path, file);
    json_t *known = json_load_file(path, 0, NULL);
    assert_non_null(known);
    return known;
}

static void load(struct run *run, const char *name)
{
    char path[1024], tensors[64];
    struct safetensors *file;
    struct error error = {0};
    size_t found = 0;
    snprintf(tensors, sizeof tensors, "vectors/deep/%s.safetensors", name);
    shared_path(path, tensors);
    assert_int_equal(safetensors_open(&file, path, &error), ST_OK);
    for (size_t i = 0; i < network_tensor_count(run->network); i++) {
        const struct tensor *tensor = network_tensor(run->network, i);
        for (size_t j = 0; j < safetensors_tensor_count(file); j++)
            if (strcmp(safetensors_tensor(file, j)->name, tensor->name) == 0) {
                assert_int_equal(safetensors_tensor(file, j)->count, tensor->count);
                assert_int_equal(safetensors_read(file, safetensors_tensor(file, j),
                                                  run->theta + tensor->offset, &error),
                                 ST_OK);
                found++;
            }
    }
    assert_int_equal(found, network_tensor_count(run->network));
    assert_int_equal(found, safetensors_tensor_count(file));
    safetensors_close(file);
}

static uint32_t number(const json_t *config, const char *name)
{
    return (uint32_t)json_integer_value(json_object_get(config, name));
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

static size_t ids_of(const json_t *record, float *ids)
{
    const json_t *list = json_object_get(record, "ids");
    for (size_t t = 0; t < json_array_size(list); t++)
        ids[t] = (float)json_integer_value(json_array_get(list, t));
    return json_array_size(list);
}

static double logit(const json_t *expected, size_t record, size_t j)
{
    return json_real_value(json_array_get(json_array_get(expected, record), j));
}

/* The largest error of a difference of outputs, divided by the largest output. The
 * engine gives the softmax of its outputs, in which only differences remain.
 *   shares  (records, classes) */
static double worst(const double *shares, const json_t *expected, size_t classes)
{
    double error = 0, most = 0;
    for (size_t i = 0; i < json_array_size(expected); i++)
        for (size_t j = 0; j < classes; j++) {
            const double *own = shares + i * classes;
            double difference = logit(expected, i, j) - logit(expected, i, 0);
            error = fmax(error, fabs(log(own[j] / own[0]) - difference));
            most = fmax(most, fabs(logit(expected, i, j)));
        }
    return error / most;
}

static const struct {
    enum preset preset;
    const char *file;
    uint32_t tokens; /* the most of a record: RoBERTa's positions begin at 2 */
} models[] = {{PRESET_BERT, "bert", 20},
              {PRESET_ROBERTA, "roberta", 18},
              {PRESET_DISTILBERT, "distilbert", 20}};

/* Outputs to 2e-5 of the largest (the README of the vectors). The records have from 2
 * tokens to all positions. */
static void a_public_model_gives_its_answers(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        json_t *known = vectors(models[k].file);
        const json_t *records = json_object_get(known, "records"),
                     *config = json_object_get(known, "config");
        struct text_encoder sizes = sizes_of(config);
        uint32_t classes = number(config, "classes");
        size_t count = json_array_size(records);
        double outputs[ROWS * 8];
        float ids[64];
        struct list list;
        struct run run;
        make_model(&list, models[k].preset, &sizes, classes);
        run_init(&run, &list, models[k].tokens, classes);
        load(&run, models[k].file);
        for (size_t i = 0; i < count; i++)
            put(&run, i, ids, ids_of(json_array_get(records, i), ids));
        forward(&run, count, outputs);
        double error = worst(outputs, json_object_get(known, "outputs"), classes);
        if (!(error <= 2e-5))
            fail_msg("%s: %g", models[k].file, error);
        run_fini(&run);
        json_decref(known);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_public_model_gives_its_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
