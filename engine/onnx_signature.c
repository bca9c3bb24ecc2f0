#include "engine/onnx_signature.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/data/calendar.h"
#include "engine/data/encode.h"
#include "engine/onnx_calendar.h"

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
    const struct schema *schema;
    size_t numbers, words, buckets; /* columns of each input */
    const char *given;              /* the numbers; NaN: missing without default */
    const char *missing;            /* (batch, numbers) which of them are missing */
    const char **parts;             /* features: the numbers, then column by column */
    size_t part_count;
    /* (columns of the schema) where the features of a column are among all parts: its
     * first feature if it has one part for itself, and of a number those after it */
    int64_t *place;
    int64_t width; /* features in the parts so far */
};

static bool is_number(const struct column *column)
{
    return column_kind_form(column->kind) == COLUMN_FORM_NUMBER;
}

/* Returns the value that stands for a missing number: its default, or the middle of its
 * range if missing numbers have a feature. */
static double stand_in(const struct column *column)
{
    if (column->fallback != NULL)
        return encode_default(column);
    return column->missing_feature ? column->low / 2 + column->high / 2 : (double)NAN;
}

/* Replaces numbers that stand for missing cells by NaN: number k of each column. NaN
 * equals nothing. */
static const char *drop_missing(struct onnx_graph *graph, const struct columns *columns,
                                const char *given, size_t k, bool *any)
{
    static const double nan = (double)NAN;
    double *numbers = array(columns->numbers, sizeof *numbers);
    *any = false;
    for (size_t i = 0, place = 0; i < columns->schema->column_count; i++) {
        const struct column *column = &columns->schema->columns[i];
        struct encoder encoder;
        if (!is_number(column))
            continue;
        CHECK(encoder_init(&encoder, column, NULL) == ST_OK);
        bool has = k < encoder.missing_number_count;
        numbers[place++] = has ? encoder.missing_numbers[k] : nan;
        *any = *any || has;
        encoder_fini(&encoder);
    }
    if (*any) {
        const char *found = apply(graph, "Equal", given,
                                  onnx_doubles(graph, numbers, columns->numbers));
        given = onnx_node(
            graph, "Where",
            (struct onnx_inputs){{found, onnx_doubles(graph, &nan, 0), given}});
    }
    free(numbers);
    return given;
}

static void add_part(struct columns *columns, const char *part, size_t width)
{
    columns->parts[columns->part_count++] = part;
    columns->width += (int64_t)width;
}

/* Adds the input of all numbers, fills in those that are missing, and maps them. */
static void add_numbers(struct onnx_graph *graph, struct columns *columns)
{
    const size_t count = columns->numbers;
    struct ranges ranges = {array(count, sizeof(double)), array(count, sizeof(double)),
                            count};
    double *fill = array(count, sizeof *fill);
    const char *given = onnx_graph_input(graph, "numbers", ONNX_DOUBLE, count);
    bool any = true;
    for (size_t k = 0; any; k++)
        given = drop_missing(graph, columns, given, k, &any);
    any = false;
    for (size_t i = 0, place = 0; i < columns->schema->column_count; i++) {
        const struct column *column = &columns->schema->columns[i];
        if (!is_number(column))
            continue;
        ranges.low[place] = column->low;
        ranges.high[place] = column->high;
        fill[place] = stand_in(column);
        any = any || !isnan(fill[place]);
        columns->place[i] = (int64_t)place++;
    }
    columns->given = given;
    if (any) {
        const char *fills = onnx_doubles(graph, fill, count);
        columns->missing = onnx_node(graph, "IsNaN", (struct onnx_inputs){{given}});
        columns->given = onnx_node(
            graph, "Where", (struct onnx_inputs){{columns->missing, fills, given}});
    }
    add_part(columns, map_ranges(graph, columns->given, &ranges), count);
    free(ranges.low);
    free(ranges.high);
    free(fill);
}

/* Column number place of a (batch, columns) input, as (batch, 1). */
static const char *take(struct onnx_graph *graph, const char *input, size_t place)
{
    const int64_t at = (int64_t)place;
    const char *taken = apply(graph, "Gather", input, onnx_int64s(graph, &at, 1));
    onnx_attribute_int(graph, "axis", 1);
    return taken;
}

/* Converts indices from 0 to count - 1, (batch, 1), to one feature each. If others are
 * no error, their features are all 0. */
static const char *one_hot(struct onnx_graph *graph, const char *indices, size_t count,
                           bool others)
{
    static const int64_t flat[] = {0, -1};
    int64_t *values = array(count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = (int64_t)i;
    const char *features =
        onnx_ml_node(graph, "OneHotEncoder", (struct onnx_inputs){{indices}});
    onnx_attribute_ints(graph, "cats_int64s", values, count);
    onnx_attribute_int(graph, "zeros", others);
    free(values);
    return onnx_reshape(graph, features, flat, 2);
}

/* ---- words ---- */

/* The index of the feature that a missing word has; -1: it is an error. */
static int64_t missing_place(const struct column *column)
{
    if (column->missing_feature)
        return (int64_t)schema_column_features(column) - 1;
    for (size_t i = 0; column->fallback != NULL && i < column->value_count; i++)
        if (strcmp(column->values[i], column->fallback) == 0)
            return (int64_t)i;
    return -1;
}

/* The index of each word among the features of its column. */
static const char *word_places(struct onnx_graph *graph, const struct column *column,
                               const char *cells)
{
    size_t count = column->value_count;
    const char **keys = array(count + column->missing_count + 1, sizeof *keys);
    int64_t *values = array(count + column->missing_count + 1, sizeof *values);

    for (size_t i = 0; i < count; i++) {
        keys[i] = column->values[i];
        values[i] = (int64_t)i;
    }
    keys[count] = "";
    values[count++] = missing_place(column);
    for (size_t i = 0; i < column->missing_count; i++) {
        if (column->missing[i][0] == '\0')
            continue;
        keys[count] = column->missing[i];
        values[count++] = missing_place(column);
    }
    const char *found =
        onnx_ml_node(graph, "LabelEncoder", (struct onnx_inputs){{cells}});
    onnx_attribute_strings(graph, "keys_strings", keys, count);
    onnx_attribute_ints(graph, "values_int64s", values, count);
    onnx_attribute_int(graph, "default_int64",
                       column->other ? (int64_t)column->value_count : -1);
    free(values);
    free(keys);
    return found;
}

/* Adds the inputs of categorical columns, as texts, and of hashed ones, as indices. */
static void add_words(struct onnx_graph *graph, struct columns *columns)
{
    const char *words =
        columns->words == 0
            ? NULL
            : onnx_graph_input(graph, "words", ONNX_STRING, columns->words);
    const char *buckets =
        columns->buckets == 0
            ? NULL
            : onnx_graph_input(graph, "buckets", ONNX_INT64, columns->buckets);
    for (size_t i = 0, word = 0, bucket = 0; i < columns->schema->column_count; i++) {
        const struct column *column = &columns->schema->columns[i];
        if (column_kind_form(column->kind) != COLUMN_FORM_WORD)
            continue;
        const char *indices =
            column->kind == COLUMN_HASHED
                ? take(graph, buckets, bucket++)
                : word_places(graph, column, take(graph, words, word++));
        const size_t features = schema_column_features(column);
        columns->place[i] = columns->width;
        add_part(columns, one_hot(graph, indices, features, false), features);
    }
}

/* ---- dates ---- */

/* Adds the parts of a date whose number is `place` among the numbers. A missing date
 * without default has no part: its index is -1. */
static void add_parts(struct onnx_graph *graph, struct columns *columns,
                      const struct column *column, size_t place)
{
    const bool none = column->missing_feature && column->fallback == NULL;
    const char *days = take(graph, columns->given, place);
    days = by_double(graph, "Max", days, column->low);
    days = onnx_cast(graph, by_double(graph, "Min", days, column->high), ONNX_INT64);
    for (int i = 0; i < CALENDAR_PART_COUNT; i++) {
        static const int64_t minus_one = -1;
        const enum calendar_part part = (enum calendar_part)i;
        if ((column->parts >> i & 1) == 0)
            continue;
        const char *index = onnx_calendar_part(graph, part, days);
        if (none)
            index = onnx_node(
                graph, "Where",
                (struct onnx_inputs){{take(graph, columns->missing, place),
                                      onnx_int64s(graph, &minus_one, 0), index}});
        add_part(columns, one_hot(graph, index, calendar_part_size(part), none),
                 calendar_part_size(part));
    }
}

/* Adds the features of numbers other than the mapped number: parts of dates, and
 * whether the cell is missing. */
static void add_extras(struct onnx_graph *graph, struct columns *columns,
                       int64_t *extras)
{
    for (size_t i = 0, place = 0; i < columns->schema->column_count; i++) {
        const struct column *column = &columns->schema->columns[i];
        if (!is_number(column))
            continue;
        extras[i] = columns->width;
        if (column->parts != 0)
            add_parts(graph, columns, column, place);
        if (column->missing_feature)
            add_part(columns,
                     onnx_cast(graph, take(graph, columns->missing, place), ONNX_FLOAT),
                     1);
        place++;
    }
}

static void find_order(const struct columns *columns, const int64_t *extras,
                       int64_t *order)
{
    size_t feature = 0;
    for (size_t i = 0; i < columns->schema->column_count; i++) {
        const struct column *column = &columns->schema->columns[i];
        if (!schema_is_feature(column))
            continue;
        const uint32_t features = schema_column_features(column);
        for (uint32_t v = 0; v < features; v++)
            order[feature++] =
                is_number(column) && v > 0 ? extras[i] + v - 1 : columns->place[i] + v;
    }
}

static const char *joined(struct onnx_graph *graph, const struct columns *columns,
                          const int64_t *order, size_t features)
{
    const char *all = columns->parts[0];

    if (columns->part_count == 1)
        return all;
    all = onnx_node_of_many(graph, "Concat", columns->parts, columns->part_count);
    onnx_attribute_int(graph, "axis", 1);
    all = apply(graph, "Gather", all, onnx_int64s(graph, order, features));
    onnx_attribute_int(graph, "axis", 1);
    return all;
}

static const char *in_columns(struct onnx_graph *graph, const struct schema *schema)
{
    const size_t count = schema->column_count, features = schema_features(schema);
    struct columns columns = {
        .schema = schema,
        .parts = array(count * (CALENDAR_PART_COUNT + 2), sizeof *columns.parts),
        .place = array(count, sizeof *columns.place)};
    int64_t *extras = array(count, sizeof *extras);
    int64_t *order = array(features, sizeof *order);

    for (size_t i = 0; i < count; i++) {
        columns.numbers += is_number(&schema->columns[i]);
        columns.words += schema->columns[i].kind == COLUMN_CATEGORICAL;
        columns.buckets += schema->columns[i].kind == COLUMN_HASHED;
    }
    if (columns.numbers > 0)
        add_numbers(graph, &columns);
    add_words(graph, &columns);
    add_extras(graph, &columns, extras);
    find_order(&columns, extras, order);
    const char *all = joined(graph, &columns, order, features);
    free(columns.parts);
    free(columns.place);
    free(extras);
    free(order);
    return all;
}

/* ---- texts ---- */

/* Adds the inputs that tokenizers give. Ids where the mask is 0 become -1, as the
 * network has them behind the end. */
static const char *in_tokens(struct onnx_graph *graph, const struct schema *schema)
{
    const size_t length = schema_features(schema);
    const float end = -1;
    const char *ids = onnx_graph_input(graph, "input_ids", ONNX_INT64, length);
    const char *mask = onnx_graph_input(graph, "attention_mask", ONNX_INT64, length);
    mask = onnx_cast(graph, mask, ONNX_BOOL);
    ids = onnx_cast(graph, ids, ONNX_FLOAT);
    return onnx_node(graph, "Where",
                     (struct onnx_inputs){{mask, ids, onnx_floats(graph, &end, 0)}});
}

void onnx_signature_inputs(struct onnx_graph *graph, const struct schema *schema)
{
    const char *features = NULL;

    switch (schema->reader->form) {
    case FORM_SHAPED: features = shaped(graph, schema); break;
    case FORM_INDEXED: features = indexed(graph, schema); break;
    case FORM_COLUMNS:
        features = schema_text(schema) != NULL ? in_tokens(graph, schema)
                                               : in_columns(graph, schema);
        break;
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
