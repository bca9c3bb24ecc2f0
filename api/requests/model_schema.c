/* Each member of a model has a function here that writes its schema (the table of
 * members); model_request.h defines which of them a model has. A layer's members need
 * no function: their row has all the information. */
#include "api/requests/model_schema.h"

#include <string.h>

#include "api/json/json_schema.h"
#include "api/limits.h"
#include "api/requests/columns_request.h"
#include "api/requests/text_encoder_request.h"
#include "api/requests/model_request.h"
#include "api/requests/start_request.h"
#include "base/check.h"
#include "engine/nn/layers/preset.h"
#include "engine/nn/layers/registry.h"

/* ---- layers ---- */

static void write_kernel(struct json_writer *writer, const struct layer_member *member)
{
    uint64_t low = (uint64_t)member->low, high = (uint64_t)member->high;
    json_write_object(writer, member->name);
    json_write_array(writer, "oneOf");
    json_schema_count(writer, NULL, low, high, NULL);
    json_schema_list(writer, NULL, 2, 2);
    json_schema_count(writer, "items", low, high, NULL);
    json_write_object_end(writer);
    json_write_array_end(writer);
    json_write_object_end(writer);
}

static void write_variant(struct json_writer *writer, const struct layer_member *member)
{
    json_write_object(writer, member->name);
    json_write_array(writer, "enum");
    for (size_t i = 0; member->variants[i].word != NULL; i++)
        json_write_text(writer, NULL, member->variants[i].word);
    json_write_array_end(writer);
    if (member->optional)
        json_write_text(writer, "default", member->variants[0].word);
    json_write_object_end(writer);
}

static void write_branch(struct json_writer *writer, const struct layer_member *member)
{
    json_schema_list(writer, member->name, (uint64_t)member->low, LIMIT_LAYERS);
    if (member->optional) {
        json_write_array(writer, "default");
        json_write_array_end(writer);
    }
    json_schema_reference(writer, "items", "layer");
    json_write_object_end(writer);
    json_write_object_end(writer);
}

static void write_columns(struct json_writer *writer, const struct layer_member *member)
{
    json_schema_list(writer, member->name, 1, LIMIT_COLUMNS);
    json_write_object(writer, "items");
    json_write_text(writer, "type", "string");
    json_write_object_end(writer);
    json_write_object_end(writer);
}

static void write_layer_member(struct json_writer *writer,
                               const struct layer_member *member)
{
    const struct json_range range = {member->low, member->high, false,
                                     member->high_open};
    uint64_t count = (uint64_t)member->fallback;
    bool known = member->optional && !member->follows_kernel;
    switch (member->kind) {
    case MEMBER_COUNT:
        json_schema_count(writer, member->name, (uint64_t)member->low,
                          (uint64_t)member->high, known ? &count : NULL);
        break;
    case MEMBER_REAL:
        json_schema_real(writer, member->name, range, known ? &member->fallback : NULL);
        break;
    case MEMBER_FLAG:
        json_schema_flag(writer, member->name, member->fallback != 0);
        break;
    case MEMBER_KERNEL: write_kernel(writer, member); break;
    case MEMBER_VARIANT: write_variant(writer, member); break;
    case MEMBER_LAYERS: write_branch(writer, member); break;
    case MEMBER_COLUMNS: write_columns(writer, member); break;
    }
}

static void write_layer_kind(struct json_writer *writer, const struct layer_kind *kind)
{
    enum { MEMBERS_MAX = 16 };
    const char *required[MEMBERS_MAX + 2] = {"type"};
    size_t count = 1;
    CHECK(kind->member_count <= MEMBERS_MAX);
    json_schema_object(writer, NULL);
    json_schema_word(writer, "type", kind->name);
    for (size_t i = 0; i < kind->member_count; i++) {
        write_layer_member(writer, &kind->members[i]);
        if (!kind->members[i].optional)
            required[count++] = kind->members[i].name;
    }
    json_schema_object_end(writer, required);
}

void model_schema_write_layers(struct json_writer *writer)
{
    for (size_t i = 0; layer_kinds[i] != NULL; i++)
        if (layer_kinds[i]->type == NULL)
            write_layer_kind(writer, layer_kinds[i]);
}

void model_schema_write_layer(struct json_writer *writer)
{
    json_write_object(writer, "layer");
    json_write_array(writer, "oneOf");
    model_schema_write_layers(writer);
    json_write_array_end(writer);
    json_write_object_end(writer);
}

/* ---- losses ---- */

static void write_huber(struct json_writer *writer)
{
    const struct json_range range = {LIMIT_HUBER_MIN, LIMIT_HUBER_MAX, false, false};
    const char *const delta[] = {"delta", NULL};
    const char *const huber[] = {loss_name(LOSS_HUBER), NULL};
    json_schema_object(writer, NULL);
    json_schema_object(writer, huber[0]);
    json_schema_real(writer, delta[0], range, NULL);
    json_schema_object_end(writer, delta);
    json_schema_object_end(writer, huber);
}

static bool suits(enum loss loss, const struct schema *schema)
{
    const struct model_spec model = {.loss = loss};
    return model_spec_outputs(&model, schema->classes) > 0;
}

void model_schema_write_loss(struct json_writer *writer, const struct schema *schema)
{
    json_write_object(writer, "loss");
    json_write_array(writer, "oneOf");
    json_write_object(writer, NULL);
    json_write_array(writer, "enum");
    for (int loss = LOSS_SOFTMAX_CROSS_ENTROPY; loss < LOSS_HUBER; loss++)
        if (suits((enum loss)loss, schema))
            json_write_text(writer, NULL, loss_name((enum loss)loss));
    json_write_array_end(writer);
    json_write_object_end(writer);
    if (suits(LOSS_HUBER, schema))
        write_huber(writer);
    json_write_array_end(writer);
    json_write_object_end(writer);
}

/* ---- the other members of a model ---- */

static void write_preset(struct json_writer *writer, const struct model_spec *model)
{
    json_schema_word(writer, "preset", preset_names[model->preset]);
}

static void write_hidden(struct json_writer *writer, const struct model_spec *model)
{
    json_schema_list(writer, "hidden", 1, LIMIT_HIDDEN);
    json_schema_count(writer, "items", 1, LIMIT_WIDTH, NULL);
    json_write_array(writer, "default");
    for (size_t i = 0; i < model->hidden_count; i++)
        json_write_count(writer, NULL, model->hidden[i]);
    json_write_array_end(writer);
    json_write_object_end(writer);
}

static void write_activation(struct json_writer *writer, const struct model_spec *model)
{
    json_write_object(writer, "activation");
    json_write_array(writer, "enum");
    for (size_t i = 0; layer_kinds[i] != NULL; i++)
        if (layer_kinds[i]->is_activation)
            json_write_text(writer, NULL, layer_kinds[i]->name);
    json_write_array_end(writer);
    json_write_text(writer, "default", model->activation->name);
    json_write_object_end(writer);
}

static void write_embed(struct json_writer *writer, const struct model_spec *model)
{
    (void)model;
    json_schema_count(writer, "embed", 1, LIMIT_WIDTH, NULL);
}

static void write_bias(struct json_writer *writer, const struct model_spec *model)
{
    json_schema_flag(writer, "bias", model->bias);
}

static void write_groups(struct json_writer *writer, const struct model_spec *model)
{
    const uint64_t groups = model->groups;
    json_schema_count(writer, "groups", 1, LIMIT_WIDTH, &groups);
}

static void write_shape(struct json_writer *writer, size_t count)
{
    json_schema_list(writer, NULL, count, count);
    json_schema_count(writer, "items", 1, LIMIT_FEATURES, NULL);
    json_write_object_end(writer);
}

static void write_input(struct json_writer *writer, const struct model_spec *model)
{
    const struct model_input *input = &model->input;
    json_write_object(writer, "input");
    if (input->channels > 0) {
        json_write_object(writer, "default");
        json_write_array(writer, "shape");
        json_write_count(writer, NULL, input->height);
        json_write_count(writer, NULL, input->width);
        json_write_count(writer, NULL, input->channels);
        json_write_array_end(writer);
        json_write_object_end(writer);
    }
    json_schema_members(writer);
    json_write_object(writer, "shape");
    json_write_array(writer, "oneOf");
    write_shape(writer, 1);
    write_shape(writer, 3);
    json_write_array_end(writer);
    json_write_object_end(writer);
    json_schema_object_end(writer, (const char *const[]){"shape", NULL});
}

static void write_layers(struct json_writer *writer, const struct model_spec *model)
{
    (void)model;
    json_schema_list(writer, "layers", 1, LIMIT_LAYERS);
    json_schema_reference(writer, "items", "layer");
    json_write_object_end(writer);
    json_write_object_end(writer);
}

static void write_loss(struct json_writer *writer, const struct model_spec *model)
{
    json_schema_reference(writer, "loss", "loss");
    json_write_text(writer, "default", loss_name(model->loss));
    json_write_object_end(writer);
}

static void write_seed(struct json_writer *writer, const struct model_spec *model)
{
    json_schema_count(writer, "init_seed", 0, LIMIT_COUNT - 1, &model->init_seed);
}

static void write_weights(struct json_writer *writer, const struct model_spec *model)
{
    (void)model;
    start_schema_write_weights(writer);
}

static void write_trainable(struct json_writer *writer, const struct model_spec *model)
{
    (void)model;
    start_schema_write_trainable(writer, preset_trainable(model->preset));
}

static void write_fresh(struct json_writer *writer, const struct model_spec *model)
{
    (void)model;
    start_schema_write_fresh(writer);
}

static void write_table_columns(struct json_writer *writer,
                                const struct model_spec *model)
{
    (void)model;
    columns_schema_write_columns(writer);
}

static void write_pairs(struct json_writer *writer, const struct model_spec *model)
{
    (void)model;
    columns_schema_write_pairs(writer);
}

static const struct {
    const char *name;
    void (*write)(struct json_writer *writer, const struct model_spec *model);
} members[] = {
    {"preset", write_preset},
    {"hidden", write_hidden},
    {"activation", write_activation},
    {"bias", write_bias},
    {"embed", write_embed},
    {"groups", write_groups},
    {"input", write_input},
    {"layers", write_layers},
    {"loss", write_loss},
    {"init_seed", write_seed},
    {"weights", write_weights},
    {"trainable", write_trainable},
    {"fresh", write_fresh},
    {"columns", write_table_columns},
    {"pairs", write_pairs},
};

void model_schema_write(struct json_writer *writer, const struct model_spec *model)
{
    const char *const *names = model_request_members(model->preset);
    bool preset = model->preset != PRESET_NONE;
    json_schema_object(writer, NULL);
    for (; *names != NULL; names++) {
        size_t i = 0;
        if (text_encoder_schema_write(writer, *names, model))
            continue;
        while (strcmp(members[i].name, *names) != 0)
            CHECK(++i < sizeof members / sizeof *members);
        members[i].write(writer, model);
    }
    json_schema_object_end(writer,
                           (const char *const[]){preset ? "preset" : "layers", NULL});
}
