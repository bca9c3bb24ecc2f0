#include "api/requests/columns_text.h"

#include <string.h>

#include "api/limits.h"
#include "api/requests/column_text.h"
#include "api/requests/schema_value.h"

/* Refuses other columns that make features next to a text. */
static void check_text(const struct schema *schema, struct json_node columns)
{
    const struct column *text = schema_text(schema);
    for (size_t i = 0; text != NULL && i < schema->column_count; i++) {
        const struct column *column = &schema->columns[i];
        if (column != text && schema_is_feature(column))
            json_refuse(json_element(&columns, i),
                        "must be ignored: the column \"%.60s\" of kind text is the "
                        "whole input of a model",
                        text->name);
    }
}

/* Checks that there are exactly one label, at most one column of ids, at least one
 * feature, and no more features than the limit. */
static void check_columns(const struct schema *schema, struct json_node columns)
{
    uint64_t features = 0, labels = 0, ids = 0;
    check_text(schema, columns);
    for (size_t i = 0; i < schema->column_count; i++) {
        const struct column *column = &schema->columns[i];
        labels += column->kind == COLUMN_LABEL;
        ids += column->kind == COLUMN_PRIVACY_ID;
        features += schema_is_feature(column) ? schema_column_features(column) : 0;
    }
    if (labels != 1)
        json_refuse(columns, "must have exactly one label");
    if (ids > 1)
        json_refuse(columns, "must have at most one column of kind privacy_id");
    if (features < 1 || features > LIMIT_FEATURES)
        json_refuse(columns, "must make 1 to %d features", LIMIT_FEATURES);
}

/* Classes are counted from the label's values, if these are known. */
static void read_label_classes(struct schema *schema, struct json_node node, bool known)
{
    uint64_t classes = json_present(node) ? json_read_count(node, 2, LIMIT_CLASSES) : 0;
    if (!known)
        return;
    schema->classes = (uint32_t)schema_label(schema)->value_count;
    if (json_present(node) && classes != schema->classes)
        json_refuse(node, "must be the number of the label's values, %u",
                    schema->classes);
}

/* Returns whether columns is a list of columns of which none was refused. */
static bool read_all(struct schema *schema, struct json_node columns,
                     const struct missing_texts *missing)
{
    json_auto_t *names = json_object();
    size_t refusals = json_refusals(columns);
    size_t count = json_read_array(columns, 2, LIMIT_COLUMNS);
    if (count > 0)
        schema->columns = schema_value_allocate(count, sizeof *schema->columns);
    for (; schema->column_count < count; schema->column_count++) {
        struct json_node node = json_element(&columns, schema->column_count);
        struct column *column = &schema->columns[schema->column_count];
        column_text_read(column, node, schema->task, missing);
        schema_value_remember(names, json_member(&node, "name"), column->name);
    }
    if (json_refusals(columns) == refusals)
        check_columns(schema, columns);
    return json_refusals(columns) == refusals;
}

static void read_dialect(struct dialect *dialect, const struct json_node *object)
{
    struct json_node delimiter = json_member(object, "delimiter");
    struct json_node decimal = json_member(object, "decimal");
    bool known = !json_present(delimiter) ||
                 delimiter_parse(&dialect->delimiter, json_read_text(delimiter));
    if (!known)
        json_refuse(delimiter, "must be a comma, a semicolon, a tab or a bar (|)");
    if (!json_present(decimal))
        return;
    const char *sign = json_read_text(decimal);
    dialect->decimal_comma = strcmp(sign, ",") == 0;
    if (!dialect->decimal_comma && strcmp(sign, ".") != 0)
        json_refuse(decimal, "must be a point or a comma");
    if (known && dialect->decimal_comma && dialect->delimiter == DELIMITER_COMMA)
        json_refuse(decimal, "must be a point, because commas separate the cells: "
                             "declare another delimiter if they do not");
}

/* Reads how a file writes its columns, if that has to be declared. */
static void read_layout(struct schema *schema, const struct json_node *object)
{
    struct json_node header = json_member(object, "header");
    if (schema->reader->has_dialect) {
        schema->header = json_present(header) && json_read_flag(header);
        read_dialect(&schema->dialect, object);
        return;
    }
    schema->header = true;
    schema_value_refuse_dialect(schema->reader, object);
}

void columns_text_read(struct schema *schema, const struct json_node *object)
{
    schema_value_refuse_of(schema->reader, object, "features", "has columns");
    schema_value_refuse_of(schema->reader, object, "labels",
                           "has a label column with values");
    schema_value_refuse_of(schema->reader, object, "target",
                           "has a label column with a range");
    read_layout(schema, object);
    struct missing_texts texts = {0};
    struct json_node missing = json_member(object, "missing");
    if (json_present(missing))
        missing_texts_read(&texts, missing);
    bool known = read_all(schema, json_member(object, "columns"), &texts);
    missing_texts_fini(&texts);
    if (schema->task == TASK_CLASSIFICATION)
        read_label_classes(schema, json_member(object, "classes"), known);
}

void columns_text_write(struct json_writer *writer, const struct schema *schema)
{
    const char delimiter[] = {delimiter_sign(schema->dialect.delimiter), '\0'};
    if (schema->reader->has_dialect)
        json_write_flag(writer, "header", schema->header);
    if (schema->dialect.delimiter != DELIMITER_COMMA)
        json_write_text(writer, "delimiter", delimiter);
    if (schema->dialect.decimal_comma)
        json_write_text(writer, "decimal", ",");
    json_write_array(writer, "columns");
    for (size_t i = 0; i < schema->column_count; i++)
        column_text_write(writer, &schema->columns[i]);
    json_write_array_end(writer);
}
