#include "engine/onnx/onnx_graph.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/onnx/onnx_messages.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "constants are written as they lie");

struct named_value { /* a value's name in the graph */
    const char *name;
    struct onnx_image image;
};

static const char batch[] = "batch"; /* name of the first dimension */

void *onnx_list_grow(void *list_take, size_t *count, size_t size)
{
    void *list = list_take;

    if ((*count & (*count - 1)) == 0) /* 0 and powers of 2: it is full */
        list = realloc(list, size * (*count == 0 ? 1 : 2 * *count));
    CHECK(list != NULL);
    ++*count;
    return list;
}

char *onnx_text(const char *text)
{
    char *copy = strdup(text);
    CHECK(copy != NULL);
    return copy;
}

static void *fresh(size_t size)
{
    void *memory = calloc(1, size);
    CHECK(memory != NULL);
    return memory;
}

/* A copy of data (size), which may be empty. */
static ProtobufCBinaryData bytes_of(const void *data, size_t size)
{
    ProtobufCBinaryData bytes = {.len = size, .data = fresh(size + 1)};
    if (size > 0)
        memcpy(bytes.data, data, size);
    return bytes;
}

struct onnx_graph *onnx_graph_create(size_t value_count, size_t tensor_count)
{
    struct onnx_graph *graph = fresh(sizeof *graph);

    graph->message = fresh(sizeof *graph->message);
    onnx__graph_proto__init(graph->message);
    graph->message->name = onnx_text("epsilond");
    graph->value_count = value_count;
    graph->tensor_count = tensor_count;
    graph->values = fresh((value_count + 1) * sizeof *graph->values);
    graph->marks = fresh(tensor_count + 1);
    return graph;
}

size_t onnx_graph_stored(const struct onnx_graph *graph, const uint8_t *data)
{
    bool ours = data >= graph->marks && data < graph->marks + graph->tensor_count;
    return ours ? (size_t)(data - graph->marks) : graph->tensor_count;
}

void onnx_graph_destroy(struct onnx_graph *graph)
{
    if (graph == NULL)
        return;
    for (size_t i = 0; i < graph->message->n_initializer; i++) {
        ProtobufCBinaryData *data = &graph->message->initializer[i]->raw_data;
        if (onnx_graph_stored(graph, data->data) < graph->tensor_count)
            *data = (ProtobufCBinaryData){0};
    }
    onnx__graph_proto__free_unpacked(graph->message, NULL);
    free(graph->values);
    free(graph->marks);
    free(graph);
}

/* ---- nodes ---- */

/* A unique name: the names of stored tensors, inputs and outputs do not have the form
 * of a letter and a number. */
static char *fresh_name(struct onnx_graph *graph, char letter)
{
    char text[32];
    snprintf(text, sizeof text, "%c%zu", letter, graph->names++);
    return onnx_text(text);
}

static char **text_list(const char *const *texts, size_t count)
{
    char **list = fresh((count + 1) * sizeof *list);
    for (size_t i = 0; i < count; i++)
        list[i] = onnx_text(texts[i]);
    return list;
}

const char *onnx_node_of_many(struct onnx_graph *graph, const char *op_type,
                              const char *const *inputs, size_t count)
{
    Onnx__GraphProto *message = graph->message;
    Onnx__NodeProto *node = fresh(sizeof *node);

    onnx__node_proto__init(node);
    node->op_type = onnx_text(op_type);
    node->n_input = count;
    node->input = text_list(inputs, count);
    node->n_output = 1;
    node->output = fresh(sizeof *node->output);
    node->output[0] = fresh_name(graph, 'v');
    node->name = onnx_text(node->output[0]);
    message->node = onnx_list_grow(message->node, &message->n_node, sizeof(void *));
    message->node[message->n_node - 1] = node;
    return node->output[0];
}

const char *onnx_node(struct onnx_graph *graph, const char *op_type,
                      struct onnx_inputs inputs)
{
    size_t count = 0;
    while (count < ONNX_INPUTS_MAX && inputs.names[count] != NULL)
        count++;
    return onnx_node_of_many(graph, op_type, inputs.names, count);
}

const char *onnx_ml_node(struct onnx_graph *graph, const char *op_type,
                         struct onnx_inputs inputs)
{
    const char *name = onnx_node(graph, op_type, inputs);
    Onnx__GraphProto *message = graph->message;
    message->node[message->n_node - 1]->domain = onnx_text("ai.onnx.ml");
    return name;
}

static Onnx__AttributeProto *attribute(struct onnx_graph *graph, const char *name,
                                       Onnx__AttributeProto__AttributeType type)
{
    Onnx__NodeProto *node = graph->message->node[graph->message->n_node - 1];
    Onnx__AttributeProto *added = fresh(sizeof *added);

    onnx__attribute_proto__init(added);
    added->name = onnx_text(name);
    added->has_type = 1;
    added->type = type;
    node->attribute =
        onnx_list_grow(node->attribute, &node->n_attribute, sizeof(void *));
    node->attribute[node->n_attribute - 1] = added;
    return added;
}

void onnx_attribute_int(struct onnx_graph *graph, const char *name, int64_t value)
{
    Onnx__AttributeProto *added =
        attribute(graph, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);
    added->has_i = 1;
    added->i = value;
}

void onnx_attribute_float(struct onnx_graph *graph, const char *name, float value)
{
    Onnx__AttributeProto *added =
        attribute(graph, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);
    added->has_f = 1;
    added->f = value;
}

void onnx_attribute_ints(struct onnx_graph *graph, const char *name,
                         const int64_t *values, size_t count)
{
    Onnx__AttributeProto *added =
        attribute(graph, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);
    added->n_ints = count;
    added->ints = fresh((count + 1) * sizeof *added->ints);
    memcpy(added->ints, values, count * sizeof *values);
}

void onnx_attribute_floats(struct onnx_graph *graph, const char *name,
                           const float *values, size_t count)
{
    Onnx__AttributeProto *added =
        attribute(graph, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS);
    added->n_floats = count;
    added->floats = fresh((count + 1) * sizeof *added->floats);
    memcpy(added->floats, values, count * sizeof *values);
}

void onnx_attribute_strings(struct onnx_graph *graph, const char *name,
                            const char *const *values, size_t count)
{
    Onnx__AttributeProto *added =
        attribute(graph, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS);
    added->n_strings = count;
    added->strings = fresh((count + 1) * sizeof *added->strings);
    for (size_t i = 0; i < count; i++)
        added->strings[i] = bytes_of(values[i], strlen(values[i]));
}

/* ---- constants ---- */

static Onnx__TensorProto *initializer(struct onnx_graph *graph, char *name_take,
                                      enum onnx_type type)
{
    Onnx__GraphProto *message = graph->message;
    Onnx__TensorProto *tensor = fresh(sizeof *tensor);

    onnx__tensor_proto__init(tensor);
    tensor->name = name_take;
    tensor->has_data_type = 1;
    tensor->data_type = (int32_t)type;
    tensor->has_raw_data = 1;
    message->initializer =
        onnx_list_grow(message->initializer, &message->n_initializer, sizeof(void *));
    message->initializer[message->n_initializer - 1] = tensor;
    return tensor;
}

struct constant {
    enum onnx_type type;
    size_t size; /* bytes of a number */
};

static const char *constant(struct onnx_graph *graph, struct constant of,
                            const void *values, size_t count)
{
    Onnx__TensorProto *tensor = initializer(graph, fresh_name(graph, 'c'), of.type);

    tensor->n_dims = count > 0;
    tensor->dims = fresh(sizeof *tensor->dims);
    tensor->dims[0] = (int64_t)count;
    tensor->raw_data = bytes_of(values, (count > 0 ? count : 1) * of.size);
    return tensor->name;
}

const char *onnx_floats(struct onnx_graph *graph, const float *values, size_t count)
{
    return constant(graph, (struct constant){ONNX_FLOAT, sizeof *values}, values,
                    count);
}

const char *onnx_doubles(struct onnx_graph *graph, const double *values, size_t count)
{
    return constant(graph, (struct constant){ONNX_DOUBLE, sizeof *values}, values,
                    count);
}

const char *onnx_int64s(struct onnx_graph *graph, const int64_t *values, size_t count)
{
    return constant(graph, (struct constant){ONNX_INT64, sizeof *values}, values,
                    count);
}

const char *onnx_repeated(struct onnx_graph *graph, float value, size_t count)
{
    float *values = fresh((count + 1) * sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = value;
    const char *name = onnx_floats(graph, values, count);
    free(values);
    return name;
}

const char *onnx_stored(struct onnx_graph *graph, size_t place, const char *name,
                        struct onnx_dimensions dimensions)
{
    CHECK(place < graph->tensor_count && graph->marks[place] == 0);
    graph->marks[place] = 1;
    Onnx__TensorProto *tensor = initializer(graph, onnx_text(name), ONNX_FLOAT);
    size_t count = 1;

    tensor->n_dims = dimensions.rank;
    tensor->dims = fresh((dimensions.rank + 1) * sizeof *tensor->dims);
    for (size_t i = 0; i < dimensions.rank; i++) {
        tensor->dims[i] = (int64_t)dimensions.sizes[i];
        count *= (size_t)dimensions.sizes[i];
    }
    tensor->raw_data = (ProtobufCBinaryData){.len = count * sizeof(float),
                                             .data = graph->marks + place};
    return tensor->name;
}

/* ---- values ---- */

static struct named_value *named(const struct onnx_graph *graph, size_t value)
{
    CHECK(value < graph->value_count);
    return &graph->values[value];
}

const char *onnx_value(const struct onnx_graph *graph, size_t value)
{
    CHECK(named(graph, value)->name != NULL);
    return named(graph, value)->name;
}

struct onnx_image onnx_value_image(const struct onnx_graph *graph, size_t value)
{
    return named(graph, value)->image;
}

const char *onnx_reshape(struct onnx_graph *graph, const char *name,
                         const int64_t *shape, size_t rank)
{
    return onnx_node(graph, "Reshape",
                     (struct onnx_inputs){{name, onnx_int64s(graph, shape, rank)}});
}

const char *onnx_shaped(struct onnx_graph *graph, const char *name,
                        struct onnx_image image)
{
    const int64_t vector[] = {0, -1};
    const int64_t shape[] = {0, (int64_t)image.channels, (int64_t)image.height,
                             (int64_t)image.width};
    return image.channels == 0 ? onnx_reshape(graph, name, vector, 2)
                               : onnx_reshape(graph, name, shape, 4);
}

const char *onnx_value_as(struct onnx_graph *graph, size_t value,
                          struct onnx_image image)
{
    const struct onnx_image has = named(graph, value)->image;
    const char *name = onnx_value(graph, value);
    bool same = has.channels == image.channels && has.height == image.height &&
                has.width == image.width;
    return same ? name : onnx_shaped(graph, name, image);
}

void onnx_give(struct onnx_graph *graph, size_t value, const char *name,
               struct onnx_image image)
{
    *named(graph, value) = (struct named_value){name, image};
}

void onnx_give_like(struct onnx_graph *graph, size_t value, const char *name,
                    size_t other)
{
    onnx_give(graph, value, name, named(graph, other)->image);
}

/* ---- ends ---- */

static void add_dimension(Onnx__TensorShapeProto *shape, const char *any, size_t size)
{
    Onnx__TensorShapeProto__Dimension *dimension = fresh(sizeof *dimension);

    onnx__tensor_shape_proto__dimension__init(dimension);
    dimension->dim_param = any != NULL ? onnx_text(any) : NULL;
    dimension->has_dim_value = any == NULL;
    dimension->dim_value = (int64_t)size;
    shape->dim = onnx_list_grow(shape->dim, &shape->n_dim, sizeof(void *));
    shape->dim[shape->n_dim - 1] = dimension;
}

static Onnx__ValueInfoProto *end_of(const char *name, enum onnx_type type, size_t width)
{
    Onnx__ValueInfoProto *end = fresh(sizeof *end);

    onnx__value_info_proto__init(end);
    end->name = onnx_text(name);
    end->type = fresh(sizeof *end->type);
    onnx__type_proto__init(end->type);
    end->type->tensor_type = fresh(sizeof *end->type->tensor_type);
    onnx__type_proto__tensor__init(end->type->tensor_type);
    end->type->tensor_type->has_elem_type = 1;
    end->type->tensor_type->elem_type = (int32_t)type;
    end->type->tensor_type->shape = fresh(sizeof *end->type->tensor_type->shape);
    onnx__tensor_shape_proto__init(end->type->tensor_type->shape);
    add_dimension(end->type->tensor_type->shape, batch, 0);
    if (width > 0)
        add_dimension(end->type->tensor_type->shape, NULL, width);
    return end;
}

const char *onnx_graph_input(struct onnx_graph *graph, const char *name,
                             enum onnx_type type, size_t width)
{
    Onnx__GraphProto *message = graph->message;
    message->input = onnx_list_grow(message->input, &message->n_input, sizeof(void *));
    message->input[message->n_input - 1] = end_of(name, type, width);
    return message->input[message->n_input - 1]->name;
}

/* The name of an output must be the name of a node's output, so a node is added that
 * has this name. */
void onnx_graph_output(struct onnx_graph *graph, const char *name, const char *from,
                       enum onnx_type type, size_t width)
{
    Onnx__GraphProto *message = graph->message;

    onnx_node(graph, "Identity", (struct onnx_inputs){{from}});
    Onnx__NodeProto *node = message->node[message->n_node - 1];
    free(node->output[0]);
    node->output[0] = onnx_text(name);
    message->output =
        onnx_list_grow(message->output, &message->n_output, sizeof(void *));
    message->output[message->n_output - 1] = end_of(name, type, width);
}

const char *onnx_cast(struct onnx_graph *graph, const char *name, enum onnx_type type)
{
    const char *cast = onnx_node(graph, "Cast", (struct onnx_inputs){{name}});
    onnx_attribute_int(graph, "to", (int64_t)type);
    return cast;
}
