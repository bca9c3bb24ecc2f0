#include "api/model_request.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/json_reader.h"
#include "api/json_writer.h"
#include "api/limits.h"
#include "base/check.h"

_Static_assert((int)LIMIT_LAYERS == (int)MODEL_LAYERS_MAX,
               "the contract and the engine agree");
_Static_assert((int)LIMIT_HIDDEN == (int)MODEL_HIDDEN_MAX,
               "the contract and the engine agree");
_Static_assert(LIMIT_PARAMETERS == MODEL_PARAMETERS_MAX,
               "the contract and the engine agree");

enum { MLP_HIDDEN = 128 }; /* MODELS.md 8 */

static const char *const preset_names[] = {
    [PRESET_LINEAR] = "linear", [PRESET_MLP] = "mlp"};

static enum preset read_preset(struct json_node node)
{
    const char *text = json_read_text(node);
    for (int preset = PRESET_LINEAR; preset <= PRESET_MLP; preset++)
        if (strcmp(preset_names[preset], text) == 0)
            return (enum preset)preset;
    json_refuse(node, "must be linear or mlp");
    return PRESET_NONE;
}

static enum layer_kind read_layer_kind(struct json_node node)
{
    enum layer_kind kind = LAYER_DENSE;
    const char *text = json_read_text(node);
    if (!json_refused(node) && !layer_kind_parse(&kind, text))
        json_refuse(node, "must be dense, relu or tanh");
    return kind;
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

static void read_mlp(struct model_spec *model, const struct json_node *node)
{
    struct json_node activation = json_member(node, "activation");
    read_hidden(model, json_member(node, "hidden"));
    model->bias = read_bias(node);
    model->activation = LAYER_RELU;
    if (json_present(activation))
        model->activation = read_layer_kind(activation);
    if (model->activation == LAYER_DENSE)
        json_refuse(activation, "must be relu or tanh");
}

static void read_layer(struct layer_spec *layer, struct json_node node)
{
    struct json_node type = json_member(&node, "type");
    json_read_object(node, (const char *const[]){"type", "out", "bias", NULL});
    layer->kind = read_layer_kind(type);
    if (layer->kind != LAYER_DENSE) {
        json_read_object(node, (const char *const[]){"type", NULL});
        return;
    }
    layer->out = (uint32_t)json_read_count(json_member(&node, "out"), 1, LIMIT_WIDTH);
    layer->bias = read_bias(&node);
}

static void read_layers(struct model_spec *model, struct json_node layers)
{
    size_t count = json_read_array(layers, 1, LIMIT_LAYERS);
    if (json_refused(layers))
        return;
    model->layers = calloc(count, sizeof *model->layers);
    CHECK(model->layers != NULL);
    for (; model->layer_count < count; model->layer_count++)
        read_layer(&model->layers[model->layer_count],
                   json_element(&layers, model->layer_count));
}

static void read_loss(struct model_spec *model, struct json_node node)
{
    const char *text = json_read_text(node);
    if (!json_refused(node) && !loss_parse(&model->loss, text))
        json_refuse(node, "must be softmax_cross_entropy, logistic or squared");
}

/* Members allowed beside "loss" and "init_seed". */
static void check_members(const struct json_node *node, enum preset preset)
{
    switch (preset) {
    case PRESET_NONE:
        json_read_object(*node,
                         (const char *const[]){"layers", "loss", "init_seed", NULL});
        return;
    case PRESET_LINEAR:
        json_read_object(*node,
                         (const char *const[]){"preset", "loss", "init_seed", NULL});
        return;
    case PRESET_MLP:
        json_read_object(*node,
                         (const char *const[]){"preset", "hidden", "activation", "bias",
                                               "loss", "init_seed", NULL});
        return;
    }
}

static void read_common(struct model_spec *model, bool *has_loss,
                        const struct json_node *node)
{
    struct json_node loss = json_member(node, "loss");
    struct json_node seed = json_member(node, "init_seed");
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
    json_read_object(*node,
                     (const char *const[]){"preset", "hidden", "activation", "bias",
                                           "layers", "loss", "init_seed", NULL});
    if (json_present(preset))
        model->preset = read_preset(preset);
    else if (!json_present(json_member(node, "layers")))
        json_refuse(*node, "must name a preset or its layers");
    check_members(node, model->preset);
    if (model->preset == PRESET_NONE)
        read_layers(model, json_member(node, "layers"));
    else if (model->preset == PRESET_MLP)
        read_mlp(model, node);
    else
        model->bias = true;
    read_common(model, has_loss, node);
}

static void write_layers(struct json_writer *writer, const struct model_spec *model)
{
    json_write_array(writer, "layers");
    for (size_t i = 0; i < model->layer_count; i++) {
        const struct layer_spec *layer = &model->layers[i];
        json_write_object(writer, NULL);
        json_write_text(writer, "type", layer_kind_name(layer->kind));
        if (layer->kind == LAYER_DENSE) {
            json_write_count(writer, "out", layer->out);
            json_write_flag(writer, "bias", layer->bias);
        }
        json_write_object_end(writer);
    }
    json_write_array_end(writer);
}

static void write_preset(struct json_writer *writer, const struct model_spec *model)
{
    json_write_text(writer, "preset", preset_names[model->preset]);
    if (model->preset != PRESET_MLP)
        return;
    json_write_array(writer, "hidden");
    for (size_t i = 0; i < model->hidden_count; i++)
        json_write_count(writer, NULL, model->hidden[i]);
    json_write_array_end(writer);
    json_write_text(writer, "activation", layer_kind_name(model->activation));
    json_write_flag(writer, "bias", model->bias);
}

void model_request_write(struct json_writer *writer, const char *name,
                         const struct model_spec *model)
{
    json_write_object(writer, name);
    if (model->preset == PRESET_NONE)
        write_layers(writer, model);
    else
        write_preset(writer, model);
    json_write_text(writer, "loss", loss_name(model->loss));
    json_write_count(writer, "init_seed", model->init_seed);
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
            "%s does not suit this dataset: a regression takes squared, "
            "2 classes logistic, any number softmax_cross_entropy",
            loss_name(model->loss));
    return ST_OK;
}

static enum status refuse_layer(struct error *error, size_t index, uint32_t outputs)
{
    char pointer[40];
    snprintf(pointer, sizeof pointer, "/model/layers/%zu", index);
    return error_set_at(error, ST_INVALID, pointer,
                        "the last layer must be dense with out %" PRIu32
                        ", for the dataset and the loss",
                        outputs);
}

enum status model_request_fit(struct model_spec *model, bool has_loss,
                              const struct schema *schema, struct error *error)
{
    enum status status = choose_loss(model, has_loss, schema, error);
    if (status != ST_OK)
        return status;
    uint32_t outputs = model_spec_outputs(model, schema->classes);
    if (model->preset != PRESET_NONE)
        model_spec_expand(model, outputs);
    const struct layer_spec *last = &model->layers[model->layer_count - 1];
    if (last->kind != LAYER_DENSE || last->out != outputs)
        return refuse_layer(error, model->layer_count - 1, outputs);
    /* Widths are at most 2^26, so a product is below 2^53 and a sum cannot wrap. */
    uint64_t parameters = 0, width = schema_features(schema);
    for (size_t i = 0; i < model->layer_count; i++) {
        const struct layer_spec *layer = &model->layers[i];
        if (layer->kind != LAYER_DENSE)
            continue;
        parameters += layer->out * (width + (layer->bias ? 1 : 0));
        width = layer->out;
        if (parameters > LIMIT_PARAMETERS)
            return error_set_at(error, ST_INVALID, "/model",
                                "has more than %d parameters", LIMIT_PARAMETERS);
    }
    return ST_OK;
}

char *model_spec_render(const struct model_spec *model)
{
    struct json_writer writer;
    json_writer_open(&writer, JSON_EXACT);
    json_write_object(&writer, NULL);
    if (model->preset != PRESET_NONE)
        write_preset(&writer, model);
    write_layers(&writer, model);
    json_write_text(&writer, "loss", loss_name(model->loss));
    json_write_count(&writer, "init_seed", model->init_seed);
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
    if (json_reader_open(&reader, &root, text, strlen(text), error) == ST_OK) {
        struct json_node preset = json_member(&root, "preset");
        struct json_node loss = json_member(&root, "loss");
        if (json_present(preset))
            read.preset = read_preset(preset);
        if (read.preset == PRESET_MLP)
            read_mlp(&read, &root);
        read.bias = read.preset == PRESET_LINEAR || read.bias;
        read_layers(&read, json_member(&root, "layers"));
        read_common(&read, &has_loss, &root);
        if (!json_refused(root) && !has_loss)
            json_refuse(loss, "is required");
    }
    enum status status = json_reader_close(&reader);
    if (status == ST_OK)
        *model = read;
    else
        model_spec_fini(&read);
    return status;
}
