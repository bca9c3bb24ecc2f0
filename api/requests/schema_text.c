#include "api/requests/schema_text.h"

#include <stdio.h>
#include <string.h>

#include "api/limits.h"
#include "api/requests/columns_text.h"
#include "api/requests/schema_value.h"
#include "base/check.h"
#include "engine/data/matrix.h"
#include "engine/data/readers/reader_registry.h"

_Static_assert((int)LIMIT_ROWS_KEPT == (int)MATRIX_SLOTS_MAX,
               "whatever is asked for can be stored");
_Static_assert((int)LIMIT_SHAPE == (int)READER_SHAPE_MAX,
               "the contract and the engine agree");

void schema_text_members(const char *members[SCHEMA_MEMBERS_MAX],
                         const char *const *head)
{
    static const char *const own[] = {"format",    "task",      "classes", "features",
                                      "header",    "delimiter", "decimal", "missing",
                                      "columns",   "labels",    "target",  "privacy_id",
                                      "rows_kept", NULL};
    size_t count = 0;
    while (*head != NULL)
        members[count++] = *head++;
    for (size_t i = 0; own[i] != NULL; i++)
        members[count++] = own[i];
    CHECK(count < SCHEMA_MEMBERS_MAX);
    members[count] = NULL;
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

static void read_shaped_features(struct schema *schema, struct json_node features)
{
    json_read_object(features, (const char *const[]){"shape", "scale", NULL});
    read_shape(schema, json_member(&features, "shape"));
    schema->scale = read_scale(json_member(&features, "scale"));
}

static bool has_own_shape(const struct schema *schema)
{
    const struct reader *reader = schema->reader;
    return schema->shape_count == reader->shape_count &&
           memcmp(schema->shape, reader->shape,
                  reader->shape_count * sizeof *reader->shape) == 0;
}

/* Reads a shape. It must be the shape of the format. */
static void read_own_shape(struct schema *schema, struct json_node node)
{
    const struct reader *reader = schema->reader;
    char sides[READER_SHAPE_MAX * 12] = "";
    size_t refusals = json_refusals(node), size = 0;
    read_shape(schema, node);
    for (size_t i = 0; i < reader->shape_count; i++)
        size += (size_t)snprintf(sides + size, sizeof sides - size, "%s%u",
                                 i > 0 ? "," : "", reader->shape[i]);
    if (json_refusals(node) == refusals && !has_own_shape(schema))
        json_refuse(node, "must be [%s]", sides);
}

/* Reads features of a format that fixes the shape and the scale, so that both
 * have defaults. */
static void read_own_features(struct schema *schema, struct json_node features)
{
    const struct reader *reader = schema->reader;
    schema->scale = reader->scale;
    if (json_present(features)) {
        struct json_node shape = json_member(&features, "shape");
        struct json_node scale = json_member(&features, "scale");
        json_read_object(features, (const char *const[]){"shape", "scale", NULL});
        if (json_present(shape))
            read_own_shape(schema, shape);
        if (json_present(scale))
            schema->scale = read_scale(scale);
    }
    schema->shape_count = reader->shape_count;
    memcpy(schema->shape, reader->shape, sizeof schema->shape);
}

static void read_indexed_features(struct schema *schema, struct json_node features)
{
    struct json_node range = json_member(&features, "range");
    json_read_object(features, (const char *const[]){"count", "range", NULL});
    schema->feature_count =
        (uint32_t)json_read_count(json_member(&features, "count"), 1, LIMIT_FEATURES);
    if (json_present(range)) {
        schema->has_range = true;
        schema_value_read_range(&schema->low, &schema->high, range);
    }
}

static void read_labels(struct schema *schema, struct json_node labels)
{
    json_auto_t *seen = json_object();
    char text[40];
    bool given = json_present(labels);
    if (schema->classes == 0) /* refused: the required number is not known */
        return;
    if (given) {
        size_t count = json_read_array(labels, 2, LIMIT_CLASSES);
        if (count != schema->classes) {
            json_refuse(labels, "must be as many as classes, %u", schema->classes);
            return;
        }
    }
    schema->labels = schema_value_allocate(schema->classes, sizeof *schema->labels);
    for (uint32_t i = 0; i < schema->classes; i++) {
        schema->labels[i] = i;
        if (!given)
            continue;
        struct json_node element = json_element(&labels, i);
        size_t refusals = json_refusals(labels);
        /* Adding 0 turns -0 into 0. */
        schema->labels[i] = json_read_real(element, json_any_real) + 0.0;
        snprintf(text, sizeof text, "%.17g", schema->labels[i]);
        if (json_refusals(labels) == refusals)
            schema_value_remember(seen, element, text);
    }
}

/* Reads classes and labels, or target: the answer of a format without columns. */
static void read_answer(struct schema *schema, const struct json_node *object)
{
    struct json_node target = json_member(object, "target");
    schema_value_refuse_dialect(schema->reader, object);
    schema_value_refuse_unless(FORM_COLUMNS, object, "missing", "has missing cells");
    schema_value_refuse_unless(FORM_COLUMNS, object, "columns", "has columns");
    if (schema->task == TASK_REGRESSION) {
        schema_value_refuse(object, "labels", "a regression has a target");
        json_read_object(target, (const char *const[]){"range", NULL});
        schema_value_read_range(&schema->target_low, &schema->target_high,
                                json_member(&target, "range"));
        schema->has_target_range = true;
        return;
    }
    schema_value_refuse(object, "target", "a classification has classes");
    schema->classes =
        (uint32_t)json_read_count(json_member(object, "classes"), 2, LIMIT_CLASSES);
    if (schema->reader->form == FORM_INDEXED)
        read_labels(schema, json_member(object, "labels"));
    else
        schema_value_refuse_unless(FORM_INDEXED, object, "labels",
                                   "has labels; others are 0 to classes - 1");
}

/* Checks the number of classes, if the format fixes it. */
static void check_classes(const struct schema *schema, struct json_node classes)
{
    const struct class_count *counts = schema->reader->class_counts;
    char allowed[160] = "";
    size_t size = 0;
    if (reader_takes_classes(schema->reader, schema->classes))
        return;
    for (size_t i = 0; i < READER_CLASS_COUNTS_MAX && counts[i].count > 0; i++) {
        bool named = counts[i].meaning != NULL;
        size +=
            (size_t)snprintf(allowed + size, sizeof allowed - size, "%s%u%s%s%s",
                             i > 0 ? " or " : "", counts[i].count, named ? " (" : "",
                             named ? counts[i].meaning : "", named ? ")" : "");
    }
    json_refuse(classes, "must be %s", allowed);
}

/* Reads the features by the form of the records. */
static void read_features(struct schema *schema, struct json_node features)
{
    switch (schema->reader->form) {
    case FORM_SHAPED:
        if (schema->reader->shape_count > 0)
            read_own_features(schema, features);
        else
            read_shaped_features(schema, features);
        return;
    case FORM_INDEXED: read_indexed_features(schema, features); return;
    case FORM_COLUMNS: return; /* read later, as they need the task */
    }
}

/* Reads the members that depend on the format and the task. */
static void read_task(struct schema *schema, const struct json_node *object)
{
    if (schema->task == TASK_REGRESSION && schema->reader->class_counts[0].count > 0) {
        json_refuse(json_member(object, "task"), "must be classification");
        schema->task = TASK_CLASSIFICATION;
    }
    if (schema->task == TASK_REGRESSION)
        schema_value_refuse(object, "classes", "a regression has no classes");
    if (schema_has_columns(schema))
        columns_text_read(schema, object);
    else
        read_answer(schema, object);
    check_classes(schema, json_member(object, "classes"));
}

/* Reads whether the ids of persons come in a file of their own. */
static void read_id_file(struct schema *schema, const struct json_node *object)
{
    struct json_node ids = json_member(object, "privacy_id");
    if (!json_present(ids))
        return;
    schema->has_id_file = json_read_flag(ids) && !schema_has_columns(schema);
    if (schema_has_columns(schema))
        json_refuse(ids, "%s says whose each row is in a column of kind privacy_id",
                    schema->reader->name);
}

/* Reads how many rows of a person are kept. Only allowed if the unit is the person. */
static void read_rows_kept(struct schema *schema, struct json_node node)
{
    if (!json_present(node))
        return;
    uint64_t rows = json_read_count(node, 1, LIMIT_ROWS_KEPT);
    if ((rows & (rows - 1)) != 0)
        json_refuse(node, "must be 1, 2, 4, 8 or 16");
    else if (schema_unit(schema) != PRIVACY_UNIT_PERSON)
        json_refuse(node, "is said of persons: nothing here says whose each row is");
    else
        schema->rows_kept = (uint32_t)rows;
}

void schema_text_read(struct schema *schema, const struct json_node *object)
{
    struct json_node format = json_member(object, "format");
    struct json_node task = json_member(object, "task");
    schema->reader = reader_find(json_read_text(format));
    bool has_task = task_parse(&schema->task, json_read_text(task));
    if (schema->reader == NULL) {
        char names[READER_NAMES_SIZE];
        reader_names(names, NULL);
        json_refuse(format, "must be %s", names);
    }
    if (!has_task)
        json_refuse(task, "must be classification or regression");
    if (schema->reader != NULL)
        read_features(schema, json_member(object, "features"));
    if (schema->reader != NULL)
        read_id_file(schema, object);
    if (schema->reader != NULL && has_task)
        read_task(schema, object);
    if (schema->reader != NULL && has_task)
        read_rows_kept(schema, json_member(object, "rows_kept"));
}

static void write_features(struct json_writer *writer, const struct schema *schema)
{
    json_write_object(writer, "features");
    if (schema->reader->form == FORM_SHAPED) {
        json_write_array(writer, "shape");
        for (size_t i = 0; i < schema->shape_count; i++)
            json_write_count(writer, NULL, schema->shape[i]);
        json_write_array_end(writer);
        json_write_real(writer, "scale", schema->scale);
    } else {
        json_write_count(writer, "count", schema->feature_count);
        if (schema->has_range)
            schema_value_write_range(writer, schema->low, schema->high);
    }
    json_write_object_end(writer);
}

static void write_without_columns(struct json_writer *writer,
                                  const struct schema *schema)
{
    write_features(writer, schema);
    if (schema->labels != NULL)
        json_write_reals(writer, "labels", schema->labels, schema->classes);
    if (schema->has_target_range) {
        json_write_object(writer, "target");
        schema_value_write_range(writer, schema->target_low, schema->target_high);
        json_write_object_end(writer);
    }
    if (schema->has_id_file)
        json_write_flag(writer, "privacy_id", true);
}

void schema_text_write(struct json_writer *writer, const struct schema *schema)
{
    json_write_text(writer, "format", schema->reader->name);
    json_write_text(writer, "task", task_name(schema->task));
    if (schema->task == TASK_CLASSIFICATION)
        json_write_count(writer, "classes", schema->classes);
    if (schema_has_columns(schema))
        columns_text_write(writer, schema);
    else
        write_without_columns(writer, schema);
    if (schema->rows_kept > 0)
        json_write_count(writer, "rows_kept", schema->rows_kept);
}
