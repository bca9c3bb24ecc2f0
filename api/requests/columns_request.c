#include "api/requests/columns_request.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/json_reader.h"
#include "api/json/json_schema.h"
#include "api/json/json_writer.h"
#include "base/check.h"
#include "engine/data/calendar.h"

enum { WIDTH_MAX = MODEL_VOCABULARY_MAX };
#define ABSENT UINT32_MAX

/* Returns whether the side is named. */
static bool read_side(struct model_spec *model, uint32_t *number, struct json_node side)
{
    bool is_name = json_is_string(side.value);
    named_columns_add(&model->paired, is_name ? json_read_text(side) : "");
    if (!is_name)
        *number = (uint32_t)json_read_count(side, 0, MODEL_COLUMNS_MAX - 1);
    return is_name;
}

static void read_pairs(struct model_spec *model, struct json_node pairs)
{
    struct model_columns *columns = &model->columns;
    bool any = false;
    if (json_present(pairs))
        columns->pair_count = json_read_array(pairs, 0, MODEL_PAIRS_MAX);
    for (size_t k = 0; k < columns->pair_count; k++) {
        struct json_node pair = json_element(&pairs, k);
        size_t count = json_read_array(pair, 2, 2);
        for (size_t side = 0; side < count; side++)
            any |=
                read_side(model, &columns->pairs[k][side], json_element(&pair, side));
    }
    if (!any)
        named_columns_fini(&model->paired);
}

void columns_request_read(struct model_spec *model, const struct json_node *node)
{
    struct model_columns *columns = &model->columns;
    struct json_node widths = json_member(node, "columns");
    if (json_present(widths))
        columns->count = json_read_array(widths, 1, MODEL_COLUMNS_MAX);
    for (size_t i = 0; i < columns->count; i++)
        columns->widths[i] =
            (uint32_t)json_read_count(json_element(&widths, i), 1, WIDTH_MAX);
    read_pairs(model, json_member(node, "pairs"));
}

void columns_request_write(struct json_writer *writer,
                           const struct model_columns *columns)
{
    if (columns->count > 0) {
        json_write_array(writer, "columns");
        for (size_t i = 0; i < columns->count; i++)
            json_write_count(writer, NULL, columns->widths[i]);
        json_write_array_end(writer);
    }
    json_write_array(writer, "pairs");
    for (size_t k = 0; k < columns->pair_count; k++) {
        json_write_array(writer, NULL);
        json_write_count(writer, NULL, columns->pairs[k][0]);
        json_write_count(writer, NULL, columns->pairs[k][1]);
        json_write_array_end(writer);
    }
    json_write_array_end(writer);
}

/* --- the dataset's columns --- */

static enum status add(struct model_columns *columns, uint32_t width,
                       struct error *error)
{
    if (columns->count == MODEL_COLUMNS_MAX)
        return error_set_at(error, ST_INVALID, "/dataset",
                            "has more than the %d columns that a model of histograms "
                            "may have",
                            MODEL_COLUMNS_MAX);
    columns->widths[columns->count++] = width;
    return ST_OK;
}

/* Adds a number, and what follows it: the parts of a date, and whether it is missing. */
static enum status add_number(struct model_columns *columns,
                              const struct column *column, struct error *error)
{
    uint32_t rest = schema_column_features(column) - 1;
    enum status status = add(columns, 1, error);
    for (unsigned part = 0; column->parts >> part != 0 && status == ST_OK; part++)
        if ((column->parts >> part & 1U) != 0) {
            uint32_t width = calendar_part_size((enum calendar_part)part);
            status = add(columns, width, error);
            rest -= width;
        }
    if (status == ST_OK && rest > 0)
        status = add(columns, rest, error);
    return status;
}

/* numbers (columns of the schema) = the number of each column, if it makes features. */
static enum status take(struct model_columns *columns, uint32_t *numbers,
                        const struct schema *schema, struct error *error)
{
    enum status status = ST_OK;
    for (size_t i = 0; i < schema->column_count && status == ST_OK; i++) {
        const struct column *column = &schema->columns[i];
        numbers[i] = schema_is_feature(column) ? (uint32_t)columns->count : ABSENT;
        if (!schema_is_feature(column))
            continue;
        if (column_kind_form(column->kind) == COLUMN_FORM_NUMBER)
            status = add_number(columns, column, error);
        else
            status = add(columns, schema_column_features(column), error);
    }
    return status;
}

static enum status refuse_pair(size_t pair, struct error *error, const char *format,
                               ...) __attribute__((format(printf, 3, 4)));

static enum status refuse_pair(size_t pair, struct error *error, const char *format,
                               ...)
{
    char pointer[48], text[256];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    snprintf(pointer, sizeof pointer, "/model/pairs/%zu", pair);
    return error_set_at(error, ST_INVALID, pointer, "%s", text);
}

static uint32_t number_of(const struct schema *schema, const uint32_t *numbers,
                          const char *name)
{
    for (size_t i = 0; i < schema->column_count; i++)
        if (strcmp(schema->columns[i].name, name) == 0)
            return numbers[i];
    return ABSENT;
}

/* Turns names of columns into their numbers. */
static enum status find_named(struct model_spec *model, const struct schema *schema,
                              const uint32_t *numbers, struct error *error)
{
    for (size_t i = 0; i < model->paired.count; i++) {
        const char *name = model->paired.list[i].name;
        uint32_t *number = &model->columns.pairs[i / 2][i % 2];
        if (name[0] == '\0')
            continue;
        *number = number_of(schema, numbers, name);
        if (*number == ABSENT)
            return refuse_pair(i / 2, error,
                               "must name columns of the dataset that make features");
    }
    named_columns_fini(&model->paired);
    return ST_OK;
}

static enum status check_pairs(const struct model_columns *columns, struct error *error)
{
    for (size_t k = 0; k < columns->pair_count; k++) {
        const uint32_t *pair = columns->pairs[k];
        if (pair[0] >= columns->count || pair[1] >= columns->count ||
            pair[0] == pair[1])
            return refuse_pair(k, error,
                               "must have two different columns of the %zu, by name or "
                               "counted from 0",
                               columns->count);
    }
    return ST_OK;
}

/* Takes the columns of the dataset, which a model of it may repeat. */
static enum status take_columns(struct model_columns *columns,
                                const struct model_columns *own, struct error *error)
{
    bool agrees = columns->count == own->count &&
                  memcmp(columns->widths, own->widths, sizeof own->widths) == 0;
    if (columns->count > 0 && !agrees)
        return error_set_at(error, ST_INVALID, "/model/columns",
                            "the dataset has other columns: leave them out");
    columns->count = own->count;
    memcpy(columns->widths, own->widths, sizeof own->widths);
    return ST_OK;
}

enum status columns_request_fit(struct model_spec *model, const struct schema *schema,
                                struct error *error)
{
    struct model_columns own = {0};
    if (!schema_has_columns(schema) || schema_text(schema) != NULL)
        return error_set_at(error, ST_INVALID, "/dataset",
                            "a model of histograms reads columns of numbers and words: "
                            "take a dataset whose schema declares them");
    uint32_t *numbers = calloc(schema->column_count + 1, sizeof *numbers);
    CHECK(numbers != NULL);
    enum status status = take(&own, numbers, schema, error);
    if (status == ST_OK)
        status = take_columns(&model->columns, &own, error);
    if (status == ST_OK)
        status = find_named(model, schema, numbers, error);
    free(numbers);
    return status == ST_OK ? check_pairs(&model->columns, error) : status;
}

/* --- schemas --- */

void columns_schema_write_columns(struct json_writer *writer)
{
    json_schema_list(writer, "columns", 1, MODEL_COLUMNS_MAX);
    json_schema_count(writer, "items", 1, WIDTH_MAX, NULL);
    json_write_object_end(writer);
}

void columns_schema_write_pairs(struct json_writer *writer)
{
    json_schema_list(writer, "pairs", 0, MODEL_PAIRS_MAX);
    json_schema_list(writer, "items", 2, 2);
    json_write_object(writer, "items");
    json_write_array(writer, "oneOf");
    json_schema_count(writer, NULL, 0, MODEL_COLUMNS_MAX - 1, NULL);
    json_write_object(writer, NULL);
    json_write_text(writer, "type", "string");
    json_write_object_end(writer);
    json_write_array_end(writer);
    json_write_object_end(writer);
    json_write_object_end(writer);
    json_write_array(writer, "default");
    json_write_array_end(writer);
    json_write_object_end(writer);
}
