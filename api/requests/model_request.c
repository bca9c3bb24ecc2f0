#include "api/requests/model_request.h"

#include <stdlib.h>
#include <string.h>

#include "api/json/json_word.h"
#include "api/json/json_writer.h"
#include "api/limits.h"
#include "api/requests/columns_request.h"
#include "api/requests/embed_request.h"
#include "api/requests/text_encoder_request.h"
#include "api/requests/layer_request.h"
#include "api/requests/start_request.h"
#include "engine/nn/layers/text_encoder.h"
#include "engine/nn/layers/preset.h"
#include "engine/data/text_column.h"
#include "engine/nn/layers/registry.h"
#include "engine/nn/layers/sequence.h"

_Static_assert((int)LIMIT_LAYERS == (int)MODEL_LAYERS_MAX,
               "the contract and the engine agree");
_Static_assert((int)LIMIT_NESTING == (int)MODEL_NESTING_MAX,
               "the contract and the engine agree");
_Static_assert((int)LIMIT_HIDDEN == (int)MODEL_HIDDEN_MAX,
               "the contract and the engine agree");
_Static_assert((int)LIMIT_KERNEL == (int)MODEL_KERNEL_MAX,
               "the contract and the engine agree");
_Static_assert((int)LIMIT_STRIDE == (int)MODEL_STRIDE_MAX,
               "the contract and the engine agree");
_Static_assert((int)LIMIT_WIDTH == (int)MODEL_WIDTH_MAX,
               "the contract and the engine agree");
_Static_assert((int)LIMIT_FEATURES == (int)MODEL_SIDE_MAX,
               "the contract and the engine agree");
_Static_assert(LIMIT_PARAMETERS == MODEL_PARAMETERS_MAX,
               "the contract and the engine agree");

enum { MLP_HIDDEN = 128, RESNET_GROUPS = 32 }; /* network.md 7 */

/* Returns false if the preset was refused. */
static bool read_preset(enum preset *preset, struct json_node node)
{
    size_t index;
    if (!json_read_word(&index, node, preset_names + PRESET_LINEAR))
        return false;
    *preset = (enum preset)(index + PRESET_LINEAR);
    return true;
}

static bool read_bias(const struct json_node *object)
{
    struct json_node bias = json_member(object, "bias");
    return json_present(bias) ? json_read_flag(bias) : true;
}

static void read_hidden(struct model_spec *model, struct json_node hidden)
{
    model->hidden_count = 1;
    model->hidden[0] = MLP_HIDDEN;
    if (!json_present(hidden))
        return;
    model->hidden_count = json_read_array(hidden, 1, LIMIT_HIDDEN);
    for (size_t i = 0; i < model->hidden_count; i++)
        model->hidden[i] =
            (uint32_t)json_read_count(json_element(&hidden, i), 1, LIMIT_WIDTH);
}

static bool is_activation(const struct layer_kind *kind)
{
    return kind->is_activation;
}

static const struct layer_kind *read_activation(struct json_node node)
{
    const struct layer_kind *kind = layer_find(json_read_text(node));
    char names[256];

    if (kind != NULL && kind->is_activation)
        return kind;
    layer_names(names, sizeof names, is_activation, "or");
    json_refuse(node, "must be %s", names);
    return preset_activation;
}

static void read_mlp(struct model_spec *model, const struct json_node *node)
{
    struct json_node activation = json_member(node, "activation");
    struct json_node embed = json_member(node, "embed");
    if (json_present(embed))
        model->embed = (uint32_t)json_read_count(embed, 1, LIMIT_WIDTH);
    read_hidden(model, json_member(node, "hidden"));
    model->bias = read_bias(node);
    model->activation = preset_activation;
    if (json_present(activation))
        model->activation = read_activation(activation);
}

static void read_resnet(struct model_spec *model, const struct json_node *node)
{
    struct json_node groups = json_member(node, "groups");
    model->groups = RESNET_GROUPS;
    if (json_present(groups))
        model->groups = (uint32_t)json_read_count(groups, 1, LIMIT_WIDTH);
}

static bool is_resnet(enum preset preset)
{
    return preset == PRESET_RESNET18_GN || preset == PRESET_RESNET34_GN;
}

/* Reads {"shape":[height, width, channels]} or {"shape":[features]}. */
static void read_input(struct model_spec *model, struct json_node input)
{
    struct json_node shape = json_member(&input, "shape");
    uint32_t sizes[3] = {1, 1, 1};
    json_read_object(input, (const char *const[]){"shape", NULL});
    size_t count = json_read_array(shape, 1, 3);
    if (count == 2)
        json_refuse(shape, "must be [features] or [height, width, channels]");
    for (size_t i = 0; i < count; i++)
        sizes[3 - count + i] =
            (uint32_t)json_read_count(json_element(&shape, i), 1, LIMIT_FEATURES);
    model->input = (struct model_input){sizes[0], sizes[1], sizes[2]};
}

/* Reads {"huber":{"delta":x}}. */
static void read_huber(struct model_spec *model, struct json_node loss)
{
    const struct json_range range = {LIMIT_HUBER_MIN, LIMIT_HUBER_MAX, false, false};
    struct json_node huber = json_member(&loss, "huber");
    json_read_object(loss, (const char *const[]){"huber", NULL});
    json_read_object(huber, (const char *const[]){"delta", NULL});
    model->loss = LOSS_HUBER;
    model->huber_delta = json_read_real(json_member(&huber, "delta"), range);
}

static void read_loss(struct model_spec *model, struct json_node node)
{
    if (json_present(node) && json_is_object(node.value)) {
        read_huber(model, node);
        return;
    }
    if (!loss_parse(&model->loss, json_read_text(node)) || model->loss == LOSS_HUBER)
        json_refuse(node, "must be softmax_cross_entropy, logistic, squared or "
                          "{\"huber\":{\"delta\":...}}");
}

static void write_loss(struct json_writer *writer, const struct model_spec *model)
{
    if (model->loss != LOSS_HUBER) {
        json_write_text(writer, "loss", loss_name(model->loss));
        return;
    }
    json_write_object(writer, "loss");
    json_write_object(writer, "huber");
    json_write_real(writer, "delta", model->huber_delta);
    json_write_object_end(writer);
    json_write_object_end(writer);
}

#define START_MEMBERS "weights", "trainable", "fresh"
static const char *const members_of[PRESETS][16] = {
    [PRESET_NONE] = {"input", "layers", "loss", "init_seed", START_MEMBERS},
    [PRESET_LINEAR] = {"preset", "loss", "init_seed", START_MEMBERS},
    [PRESET_MLP] = {"preset", "hidden", "activation", "bias", "embed", "loss",
                    "init_seed", START_MEMBERS},
    [PRESET_CNN_MNIST] = {"preset", "input", "loss", "init_seed", START_MEMBERS},
    [PRESET_CNN_CIFAR] = {"preset", "input", "loss", "init_seed", START_MEMBERS},
    [PRESET_RESNET18_GN] = {"preset", "groups", "input", "loss", "init_seed",
                            START_MEMBERS},
    [PRESET_RESNET34_GN] = {"preset", "groups", "input", "loss", "init_seed",
                            START_MEMBERS},
    [PRESET_SCATTER] = {"preset", "input", "loss", "init_seed", START_MEMBERS},
    [PRESET_BERT] = {"preset", TEXT_ENCODER_MEMBERS, TEXT_ENCODER_SEPARATOR, "loss",
                     "init_seed", START_MEMBERS},
    [PRESET_ROBERTA] = {"preset", TEXT_ENCODER_MEMBERS, "loss", "init_seed",
                        START_MEMBERS},
    [PRESET_DISTILBERT] = {"preset", TEXT_ENCODER_MEMBERS, "loss", "init_seed",
                           START_MEMBERS},
    [PRESET_CHAR_LSTM] = {"preset", "loss", "init_seed", START_MEMBERS},
    [PRESET_HISTOGRAMS] = {"preset", COLUMNS_MEMBERS, "loss", "init_seed"},
};

const char *const *model_request_members(enum preset preset)
{
    return members_of[preset];
}

static void read_common(struct model_spec *model, bool *has_loss,
                        const struct json_node *node)
{
    struct json_node loss = json_member(node, "loss");
    struct json_node seed = json_member(node, "init_seed");
    struct json_node input = json_member(node, "input");
    if (json_present(input))
        read_input(model, input);
    *has_loss = json_present(loss);
    if (*has_loss)
        read_loss(model, loss);
    if (json_present(seed))
        model->init_seed = json_read_count(seed, 0, LIMIT_COUNT - 1);
}

void model_request_read(struct model_spec *model, bool *has_loss,
                        const struct json_node *node)
{
    struct json_node preset = json_member(node, "preset");
    json_read_object(
        *node, (const char *const[]){"preset", "hidden", "activation", "bias", "embed",
                                     "groups", "input", "layers", "loss", "init_seed",
                                     TEXT_ENCODER_MEMBERS, TEXT_ENCODER_SEPARATOR,
                                     COLUMNS_MEMBERS, START_MEMBERS, NULL});
    read_common(model, has_loss, node);
    if (json_present(preset)) {
        if (!read_preset(&model->preset, preset))
            return;
    } else if (!json_present(json_member(node, "layers"))) {
        json_refuse(*node, "must name a preset or its layers");
        return;
    }
    json_read_object(*node, members_of[model->preset]);
    model->start.trainable = preset_trainable(model->preset);
    start_request_read(&model->start, node);
    if (model->preset == PRESET_NONE)
        layer_request_read(model, json_member(node, "layers"));
    else if (model->preset == PRESET_MLP)
        read_mlp(model, node);
    else if (is_resnet(model->preset))
        read_resnet(model, node);
    else if (preset_is_text_encoder(model->preset))
        text_encoder_request_read(model, node);
    else if (model->preset == PRESET_HISTOGRAMS)
        columns_request_read(model, node);
    else
        model->bias = true;
}

static void write_input(struct json_writer *writer, const struct model_input *input)
{
    if (input->channels == 0)
        return;
    json_write_object(writer, "input");
    json_write_array(writer, "shape");
    if (input->height > 1 || input->width > 1) {
        json_write_count(writer, NULL, input->height);
        json_write_count(writer, NULL, input->width);
    }
    json_write_count(writer, NULL, input->channels);
    json_write_array_end(writer);
    json_write_object_end(writer);
}

static void write_preset(struct json_writer *writer, const struct model_spec *model)
{
    json_write_text(writer, "preset", preset_names[model->preset]);
    if (is_resnet(model->preset))
        json_write_count(writer, "groups", model->groups);
    if (preset_is_text_encoder(model->preset))
        text_encoder_request_write(writer, model);
    if (model->preset == PRESET_HISTOGRAMS)
        columns_request_write(writer, &model->columns);
    if (model->preset != PRESET_MLP)
        return;
    json_write_array(writer, "hidden");
    for (size_t i = 0; i < model->hidden_count; i++)
        json_write_count(writer, NULL, model->hidden[i]);
    json_write_array_end(writer);
    json_write_text(writer, "activation", model->activation->name);
    json_write_flag(writer, "bias", model->bias);
    if (model->embed > 0)
        json_write_count(writer, "embed", model->embed);
}

void model_request_write(struct json_writer *writer, const char *name,
                         const struct model_spec *model)
{
    json_write_object(writer, name);
    write_input(writer, &model->input);
    if (model->preset == PRESET_NONE)
        layer_request_write(writer, model);
    else
        write_preset(writer, model);
    write_loss(writer, model);
    json_write_count(writer, "init_seed", model->init_seed);
    start_request_write(writer, &model->start, preset_trainable(model->preset));
    json_write_object_end(writer);
}

static enum status choose_loss(struct model_spec *model, bool has_loss,
                               const struct schema *schema, struct error *error)
{
    if (!has_loss && schema->task == TASK_REGRESSION)
        model->loss = LOSS_SQUARED;
    else if (!has_loss)
        model->loss = schema->classes == 2 ? LOSS_LOGISTIC : LOSS_SOFTMAX_CROSS_ENTROPY;
    if (model_spec_outputs(model, schema->classes) == 0)
        return error_set_at(
            error, ST_INVALID, "/model/loss",
            "%s does not suit this dataset: a regression takes squared or huber, "
            "2 classes logistic, any number softmax_cross_entropy",
            loss_name(model->loss));
    return ST_OK;
}

/* Takes the input from the schema. Datasets hold images channel by channel: [channels,
 * height, width]. */
static void take_input(struct model_spec *model, const struct schema *schema)
{
    if (model->input.channels > 0 || !model_spec_reads_image(model))
        return;
    if (schema->shape_count == 3)
        model->input =
            (struct model_input){schema->shape[1], schema->shape[2], schema->shape[0]};
    else if (schema->shape_count == 2)
        model->input = (struct model_input){schema->shape[0], schema->shape[1], 1};
}

/* Returns whether the records are ids of tokens, which are stored as they are. */
static bool holds_ids(const struct schema *schema)
{
    return schema_text(schema) != NULL ||
           (schema->shape_count == 1 && schema->scale == 1);
}

/* Returns the rows of the table of tokens of an encoder that does not say it. */
static uint32_t usual_vocabulary(enum preset preset, const struct schema *schema)
{
    const struct column *text = schema_text(schema);
    return text != NULL ? text->text->vocabulary
                        : text_encoder_usual(preset).vocabulary;
}

/* Checks whether the records are texts for the model, if it reads texts, and completes its
 * sizes. */
static enum status check_texts(struct model_spec *model, const struct schema *schema,
                               struct error *error)
{
    if (!preset_reads_ids(model->preset))
        return ST_OK;
    if (!holds_ids(schema))
        return error_set_at(error, ST_INVALID, "/model/preset",
                            "%s reads texts: the dataset must have a column of kind "
                            "text, or records that are lists of ids, of the shape "
                            "[tokens] and the scale 1",
                            preset_names[model->preset]);
    if (!preset_is_text_encoder(model->preset))
        return ST_OK;
    if (model->text_encoder.vocabulary == 0)
        model->text_encoder.vocabulary = usual_vocabulary(model->preset, schema);
    return text_encoder_check(model, schema_features(schema), error);
}

enum status model_request_fit(struct model_spec *model, bool has_loss,
                              const struct schema *schema, struct error *error)
{
    enum status status = choose_loss(model, has_loss, schema, error);
    if (status != ST_OK)
        return status;
    status = check_texts(model, schema, error);
    if (status != ST_OK)
        return status;
    take_input(model, schema);
    if (model->preset == PRESET_HISTOGRAMS)
        status = columns_request_fit(model, schema, error);
    if (status != ST_OK)
        return status;
    if (model->preset != PRESET_NONE)
        preset_expand(model, model_spec_outputs(model, schema->classes));
    status = embed_request_fit(model, schema, error);
    if (status != ST_OK)
        return status;
    const struct column *text = schema_text(schema);
    return text != NULL ? sequence_check_model(model, text->text->vocabulary, error)
                        : ST_OK;
}

char *model_spec_render(const struct model_spec *model)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    if (model->preset != PRESET_NONE)
        write_preset(&writer, model);
    write_input(&writer, &model->input);
    layer_request_write(&writer, model);
    write_loss(&writer, model);
    json_write_count(&writer, "init_seed", model->init_seed);
    if (model->start.trainable == TRAINABLE_LORA)
        start_request_write_lora(&writer, &model->start);
    json_write_object_end(&writer);
    return json_writer_close(&writer);
}

enum status model_spec_parse(struct model_spec *model, const char *text,
                             struct error *error)
{
    struct json_reader reader;
    struct json_node root;
    struct model_spec read = {0};
    bool has_loss;
    if (json_reader_open(&reader, &root, json_text_of(text), error) == ST_OK) {
        struct json_node preset = json_member(&root, "preset");
        struct json_node loss = json_member(&root, "loss");
        if (json_present(preset))
            read_preset(&read.preset, preset);
        if (read.preset == PRESET_MLP)
            read_mlp(&read, &root);
        if (is_resnet(read.preset))
            read_resnet(&read, &root);
        if (preset_is_text_encoder(read.preset))
            text_encoder_request_read(&read, &root);
        if (read.preset == PRESET_HISTOGRAMS)
            columns_request_read(&read, &root);
        read.bias = read.preset == PRESET_LINEAR || read.bias;
        layer_request_read(&read, json_member(&root, "layers"));
        read_common(&read, &has_loss, &root);
        struct json_node lora = json_member(&root, "lora");
        if (json_present(lora))
            start_request_read_lora(&read.start, lora);
        if (!has_loss)
            json_refuse(loss, "is required");
    }
    enum status status = json_reader_close(&reader);
    if (status != ST_OK) {
        model_spec_fini(&read);
        return status;
    }
    preset_name_layers(&read);
    *model = read;
    return ST_OK;
}
