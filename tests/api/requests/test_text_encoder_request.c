/* Goal: an encoder of texts is the public model unless a request says otherwise, reads
 * back as itself under the public names, and is refused at the size that does not fit.
 * Method: parameters of the public models as their authors count them; both texts of a
 * model; one size broken at a time. */
#include "tests/expect.h"

#include <stdlib.h>
#include <string.h>

#include "api/json/json_reader.h"
#include "api/json/json_writer.h"
#include "api/requests/model_request.h"
#include "engine/data/readers/reader_registry.h"
#include "engine/data/text_column.h"
#include "engine/nn/network.h"
#include "tests/api/verdict_fixture.h"

enum { TOKENS = 128, CLASSES = 3 };

static const struct schema texts = {.reader = &npy_reader,
                                    .task = TASK_CLASSIFICATION,
                                    .classes = CLASSES,
                                    .shape_count = 1,
                                    .shape = {TOKENS},
                                    .scale = 1};

static enum status parse(struct model_spec *model, const char *text,
                         const struct schema *schema, struct error *error)
{
    struct json_reader reader;
    struct json_node root;
    bool has_loss = false;
    *model = (struct model_spec){0};
    if (json_reader_open(&reader, &root, json_text_of(text), error) == ST_OK)
        model_request_read(model, &has_loss, &root);
    enum status status = json_reader_close(&reader);
    return status == ST_OK ? model_request_fit(model, has_loss, schema, error) : status;
}

static void must_parse(struct model_spec *model, const char *text)
{
    struct error error = {0};
    if (parse(model, text, &texts, &error) != ST_OK)
        fail_msg("%s: %s: %s", text, error.pointer, error.text);
}

static size_t floats_of(const struct model_spec *model, const char *first,
                        size_t *tensors)
{
    struct error error = {0};
    struct network *network;
    if (network_create(&network, model, (struct network_shape){TOKENS, CLASSES},
                       &error) != ST_OK)
        fail_msg("%s: %s", error.pointer, error.text);
    size_t floats = network_floats(network);
    *tensors = network_tensor_count(network);
    bool found = false;
    for (size_t i = 0; i < *tensors; i++)
        found |= strcmp(network_tensor(network, i)->name, first) == 0;
    assert_true(found);
    network_destroy(network);
    return floats;
}

/* The bodies have 109,482,240, 124,055,040 and 66,362,880 parameters; classifiers have a
 * dense layer of their own before the last one, but for bert, whose body has it. */
static void defaults_are_the_public_models(void **state)
{
    static const struct {
        const char *text, *last;
        size_t floats, tensors;
    } cases[] = {{"{\"preset\":\"bert\"}",
                  "bert.encoder.layer.11.output.LayerNorm.bias",
                  109482240 + 768 * CLASSES + CLASSES, 199 + 2},
                 {"{\"preset\":\"roberta\"}", "classifier.out_proj.weight",
                  124055040 + 768 * 769 + 769 * CLASSES, 197 + 4},
                 {"{\"preset\":\"distilbert\"}",
                  "distilbert.transformer.layer.5.output_layer_norm.weight",
                  66362880 + 768 * 769 + 769 * CLASSES, 100 + 4},
                 {"{\"preset\":\"bert\",\"take\":\"mean\",\"blocks\":6,\"width\":384,"
                  "\"intermediate\":1536}",
                  "classifier.weight", 22713216 - 384 * 385 + 385 * CLASSES, 101 + 2}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct model_spec model;
        size_t tensors;
        must_parse(&model, cases[k].text);
        assert_int_equal(model.start.trainable, TRAINABLE_HEAD);
        assert_int_equal(floats_of(&model, cases[k].last, &tensors), cases[k].floats);
        assert_int_equal(tensors, cases[k].tensors);
        model_spec_fini(&model);
    }
}

/* A model on a column of texts has the tokens of its tokenizer, unless it says another
 * number; what is stored says it. */
static void the_table_has_the_tokens_of_the_tokenizer(void **state)
{
    static struct text_column text = {.length = 32, .vocabulary = 1234};
    static struct column columns[] = {{.kind = COLUMN_TEXT, .text = &text}};
    static const struct schema films = {.reader = &csv_reader,
                                        .task = TASK_CLASSIFICATION,
                                        .classes = CLASSES,
                                        .columns = columns,
                                        .column_count = 1};
    static const struct {
        const char *text;
        uint32_t vocabulary;
        const char *pointer;
    } cases[] = {{"{\"preset\":\"bert\",\"take\":\"mean\"}", 1234, NULL},
                 {"{\"preset\":\"roberta\"}", 1234, NULL},
                 {"{\"preset\":\"distilbert\",\"vocabulary\":1234}", 1234, NULL},
                 {"{\"preset\":\"bert\",\"vocabulary\":1235}", 0, "/model/vocabulary"},
                 {"{\"preset\":\"bert\",\"separator\":1234}", 0, "/model/separator"}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct model_spec model;
        struct error error = {0};
        struct json_writer writer;
        char said[40];
        enum status status = parse(&model, cases[k].text, &films, &error);
        if (cases[k].pointer != NULL) {
            assert_refused_at(status, cases[k].text, &error, cases[k].pointer);
        } else {
            if (status != ST_OK)
                fail_msg("%s: %s: %s", cases[k].text, error.pointer, error.text);
            assert_int_equal(model.layers[0].rows, cases[k].vocabulary);
            json_writer_open(&writer, JSON_EXACT);
            model_request_write(&writer, NULL, &model);
            char *written = json_writer_close(&writer);
            snprintf(said, sizeof said, "\"vocabulary\":%u,", cases[k].vocabulary);
            assert_non_null(strstr(written, said));
            free(written);
        }
        model_spec_fini(&model);
    }
}

#define EVERY_SIZE                                                                     \
    "{\"preset\":\"%s\",\"blocks\":3,\"width\":24,\"heads\":4,\"intermediate\":40,"    \
    "\"vocabulary\":90,\"positions\":130,\"take\":\"%s\"%s}"

static void both_texts_read_back(void **state)
{
    static const char *const presets[] = {"bert", "roberta", "distilbert"};
    static const char *const taken[] = {"first", "mean"};
    (void)state;
    for (size_t k = 0; k < 6; k++) {
        struct model_spec model, again, rendered;
        struct error error = {0};
        struct json_writer writer;
        char text[512];
        snprintf(text, sizeof text, EVERY_SIZE, presets[k / 2], taken[k % 2],
                 k < 2 ? ",\"separator\":7" : "");
        must_parse(&model, text);
        assert_int_equal(model.text_encoder.mean, k % 2);
        json_writer_open(&writer, JSON_EXACT);
        model_request_write(&writer, NULL, &model);
        char *written = json_writer_close(&writer), *arch = model_spec_render(&model);
        must_parse(&again, written);
        assert_int_equal(model_spec_parse(&rendered, arch, &error), ST_OK);
        for (int other = 0; other < 2; other++) {
            const struct model_spec *read = other == 0 ? &again : &rendered;
            assert_memory_equal(&read->text_encoder, &model.text_encoder,
                                sizeof model.text_encoder);
            assert_int_equal(read->layer_count, model.layer_count);
            assert_memory_equal(read->layers, model.layers,
                                model.layer_count * sizeof *model.layers);
        }
        free(written);
        free(arch);
        model_spec_fini(&model);
        model_spec_fini(&again);
        model_spec_fini(&rendered);
    }
}

/* As the encoders it reads ids; it trains all of its layers. */
static void char_lstm_has_250130_parameters_with_18_classes(void **state)
{
    struct model_spec model;
    size_t tensors;
    (void)state;
    must_parse(&model, "{\"preset\":\"char_lstm\"}");
    assert_int_equal(model.start.trainable, TRAINABLE_ALL);
    assert_int_equal(floats_of(&model, "2.weight_hh_l0", &tensors),
                     256 * 64 + 512 * (64 + 128 + 2) + 512 * (128 + 128 + 2) +
                         129 * CLASSES);
    assert_int_equal(tensors, 11);
    model_spec_fini(&model);
}

static void a_size_that_does_not_fit_is_named(void **state)
{
    static const struct schema images = {.reader = &idx_reader,
                                         .task = TASK_CLASSIFICATION,
                                         .classes = CLASSES,
                                         .shape_count = 2,
                                         .shape = {28, 28},
                                         .scale = 1};
    static const struct schema scaled = {.reader = &npy_reader,
                                         .task = TASK_CLASSIFICATION,
                                         .classes = CLASSES,
                                         .shape_count = 1,
                                         .shape = {TOKENS},
                                         .scale = 255};
    static const struct {
        const struct schema *schema;
        const char *text, *pointer;
    } cases[] = {
        {&texts, "{\"preset\":\"bert\",\"heads\":5}", "/heads"},
        {&texts, "{\"preset\":\"bert\",\"width\":100}", "/heads"},
        {&texts, "{\"preset\":\"bert\",\"vocabulary\":102}", "/separator"},
        {&texts, "{\"preset\":\"bert\",\"blocks\":0}", "/blocks"},
        {&texts, "{\"preset\":\"bert\",\"blocks\":65}", "/blocks"},
        {&texts, "{\"preset\":\"bert\",\"vocabulary\":16777217}", "/vocabulary"},
        {&texts, "{\"preset\":\"bert\",\"take\":\"last\"}", "/take"},
        {&texts, "{\"preset\":\"bert\",\"groups\":3}", "/groups"},
        {&texts, "{\"preset\":\"roberta\",\"separator\":2}", "/separator"},
        {&texts, "{\"preset\":\"distilbert\",\"separator\":2}", "/separator"},
        {&texts, "{\"preset\":\"char_lstm\",\"vocabulary\":30}", "/vocabulary"},
        {&scaled, "{\"preset\":\"char_lstm\"}", "/model/preset"},
        {&images, "{\"preset\":\"char_lstm\"}", "/model/preset"},
        {&texts, "{\"preset\":\"roberta\",\"positions\":2}", "/positions"},
        {&texts, "{\"preset\":\"mlp\",\"blocks\":2}", "/blocks"},
        {&texts, "{\"preset\":\"bert\",\"positions\":127}", "/model/positions"},
        {&texts, "{\"preset\":\"roberta\",\"positions\":129}", "/model/positions"},
        {&images, "{\"preset\":\"bert\"}", "/model/preset"},
        {&scaled, "{\"preset\":\"bert\"}", "/model/preset"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct model_spec model;
        struct error error = {0};
        enum status status = parse(&model, cases[k].text, cases[k].schema, &error);
        assert_refused_at(status, cases[k].text, &error, cases[k].pointer);
        model_spec_fini(&model);
    }
}

/* At the limit they fit. */
static void records_may_have_as_many_tokens_as_positions(void **state)
{
    struct model_spec model;
    (void)state;
    must_parse(&model, "{\"preset\":\"bert\",\"positions\":128}");
    model_spec_fini(&model);
    must_parse(&model, "{\"preset\":\"roberta\",\"positions\":130}");
    model_spec_fini(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_the_public_models),
        cmocka_unit_test(the_table_has_the_tokens_of_the_tokenizer),
        cmocka_unit_test(both_texts_read_back),
        cmocka_unit_test(char_lstm_has_250130_parameters_with_18_classes),
        cmocka_unit_test(a_size_that_does_not_fit_is_named),
        cmocka_unit_test(records_may_have_as_many_tokens_as_positions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
