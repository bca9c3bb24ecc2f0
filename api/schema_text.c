#include "api/schema_text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json_reader.h"
#include "api/json_writer.h"
#include "api/limits.h"
#include "base/check.h"

_Static_assert((int)LIMIT_SHAPE == (int)SCHEMA_SHAPE_MAX,
               "the contract and the engine agree");

static const struct json_range any_real = {-INFINITY, INFINITY, false, false};

void schema_text_members(const char *members[SCHEMA_MEMBERS_MAX],
                         const char *const *head)
{
    static const char *const own[] = {"format",   "task",   "classes",
                                      "features", "header", "columns",
                                      "labels",   "target", NULL};
    size_t count = 0;
    while (*head != NULL)
        members[count++] = *head++;
    for (size_t i = 0; own[i] != NULL; i++)
        members[count++] = own[i];
    CHECK(count < SCHEMA_MEMBERS_MAX);
    members[count] = NULL;
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    CHECK(memory != NULL); /* bounded by the limit on bodies */
    return memory;
}

static char *duplicate(const char *text)
{
    char *copy = strdup(text);
    CHECK(copy != NULL);
    return copy;
}

static void refuse_present(const struct json_node *object, const char *name,
                           const char *reason)
{
    struct json_node node = json_member(object, name);
    if (json_present(node))
        json_refuse(node, "%s", reason);
}

/* [low, high] with low < high. */
static void read_range(double *low, double *high, struct json_node node)
{
    size_t refusals = json_refusals(node);
    json_read_array(node, 2, 2);
    *low = json_read_real(json_element(&node, 0), any_real);
    *high = json_read_real(json_element(&node, 1), any_real);
    if (json_refusals(node) == refusals && !(*low < *high && isfinite(*high - *low)))
        json_refuse(node, "must be [low, high] with low below high");
}

static void write_range(struct json_writer *writer, double low, double high)
{
    json_write_reals(writer, "range", (const double[]){low, high}, 2);
}

/* A text that a cell can hold: cells lose the blanks around them. */
static const char *read_cell_text(struct json_node node)
{
    const char *text = json_read_text(node);
    size_t size = strlen(text);
    if (size == 0 || isspace((unsigned char)text[0]) ||
        isspace((unsigned char)text[size - 1])) {
        json_refuse(node, "must not be empty, nor begin or end with a blank");
        return "";
    }
    return text;
}

/* Refuses a text that was seen before. One that was refused is "", and no text at all. */
static void remember(json_t *seen, struct json_node node, const char *text)
{
    if (text[0] == '\0')
        return;
    if (json_object_get(seen, text) != NULL)
        json_refuse(node, "stands here a second time");
    CHECK(json_object_set_new(seen, text, json_true()) == 0);
}

static void read_values(struct column *column, struct json_node node, size_t low)
{
    json_auto_t *seen = json_object();
    size_t count = json_read_array(node, low, LIMIT_CLASSES);
    if (count == 0)
        return;
    column->values = allocate(count, sizeof *column->values);
    for (; column->value_count < count; column->value_count++) {
        struct json_node element = json_element(&node, column->value_count);
        const char *text = read_cell_text(element);
        remember(seen, element, text);
        column->values[column->value_count] = duplicate(text);
    }
}

static bool holds_value(const struct column *column, const char *text)
{
    for (size_t i = 0; i < column->value_count; i++)
        if (strcmp(column->values[i], text) == 0)
            return true;
    return false;
}

/* What an empty cell stands for: a number, */
static void read_number_default(struct column *column, struct json_node node)
{
    char number[40];
    if (!json_present(node))
        return;
    snprintf(number, sizeof number, "%.17g", json_read_real(node, any_real));
    column->fallback = duplicate(number);
}

/* or one of the values, if all of these are known. */
static void read_value_default(struct column *column, struct json_node node, bool known)
{
    if (!json_present(node))
        return;
    const char *text = json_read_text(node);
    if (known && !holds_value(column, text))
        json_refuse(node, "must be one of the declared values");
    column->fallback = duplicate(text);
}

/* False: refused. */
static bool read_kind(enum column_kind *kind, struct json_node node)
{
    static const char *const names[] = {[COLUMN_NUMERIC] = "numeric",
                                        [COLUMN_CATEGORICAL] = "categorical",
                                        [COLUMN_LABEL] = "label",
                                        [COLUMN_IGNORED] = "ignored"};
    const char *text = json_read_text(node);
    for (int i = COLUMN_NUMERIC; i <= COLUMN_IGNORED; i++) {
        if (strcmp(names[i], text) == 0) {
            *kind = (enum column_kind)i;
            return true;
        }
    }
    json_refuse(node, "must be numeric, categorical, label or ignored");
    return false;
}

static void read_column(struct column *column, struct json_node node, enum task task)
{
    json_read_object(node, (const char *const[]){"name", "kind", "range", "values",
                                                 "default", NULL});
    column->name = duplicate(read_cell_text(json_member(&node, "name")));
    if (!read_kind(&column->kind, json_member(&node, "kind")))
        return;
    struct json_node fallback = json_member(&node, "default");
    size_t refusals = json_refusals(node);
    bool label = column->kind == COLUMN_LABEL;
    if (column->kind == COLUMN_CATEGORICAL || (label && task == TASK_CLASSIFICATION)) {
        refuse_present(&node, "range", "only a numeric column or target has a range");
        read_values(column, json_member(&node, "values"), label ? 2 : 1);
        read_value_default(column, fallback, json_refusals(node) == refusals);
    } else if (column->kind == COLUMN_NUMERIC || label) {
        refuse_present(&node, "values",
                       "only a categorical column or class has values");
        read_range(&column->low, &column->high, json_member(&node, "range"));
        read_number_default(column, fallback);
    } else {
        refuse_present(&node, "range", "an ignored column is not read");
        refuse_present(&node, "values", "an ignored column is not read");
        refuse_present(&node, "default", "an ignored column is not read");
    }
}

/* Exactly one label, at least one feature, not more than the limit. */
static void check_columns(const struct schema *schema, struct json_node columns)
{
    uint64_t features = 0, labels = 0;
    for (size_t i = 0; i < schema->column_count; i++) {
        const struct column *column = &schema->columns[i];
        labels += column->kind == COLUMN_LABEL;
        features += column->kind == COLUMN_NUMERIC;
        features += column->kind == COLUMN_CATEGORICAL ? column->value_count : 0;
    }
    if (labels != 1)
        json_refuse(columns, "must have exactly one label");
    if (features < 1 || features > LIMIT_FEATURES)
        json_refuse(columns, "must make 1 to %d features", LIMIT_FEATURES);
}

static const struct column *label_column(const struct schema *schema)
{
    for (size_t i = 0; i < schema->column_count; i++)
        if (schema->columns[i].kind == COLUMN_LABEL)
            return &schema->columns[i];
    return NULL;
}

/* They are counted from the label's values, where these are known. */
static void read_csv_classes(struct schema *schema, struct json_node node, bool known)
{
    uint64_t classes = json_present(node) ? json_read_count(node, 2, LIMIT_CLASSES) : 0;
    if (!known)
        return;
    schema->classes = (uint32_t)label_column(schema)->value_count;
    if (json_present(node) && classes != schema->classes)
        json_refuse(node, "must be the number of the label's values, %u",
                    schema->classes);
}

static void read_csv(struct schema *schema, const struct json_node *object)
{
    struct json_node header = json_member(object, "header");
    struct json_node columns = json_member(object, "columns");
    json_auto_t *names = json_object();
    refuse_present(object, "features", "csv has columns");
    refuse_present(object, "labels", "csv has a label column with values");
    refuse_present(object, "target", "csv has a label column with a range");
    schema->header = json_present(header) && json_read_flag(header);
    size_t refusals = json_refusals(*object);
    size_t count = json_read_array(columns, 2, LIMIT_COLUMNS);
    if (count > 0)
        schema->columns = allocate(count, sizeof *schema->columns);
    for (; schema->column_count < count; schema->column_count++) {
        struct json_node node = json_element(&columns, schema->column_count);
        struct column *column = &schema->columns[schema->column_count];
        read_column(column, node, schema->task);
        remember(names, json_member(&node, "name"), column->name);
    }
    if (json_refusals(*object) == refusals)
        check_columns(schema, columns);
    if (schema->task == TASK_CLASSIFICATION)
        read_csv_classes(schema, json_member(object, "classes"),
                         json_refusals(*object) == refusals);
}

static void read_shape(struct schema *schema, struct json_node shape)
{
    uint64_t product = 1;
    schema->shape_count = json_read_array(shape, 1, LIMIT_SHAPE);
    for (size_t i = 0; i < schema->shape_count; i++) {
        uint64_t side = json_read_count(json_element(&shape, i), 1, LIMIT_FEATURES);
        schema->shape[i] = (uint32_t)side;
        product *= side;
        if (product > LIMIT_FEATURES) {
            json_refuse(shape, "must make at most %d features", LIMIT_FEATURES);
            return;
        }
    }
}

static double read_scale(struct json_node scale)
{
    return json_read_real(
        scale, (struct json_range){LIMIT_SCALE_MIN, LIMIT_SCALE_MAX, false, false});
}

static void read_array_features(struct schema *schema, struct json_node features)
{
    json_read_object(features, (const char *const[]){"shape", "scale", NULL});
    read_shape(schema, json_member(&features, "shape"));
    schema->scale = read_scale(json_member(&features, "scale"));
}

/* The format says the shape, so that all of it has defaults. */
static void read_cifar_features(struct schema *schema, struct json_node features)
{
    static const uint32_t image[] = {3, 32, 32};
    size_t count = sizeof image / sizeof *image;
    schema->scale = UINT8_MAX;
    if (json_present(features)) {
        struct json_node shape = json_member(&features, "shape");
        struct json_node scale = json_member(&features, "scale");
        json_read_object(features, (const char *const[]){"shape", "scale", NULL});
        size_t refusals = json_refusals(features);
        if (json_present(shape))
            read_shape(schema, shape);
        if (json_present(shape) && json_refusals(features) == refusals &&
            (schema->shape_count != count ||
             memcmp(schema->shape, image, sizeof image) != 0))
            json_refuse(shape, "must be [3,32,32]");
        if (json_present(scale))
            schema->scale = read_scale(scale);
    }
    schema->shape_count = count;
    memcpy(schema->shape, image, sizeof image);
}

static void read_libsvm_features(struct schema *schema, struct json_node features)
{
    struct json_node range = json_member(&features, "range");
    json_read_object(features, (const char *const[]){"count", "range", NULL});
    schema->feature_count =
        (uint32_t)json_read_count(json_member(&features, "count"), 1, LIMIT_FEATURES);
    if (json_present(range)) {
        schema->has_range = true;
        read_range(&schema->low, &schema->high, range);
    }
}

static void read_labels(struct schema *schema, struct json_node labels)
{
    json_auto_t *seen = json_object();
    char text[40];
    bool given = json_present(labels);
    if (schema->classes == 0) /* refused: how many there must be is not known */
        return;
    if (given) {
        size_t count = json_read_array(labels, 2, LIMIT_CLASSES);
        if (count != schema->classes) {
            json_refuse(labels, "must be as many as classes, %u", schema->classes);
            return;
        }
    }
    schema->labels = allocate(schema->classes, sizeof *schema->labels);
    for (uint32_t i = 0; i < schema->classes; i++) {
        schema->labels[i] = i;
        if (!given)
            continue;
        struct json_node element = json_element(&labels, i);
        size_t refusals = json_refusals(labels);
        /* Adding 0 makes one number of 0 and -0. */
        schema->labels[i] = json_read_real(element, any_real) + 0.0;
        snprintf(text, sizeof text, "%.17g", schema->labels[i]);
        if (json_refusals(labels) == refusals)
            remember(seen, element, text);
    }
}

/* classes and labels, or target: what all but csv say of the answer. */
static void read_answer(struct schema *schema, const struct json_node *object)
{
    struct json_node target = json_member(object, "target");
    refuse_present(object, "header", "only csv has a header");
    refuse_present(object, "columns", "only csv has columns");
    if (schema->task == TASK_REGRESSION) {
        refuse_present(object, "labels", "a regression has a target");
        json_read_object(target, (const char *const[]){"range", NULL});
        read_range(&schema->target_low, &schema->target_high,
                   json_member(&target, "range"));
        schema->has_target_range = true;
        return;
    }
    refuse_present(object, "target", "a classification has classes");
    schema->classes =
        (uint32_t)json_read_count(json_member(object, "classes"), 2, LIMIT_CLASSES);
    if (schema->format == FORMAT_LIBSVM)
        read_labels(schema, json_member(object, "labels"));
    else
        refuse_present(object, "labels",
                       "only libsvm has labels; others are 0 to classes - 1");
}

/* Of cifar100 the number of classes says which label byte is meant. */
static void read_cifar(struct schema *schema, const struct json_node *object)
{
    struct json_node classes = json_member(object, "classes");
    if (schema->task != TASK_CLASSIFICATION)
        json_refuse(json_member(object, "task"), "must be classification");
    schema->task = TASK_CLASSIFICATION;
    read_answer(schema, object);
    if (schema->format == FORMAT_CIFAR10 && schema->classes != CIFAR10_CLASSES)
        json_refuse(classes, "must be %d", CIFAR10_CLASSES);
    else if (schema->format == FORMAT_CIFAR100 &&
             schema->classes != CIFAR100_COARSE_CLASSES &&
             schema->classes != CIFAR100_FINE_CLASSES)
        json_refuse(classes, "must be %d (the fine labels) or %d (the coarse ones)",
                    CIFAR100_FINE_CLASSES, CIFAR100_COARSE_CLASSES);
}

/* What the format says of the features. */
static void read_features(struct schema *schema, struct json_node features)
{
    switch (schema->format) {
    case FORMAT_IDX:
    case FORMAT_NPY: read_array_features(schema, features); return;
    case FORMAT_CIFAR10:
    case FORMAT_CIFAR100: read_cifar_features(schema, features); return;
    case FORMAT_LIBSVM: read_libsvm_features(schema, features); return;
    case FORMAT_CSV: return; /* its columns need the task as well */
    }
}

/* What the format and the task say of the rest. */
static void read_task(struct schema *schema, const struct json_node *object)
{
    bool is_cifar =
        schema->format == FORMAT_CIFAR10 || schema->format == FORMAT_CIFAR100;
    if (schema->task == TASK_REGRESSION && !is_cifar)
        refuse_present(object, "classes", "a regression has no classes");
    if (is_cifar)
        read_cifar(schema, object);
    else if (schema->format == FORMAT_CSV)
        read_csv(schema, object);
    else
        read_answer(schema, object);
}

void schema_text_read(struct schema *schema, const struct json_node *object)
{
    struct json_node format = json_member(object, "format");
    struct json_node task = json_member(object, "task");
    bool has_format = data_format_parse(&schema->format, json_read_text(format));
    bool has_task = task_parse(&schema->task, json_read_text(task));
    if (!has_format)
        json_refuse(format, "must be idx, csv, libsvm, npy, cifar10 or cifar100");
    if (!has_task)
        json_refuse(task, "must be classification or regression");
    if (has_format)
        read_features(schema, json_member(object, "features"));
    if (has_format && has_task)
        read_task(schema, object);
}

static void write_column(struct json_writer *writer, const struct column *column)
{
    static const char *const names[] = {[COLUMN_NUMERIC] = "numeric",
                                        [COLUMN_CATEGORICAL] = "categorical",
                                        [COLUMN_LABEL] = "label",
                                        [COLUMN_IGNORED] = "ignored"};
    json_write_object(writer, NULL);
    json_write_text(writer, "name", column->name);
    json_write_text(writer, "kind", names[column->kind]);
    if (column->value_count > 0) {
        json_write_array(writer, "values");
        for (size_t i = 0; i < column->value_count; i++)
            json_write_text(writer, NULL, column->values[i]);
        json_write_array_end(writer);
    } else if (column->kind != COLUMN_IGNORED) {
        write_range(writer, column->low, column->high);
    }
    if (column->fallback != NULL && column->value_count > 0)
        json_write_text(writer, "default", column->fallback);
    else if (column->fallback != NULL)
        json_write_real(writer, "default", strtod(column->fallback, NULL));
    json_write_object_end(writer);
}

static void write_features(struct json_writer *writer, const struct schema *schema)
{
    json_write_object(writer, "features");
    if (data_format_is_shaped(schema->format)) {
        json_write_array(writer, "shape");
        for (size_t i = 0; i < schema->shape_count; i++)
            json_write_count(writer, NULL, schema->shape[i]);
        json_write_array_end(writer);
        json_write_real(writer, "scale", schema->scale);
    } else {
        json_write_count(writer, "count", schema->feature_count);
        if (schema->has_range)
            write_range(writer, schema->low, schema->high);
    }
    json_write_object_end(writer);
}

void schema_text_write(struct json_writer *writer, const struct schema *schema)
{
    json_write_text(writer, "format", data_format_name(schema->format));
    json_write_text(writer, "task", task_name(schema->task));
    if (schema->task == TASK_CLASSIFICATION)
        json_write_count(writer, "classes", schema->classes);
    if (schema->format == FORMAT_CSV) {
        json_write_flag(writer, "header", schema->header);
        json_write_array(writer, "columns");
        for (size_t i = 0; i < schema->column_count; i++)
            write_column(writer, &schema->columns[i]);
        json_write_array_end(writer);
        return;
    }
    write_features(writer, schema);
    if (schema->labels != NULL)
        json_write_reals(writer, "labels", schema->labels, schema->classes);
    if (schema->has_target_range) {
        json_write_object(writer, "target");
        write_range(writer, schema->target_low, schema->target_high);
        json_write_object_end(writer);
    }
}
