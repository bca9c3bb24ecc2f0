#include "api/requests/columns_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/limits.h"
#include "api/requests/schema_value.h"
#include "base/check.h"

static const char *const kind_names[] = {[COLUMN_NUMERIC] = "numeric",
                                         [COLUMN_CATEGORICAL] = "categorical",
                                         [COLUMN_LABEL] = "label",
                                         [COLUMN_IGNORED] = "ignored",
                                         [COLUMN_PRIVACY_ID] = "privacy_id"};

/* Reads a text that a cell can contain. Import strips the blanks around a cell. */
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

static char *duplicate(const char *text)
{
    char *copy = strdup(text);
    CHECK(copy != NULL);
    return copy;
}

static void read_values(struct column *column, struct json_node node, size_t low)
{
    json_auto_t *seen = json_object();
    size_t count = json_read_array(node, low, LIMIT_CLASSES);
    if (count == 0)
        return;
    column->values = schema_value_allocate(count, sizeof *column->values);
    for (; column->value_count < count; column->value_count++) {
        struct json_node element = json_element(&node, column->value_count);
        const char *text = read_cell_text(element);
        schema_value_remember(seen, element, text);
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

/* Reads the value that an empty numeric cell gets: a number. */
static void read_number_default(struct column *column, struct json_node node)
{
    char number[40];
    if (!json_present(node))
        return;
    snprintf(number, sizeof number, "%.17g", json_read_real(node, json_any_real));
    column->fallback = duplicate(number);
}

/* Reads the value that an empty categorical cell gets: one of the values, if all of
 * these are known. */
static void read_value_default(struct column *column, struct json_node node, bool known)
{
    if (!json_present(node))
        return;
    const char *text = json_read_text(node);
    if (known && !holds_value(column, text))
        json_refuse(node, "must be one of the declared values");
    column->fallback = duplicate(text);
}

/* Returns false if the node was refused. */
static bool read_kind(enum column_kind *kind, struct json_node node)
{
    const char *text = json_read_text(node);
    for (int i = COLUMN_NUMERIC; i <= COLUMN_PRIVACY_ID; i++) {
        if (strcmp(kind_names[i], text) == 0) {
            *kind = (enum column_kind)i;
            return true;
        }
    }
    json_refuse(node, "must be numeric, categorical, label, ignored or privacy_id");
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
        schema_value_refuse(&node, "range",
                            "only a numeric column or target has a range");
        read_values(column, json_member(&node, "values"), label ? 2 : 1);
        read_value_default(column, fallback, json_refusals(node) == refusals);
    } else if (column->kind == COLUMN_NUMERIC || label) {
        schema_value_refuse(&node, "values",
                            "only a categorical column or class has values");
        schema_value_read_range(&column->low, &column->high,
                                json_member(&node, "range"));
        read_number_default(column, fallback);
    } else {
        const char *why = column->kind == COLUMN_IGNORED
                              ? "an ignored column is not read"
                              : "ids are compared, and become no feature";
        schema_value_refuse(&node, "range", why);
        schema_value_refuse(&node, "values", why);
        schema_value_refuse(&node, "default", why);
    }
}

/* Checks that there are exactly one label, at most one column of ids, at least one
 * feature, and no more features than the limit. */
static void check_columns(const struct schema *schema, struct json_node columns)
{
    uint64_t features = 0, labels = 0, ids = 0;
    for (size_t i = 0; i < schema->column_count; i++) {
        const struct column *column = &schema->columns[i];
        labels += column->kind == COLUMN_LABEL;
        ids += column->kind == COLUMN_PRIVACY_ID;
        features += column->kind == COLUMN_NUMERIC;
        features += column->kind == COLUMN_CATEGORICAL ? column->value_count : 0;
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
static bool read_all(struct schema *schema, struct json_node columns)
{
    json_auto_t *names = json_object();
    size_t refusals = json_refusals(columns);
    size_t count = json_read_array(columns, 2, LIMIT_COLUMNS);
    if (count > 0)
        schema->columns = schema_value_allocate(count, sizeof *schema->columns);
    for (; schema->column_count < count; schema->column_count++) {
        struct json_node node = json_element(&columns, schema->column_count);
        struct column *column = &schema->columns[schema->column_count];
        read_column(column, node, schema->task);
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

void columns_text_read(struct schema *schema, const struct json_node *object)
{
    struct json_node header = json_member(object, "header");
    schema_value_refuse_of(schema->reader, object, "features", "has columns");
    schema_value_refuse_of(schema->reader, object, "labels",
                           "has a label column with values");
    schema_value_refuse_of(schema->reader, object, "target",
                           "has a label column with a range");
    schema->header = json_present(header) && json_read_flag(header);
    read_dialect(&schema->dialect, object);
    bool known = read_all(schema, json_member(object, "columns"));
    if (schema->task == TASK_CLASSIFICATION)
        read_label_classes(schema, json_member(object, "classes"), known);
}

static void write_column(struct json_writer *writer, const struct column *column)
{
    json_write_object(writer, NULL);
    json_write_text(writer, "name", column->name);
    json_write_text(writer, "kind", kind_names[column->kind]);
    if (column->value_count > 0) {
        json_write_array(writer, "values");
        for (size_t i = 0; i < column->value_count; i++)
            json_write_text(writer, NULL, column->values[i]);
        json_write_array_end(writer);
    } else if (column->kind == COLUMN_NUMERIC || column->kind == COLUMN_LABEL) {
        schema_value_write_range(writer, column->low, column->high);
    }
    if (column->fallback != NULL && column->value_count > 0)
        json_write_text(writer, "default", column->fallback);
    else if (column->fallback != NULL)
        json_write_real(writer, "default", strtod(column->fallback, NULL));
    json_write_object_end(writer);
}

void columns_text_write(struct json_writer *writer, const struct schema *schema)
{
    const char delimiter[] = {delimiter_sign(schema->dialect.delimiter), '\0'};
    json_write_flag(writer, "header", schema->header);
    if (schema->dialect.delimiter != DELIMITER_COMMA)
        json_write_text(writer, "delimiter", delimiter);
    if (schema->dialect.decimal_comma)
        json_write_text(writer, "decimal", ",");
    json_write_array(writer, "columns");
    for (size_t i = 0; i < schema->column_count; i++)
        write_column(writer, &schema->columns[i]);
    json_write_array_end(writer);
}
