#include "engine/onnx_signature.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/data/encode.h"

static const char *apply(struct onnx_graph *graph, const char *op_type, const char *a,
                         const char *b)
{
    return onnx_node(graph, op_type, (struct onnx_inputs){{a, b}});
}

static const char *by_double(struct onnx_graph *graph, const char *op_type,
                             const char *name, double number)
{
    return apply(graph, op_type, name, onnx_doubles(graph, &number, 0));
}

static void *array(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    CHECK(memory != NULL);
    return memory;
}

/* ---- numbers ---- */

struct ranges { /* of the numeric columns, or one for all numbers */
    double *low, *high;
    size_t count;
};

/* Clips and maps to [-1, 1], as encode.c's map_range does. */
static const char *map_ranges(struct onnx_graph *graph, const char *name,
                              const struct ranges *ranges)
{
    size_t count = ranges->count;
    double *width = array(count, sizeof *width);

    for (size_t i = 0; i < count; i++)
        width[i] =
            ranges->high[i] - ranges->low[i]; /* finite, as ranges are declared */
    const char *low = onnx_doubles(graph, ranges->low, count);
    name = apply(graph, "Max", name, low);
    name = apply(graph, "Min", name, onnx_doubles(graph, ranges->high, count));
    name = apply(graph, "Sub", name, low);
    name = apply(graph, "Div", name, onnx_doubles(graph, width, count));
    name = by_double(graph, "Sub", by_double(graph, "Mul", name, 2), 1);
    free(width);
    return onnx_cast(graph, name, ONNX_FLOAT);
}

static const char *indexed(struct onnx_graph *graph, const struct schema *schema)
{
    double low = schema->low, high = schema->high;
    const struct ranges range = {&low, &high, 1};
    enum onnx_type type = schema->has_range ? ONNX_DOUBLE : ONNX_FLOAT;
    const char *inputs =
        onnx_graph_input(graph, "inputs", type, schema_features(schema));
    return schema->has_range ? map_ranges(graph, inputs, &range) : inputs;
}

static const char *shaped(struct onnx_graph *graph, const struct schema *schema)
{
    const float scale = (float)schema->scale;
    const char *inputs =
        onnx_graph_input(graph, "inputs", ONNX_FLOAT, schema_features(schema));
    return apply(graph, "Div", inputs, onnx_floats(graph, &scale, 0));
}

/* ---- columns ---- */

/* The inputs for the columns of a schema, and the order of their features. */
struct columns {
    size_t numeric, categorical;
    struct ranges ranges; /* (numeric) */
    double *fallbacks;    /* (numeric) NaN: none */
    bool any_fallback;
    const char **parts; /* the features of the numbers, then of each word */
    size_t part_count;
    int64_t *order; /* (features) index of each feature in the parts */
};

static void take_number(struct columns *columns, const struct column *column)
{
    size_t place = columns->numeric++;

    columns->ranges.low[place] = column->low;
    columns->ranges.high[place] = column->high;
    columns->ranges.count = columns->numeric;
    columns->fallbacks[place] = (double)NAN;
    if (column->fallback == NULL)
        return;
    CHECK(encode_number(&columns->fallbacks[place], column->fallback,
                        strlen(column->fallback)) == ST_OK);
    columns->any_fallback = true;
}

static const char *numbers(struct onnx_graph *graph, const struct columns *columns)
{
    size_t count = columns->numeric;
    const char *given = onnx_graph_input(graph, "numbers", ONNX_DOUBLE, count);

    if (columns->any_fallback) {
        const char *empty = onnx_node(graph, "IsNaN", (struct onnx_inputs){{given}});
        const char *fallbacks = onnx_doubles(graph, columns->fallbacks, count);
        given =
            onnx_node(graph, "Where", (struct onnx_inputs){{empty, fallbacks, given}});
    }
    return map_ranges(graph, given, &columns->ranges);
}

static size_t place_of(const struct column *column, const char *value)
{
    size_t place = 0;
    while (place < column->value_count && strcmp(column->values[place], value) != 0)
        place++;
    return place;
}

/* The index of each word among the declared values; for the empty word, the index of
 * the default, if there is one. */
static const char *places(struct onnx_graph *graph, const struct column *column,
                          const char *cells)
{
    size_t count = column->value_count;
    const char **keys = array(count + 1, sizeof *keys);
    int64_t *values = array(count + 1, sizeof *values);

    for (size_t i = 0; i < count; i++) {
        keys[i] = column->values[i];
        values[i] = (int64_t)i;
    }
    if (column->fallback != NULL && place_of(column, "") == count) {
        keys[count] = "";
        values[count++] = (int64_t)place_of(column, column->fallback);
    }
    const char *found =
        onnx_ml_node(graph, "LabelEncoder", (struct onnx_inputs){{cells}});
    onnx_attribute_strings(graph, "keys_strings", keys, count);
    onnx_attribute_ints(graph, "values_int64s", values, count);
    onnx_attribute_int(graph, "default_int64", -1);
    free(values);
    free(keys);
    return found;
}

/* Converts column number place of the words to one feature for each declared value. */
static const char *one_hot(struct onnx_graph *graph, const struct column *column,
                           const char *words, size_t place)
{
    static const int64_t flat[] = {0, -1};
    const int64_t at = (int64_t)place;
    int64_t *values = array(column->value_count, sizeof *values);
    const char *cells = apply(graph, "Gather", words, onnx_int64s(graph, &at, 1));

    onnx_attribute_int(graph, "axis", 1);
    for (size_t i = 0; i < column->value_count; i++)
        values[i] = (int64_t)i;
    const char *found = places(graph, column, cells);
    const char *features =
        onnx_ml_node(graph, "OneHotEncoder", (struct onnx_inputs){{found}});
    onnx_attribute_ints(graph, "cats_int64s", values, column->value_count);
    onnx_attribute_int(graph, "zeros", 0); /* other words are errors */
    free(values);
    return onnx_reshape(graph, features, flat, 2);
}

static void add_words(struct onnx_graph *graph, struct columns *columns,
                      const struct schema *schema)
{
    const char *words =
        onnx_graph_input(graph, "words", ONNX_STRING, columns->categorical);
    for (size_t i = 0, place = 0; i < schema->column_count; i++)
        if (schema->columns[i].kind == COLUMN_CATEGORICAL)
            columns->parts[columns->part_count++] =
                one_hot(graph, &schema->columns[i], words, place++);
}

/* Numbers come first among the parts. */
static void find_order(struct columns *columns, const struct schema *schema)
{
    int64_t number = 0, word = (int64_t)columns->numeric;
    size_t feature = 0;

    for (size_t i = 0; i < schema->column_count; i++) {
        const struct column *column = &schema->columns[i];
        if (column->kind == COLUMN_NUMERIC)
            columns->order[feature++] = number++;
        for (size_t v = 0;
             column->kind == COLUMN_CATEGORICAL && v < column->value_count; v++)
            columns->order[feature++] = word++;
    }
}

static const char *joined(struct onnx_graph *graph, const struct columns *columns,
                          size_t features)
{
    const char *all = columns->parts[0];

    if (columns->part_count == 1)
        return all;
    all = onnx_node_of_many(graph, "Concat", columns->parts, columns->part_count);
    onnx_attribute_int(graph, "axis", 1);
    all = apply(graph, "Gather", all, onnx_int64s(graph, columns->order, features));
    onnx_attribute_int(graph, "axis", 1);
    return all;
}

static const char *in_columns(struct onnx_graph *graph, const struct schema *schema)
{
    size_t count = schema->column_count, features = schema_features(schema);
    struct columns columns = {
        .ranges = {array(count, sizeof(double)), array(count, sizeof(double)), 0},
        .fallbacks = array(count, sizeof(double)),
        .parts = array(count, sizeof *columns.parts),
        .order = array(features, sizeof *columns.order)};

    for (size_t i = 0; i < count; i++) {
        if (schema->columns[i].kind == COLUMN_NUMERIC)
            take_number(&columns, &schema->columns[i]);
        columns.categorical += schema->columns[i].kind == COLUMN_CATEGORICAL;
    }
    if (columns.numeric > 0)
        columns.parts[columns.part_count++] = numbers(graph, &columns);
    if (columns.categorical > 0)
        add_words(graph, &columns, schema);
    find_order(&columns, schema);
    const char *all = joined(graph, &columns, features);
    free(columns.ranges.low);
    free(columns.ranges.high);
    free(columns.fallbacks);
    free(columns.parts);
    free(columns.order);
    return all;
}

void onnx_signature_inputs(struct onnx_graph *graph, const struct schema *schema)
{
    const char *features = NULL;

    switch (schema->reader->form) {
    case FORM_SHAPED: features = shaped(graph, schema); break;
    case FORM_INDEXED: features = indexed(graph, schema); break;
    case FORM_COLUMNS: features = in_columns(graph, schema); break;
    }
    onnx_give(graph, 0, features, onnx_vector);
}

/* ---- outputs ---- */

/* The probabilities of both classes, from the only output. */
static const char *both(struct onnx_graph *graph, const char *z)
{
    const char *inverse = onnx_node(graph, "Neg", (struct onnx_inputs){{z}});
    const char *no = onnx_node(graph, "Sigmoid", (struct onnx_inputs){{inverse}});
    const char *yes = onnx_node(graph, "Sigmoid", (struct onnx_inputs){{z}});
    const char *all = apply(graph, "Concat", no, yes);
    onnx_attribute_int(graph, "axis", 1);
    return all;
}

static void add_classes(struct onnx_graph *graph, const struct schema *schema,
                        const char *probabilities)
{
    onnx_graph_output(graph, "probabilities", probabilities, ONNX_FLOAT,
                      schema->classes);
    const char *best =
        onnx_node(graph, "ArgMax", (struct onnx_inputs){{probabilities}});
    onnx_attribute_int(graph, "axis", 1);
    onnx_attribute_int(graph, "keepdims", 0);
    onnx_graph_output(graph, "class", best, ONNX_INT64, 0);
}

/* The mapped target in the label's unit, as schema_target computes it. */
static void add_value(struct onnx_graph *graph, const struct schema *schema,
                      const char *z)
{
    static const int64_t flat[] = {-1};
    double low, high, one = 1;

    CHECK(schema_target_range(schema, &low, &high));
    z = onnx_cast(graph, onnx_reshape(graph, z, flat, 1), ONNX_DOUBLE);
    const char *share = by_double(graph, "Mul", by_double(graph, "Add", z, one), 0.5);
    const char *rest = apply(graph, "Sub", onnx_doubles(graph, &one, 0), share);
    onnx_graph_output(graph, "value",
                      apply(graph, "Add", by_double(graph, "Mul", rest, low),
                            by_double(graph, "Mul", share, high)),
                      ONNX_DOUBLE, 0);
}

void onnx_signature_outputs(struct onnx_graph *graph, const struct schema *schema,
                            enum loss loss, const char *outputs)
{
    switch (loss) {
    case LOSS_SOFTMAX_CROSS_ENTROPY:
        add_classes(graph, schema,
                    onnx_node(graph, "Softmax", (struct onnx_inputs){{outputs}}));
        break;
    case LOSS_LOGISTIC: add_classes(graph, schema, both(graph, outputs)); break;
    case LOSS_SQUARED:
    case LOSS_HUBER: add_value(graph, schema, outputs); break;
    }
}
