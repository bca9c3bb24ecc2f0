/* A layer's members are defined by the row of its kind (engine/nn/layer.h). This file
 * knows the kinds of members, but no layer by name. */
#include "api/requests/layer_request.h"

#include <stdlib.h>
#include <string.h>

#include "api/json/json_reader.h"
#include "api/json/json_writer.h"
#include "api/limits.h"
#include "api/requests/embed_request.h"
#include "base/check.h"
#include "engine/nn/layers/registry.h"

enum { NAMES_MAX = 64, NAMES_SIZE = 512 };

/* Returns the address of a member's value in a layer. */
static void *value_of(struct layer_spec *layer, const struct layer_member *member)
{
    return (char *)layer + member->offset;
}

static const void *value_in(const struct layer_spec *layer,
                            const struct layer_member *member)
{
    return (const char *)layer + member->offset;
}

/* ---- reading ---- */

static uint32_t read_count(struct json_node node, const struct layer_member *member)
{
    return (uint32_t)json_read_count(node, (uint64_t)member->low,
                                     (uint64_t)member->high);
}

static void read_kernel(struct layer_spec *layer, struct json_node node,
                        const struct layer_member *member)
{
    if (json_present(node) && json_is_array(node.value)) {
        json_read_array(node, 2, 2);
        layer->kernel_height = read_count(json_element(&node, 0), member);
        layer->kernel_width = read_count(json_element(&node, 1), member);
        return;
    }
    layer->kernel_height = read_count(node, member);
    layer->kernel_width = layer->kernel_height;
}

/* Reads the name of a variant, which chooses among the kinds of the layer's type. */
static void read_variant(struct layer_spec *layer, struct json_node node,
                         const struct layer_member *member)
{
    const struct layer_variant *variants = member->variants;
    const char *text = json_read_text(node);
    char words[NAMES_SIZE] = "";

    for (size_t k = 0; variants[k].word != NULL; k++) {
        const char *before = k == 0 ? "" : variants[k + 1].word == NULL ? " or " : ", ";
        strncat(words, before, sizeof words - strlen(words) - 1);
        strncat(words, variants[k].word, sizeof words - strlen(words) - 1);
        if (strcmp(text, variants[k].word) == 0) {
            layer->kind = variants[k].kind;
            return;
        }
    }
    json_refuse(node, "must be %s", words);
}

static void take_fallback(struct layer_spec *layer, const struct layer_member *member)
{
    switch (member->kind) {
    case MEMBER_COUNT:
        *(uint32_t *)value_of(layer, member) =
            member->follows_kernel ? layer->kernel_height : (uint32_t)member->fallback;
        break;
    case MEMBER_REAL: *(double *)value_of(layer, member) = member->fallback; break;
    case MEMBER_FLAG: *(bool *)value_of(layer, member) = member->fallback != 0; break;
    case MEMBER_VARIANT: layer->kind = member->variants[0].kind; break;
    case MEMBER_KERNEL: break; /* always required */
    case MEMBER_LAYERS:
    case MEMBER_COLUMNS: break; /* default: none */
    }
}

static void read_member(struct layer_spec *layer, struct json_node node,
                        const struct layer_member *member)
{
    struct json_range range = {member->low, member->high, false, member->high_open};

    if (member->optional && !json_present(node)) {
        take_fallback(layer, member);
        return;
    }
    switch (member->kind) {
    case MEMBER_COUNT:
        *(uint32_t *)value_of(layer, member) = read_count(node, member);
        break;
    case MEMBER_REAL:
        *(double *)value_of(layer, member) = json_read_real(node, range);
        break;
    case MEMBER_FLAG: *(bool *)value_of(layer, member) = json_read_flag(node); break;
    case MEMBER_KERNEL: read_kernel(layer, node, member); break;
    case MEMBER_VARIANT: read_variant(layer, node, member); break;
    case MEMBER_LAYERS: /* read by read_branches */
    case MEMBER_COLUMNS: /* read by read_columns */ break;
    }
}

/* A NULL-ended list of names that begins with "type". */
struct names {
    const char *list[NAMES_MAX];
    size_t count;
};

static void add_members(struct names *names, const struct layer_kind *kind)
{
    for (size_t m = 0; m < kind->member_count; m++) {
        CHECK(names->count + 1 < NAMES_MAX);
        names->list[names->count++] = kind->members[m].name;
    }
}

/* Returns whether a request may use the kind's name as a "type". */
static bool is_type(const struct layer_kind *kind)
{
    return kind->type == NULL;
}

static void refuse_type(struct json_node type, const char *text)
{
    char names[NAMES_SIZE];
    const char *because = NULL;

    layer_names(names, sizeof names, is_type, "or");
    for (size_t k = 0; layer_kinds[k] != NULL; k++)
        if (layer_kinds[k]->stands_in_for != NULL &&
            strcmp(layer_kinds[k]->stands_in_for, text) == 0)
            because = layer_kinds[k]->stands_in_because;
    json_refuse(type, "must be %s%s%s", names, because != NULL ? ": " : "",
                because != NULL ? because : "");
}

/* Returns false if the layer was refused. */
static bool read_layer(struct layer_spec *layer, struct json_node node)
{
    struct json_node type = json_member(&node, "type");
    struct names all = {.list = {"type"}, .count = 1}, own = all;

    for (size_t k = 0; layer_kinds[k] != NULL; k++)
        if (is_type(layer_kinds[k]))
            add_members(&all, layer_kinds[k]);
    json_read_object(node, all.list);
    const char *text = json_read_text(type);
    const struct layer_kind *kind = layer_find(text);
    if (kind == NULL || !is_type(kind)) {
        refuse_type(type, text);
        return false;
    }
    layer->kind = kind;
    add_members(&own, kind);
    json_read_object(node, own.list);
    for (size_t m = 0; m < kind->member_count; m++)
        read_member(layer, json_member(&node, kind->members[m].name),
                    &kind->members[m]);
    return true;
}

static void read_list(struct model_spec *model, struct json_node list, size_t least,
                      unsigned depth);

/* Reads branches. Their layers follow the layer itself, branch by branch. */
static void read_branches(struct model_spec *model, struct layer_spec *layer,
                          const struct json_node *node, unsigned depth)
{
    const struct layer_kind *kind = layer->kind;

    for (size_t m = 0; m < kind->member_count; m++) {
        const struct layer_member *member = &kind->members[m];
        struct json_node list = json_member(node, member->name);
        size_t first = model->layer_count;
        if (member->kind != MEMBER_LAYERS)
            continue;
        if (depth == LIMIT_NESTING) {
            json_refuse(*node, "is nested deeper than %d", LIMIT_NESTING);
            return;
        }
        if (!member->optional || json_present(list))
            read_list(model, list, (size_t)member->low, depth + 1);
        *(uint32_t *)value_of(layer, member) = (uint32_t)(model->layer_count - first);
    }
}

/* Reads the columns of a layer that has some, which the model holds. */
static void read_columns(struct model_spec *model, const struct layer_spec *layer,
                         const struct json_node *node)
{
    const struct layer_kind *kind = layer->kind;
    for (size_t m = 0; m < kind->member_count; m++) {
        if (kind->members[m].kind != MEMBER_COLUMNS)
            continue;
        for (const struct layer_spec *k = model->layers; k < layer; k++)
            if (k->kind == kind) {
                json_refuse(*node, "a model has only one layer %s", kind->name);
                return;
            }
        embed_request_read(&model->embedded, json_member(node, kind->members[m].name));
    }
}

static void read_list(struct model_spec *model, struct json_node list, size_t least,
                      unsigned depth)
{
    size_t count = json_read_array(list, least, LIMIT_LAYERS);
    for (size_t i = 0; i < count; i++) {
        struct json_node node = json_element(&list, i);
        if (model->layer_count == LIMIT_LAYERS) {
            json_refuse(node, "the model has more than %d layers", LIMIT_LAYERS);
            return;
        }
        struct layer_spec *layer = &model->layers[model->layer_count++];
        if (!read_layer(layer, node))
            continue;
        read_columns(model, layer, &node);
        read_branches(model, layer, &node, depth);
    }
}

void layer_request_read(struct model_spec *model, struct json_node layers)
{
    model->layers = calloc(LIMIT_LAYERS, sizeof *model->layers);
    CHECK(model->layers != NULL);
    read_list(model, layers, 1, 0);
}

/* ---- writing ---- */

static void write_kernel(struct json_writer *writer, const char *name,
                         const struct layer_spec *layer)
{
    if (layer->kernel_height == layer->kernel_width) {
        json_write_count(writer, name, layer->kernel_height);
        return;
    }
    json_write_array(writer, name);
    json_write_count(writer, NULL, layer->kernel_height);
    json_write_count(writer, NULL, layer->kernel_width);
    json_write_array_end(writer);
}

static const char *word_of(const struct layer_spec *layer,
                           const struct layer_variant *variants)
{
    while (variants->kind != layer->kind)
        variants++;
    return variants->word;
}

static void write_list(struct json_writer *writer, const char *name,
                       const struct model_spec *model, const struct layer_spec *layers,
                       size_t count);

/* Writes one member, and returns where the layers of the next branch begin. */
static const struct layer_spec *write_member(struct json_writer *writer,
                                             const struct model_spec *model,
                                             const struct layer_spec *layer,
                                             const struct layer_member *member,
                                             const struct layer_spec *branch)
{
    const void *value = value_in(layer, member);
    const char *name = member->name;

    switch (member->kind) {
    case MEMBER_COUNT: json_write_count(writer, name, *(const uint32_t *)value); break;
    case MEMBER_REAL: json_write_real(writer, name, *(const double *)value); break;
    case MEMBER_FLAG: json_write_flag(writer, name, *(const bool *)value); break;
    case MEMBER_KERNEL: write_kernel(writer, name, layer); break;
    case MEMBER_VARIANT:
        json_write_text(writer, name, word_of(layer, member->variants));
        break;
    case MEMBER_LAYERS:
        write_list(writer, name, model, branch, *(const uint32_t *)value);
        branch += *(const uint32_t *)value;
        break;
    case MEMBER_COLUMNS: embed_request_write(writer, name, &model->embedded); break;
    }
    return branch;
}

static void write_list(struct json_writer *writer, const char *name,
                       const struct model_spec *model, const struct layer_spec *layers,
                       size_t count)
{
    json_write_array(writer, name);
    for (size_t i = 0; i < count; i += layer_spec_extent(&layers[i])) {
        const struct layer_spec *layer = &layers[i], *branch = layer + 1;
        const struct layer_kind *kind = layer->kind;
        json_write_object(writer, NULL);
        json_write_text(writer, "type", kind->type != NULL ? kind->type : kind->name);
        for (size_t m = 0; m < kind->member_count; m++)
            branch = write_member(writer, model, layer, &kind->members[m], branch);
        json_write_object_end(writer);
    }
    json_write_array_end(writer);
}

void layer_request_write(struct json_writer *writer, const struct model_spec *model)
{
    write_list(writer, "layers", model, model->layers, model->layer_count);
}
