#include "api/requests/columns_request.h"

#include <string.h>

#include "api/json/json_reader.h"
#include "api/json/json_schema.h"
#include "api/json/json_writer.h"
#include "engine/data/calendar.h"

enum { WIDTH_MAX = MODEL_VOCABULARY_MAX };

void columns_request_read(struct model_columns *columns, const struct json_node *model)
{
    struct json_node widths = json_member(model, "columns");
    struct json_node pairs = json_member(model, "pairs");
    if (json_present(widths))
        columns->count = json_read_array(widths, 1, MODEL_COLUMNS_MAX);
    for (size_t i = 0; i < columns->count; i++)
        columns->widths[i] =
            (uint32_t)json_read_count(json_element(&widths, i), 1, WIDTH_MAX);
    if (json_present(pairs))
        columns->pair_count = json_read_array(pairs, 0, MODEL_PAIRS_MAX);
    for (size_t k = 0; k < columns->pair_count; k++) {
        struct json_node pair = json_element(&pairs, k);
        size_t count = json_read_array(pair, 2, 2);
        for (size_t side = 0; side < 2 && side < count; side++)
            columns->pairs[k][side] = (uint32_t)json_read_count(
                json_element(&pair, side), 0, MODEL_COLUMNS_MAX - 1);
    }
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

static enum status take(struct model_columns *columns, const struct schema *schema,
                        struct error *error)
{
    enum status status = ST_OK;
    for (size_t i = 0; i < schema->column_count && status == ST_OK; i++) {
        const struct column *column = &schema->columns[i];
        if (!schema_is_feature(column))
            continue;
        if (column_kind_form(column->kind) == COLUMN_FORM_NUMBER)
            status = add_number(columns, column, error);
        else
            status = add(columns, schema_column_features(column), error);
    }
    return status;
}

static enum status check_pairs(const struct model_columns *columns, struct error *error)
{
    for (size_t k = 0; k < columns->pair_count; k++) {
        const uint32_t *pair = columns->pairs[k];
        if (pair[0] >= columns->count || pair[1] >= columns->count ||
            pair[0] == pair[1])
            return error_set_at(
                error, ST_INVALID, "/model/pairs",
                "a pair names two different columns of the %zu, counted "
                "from 0",
                columns->count);
    }
    return ST_OK;
}

enum status columns_request_fit(struct model_columns *columns,
                                const struct schema *schema, struct error *error)
{
    struct model_columns own = {0};
    if (!schema_has_columns(schema) || schema_text(schema) != NULL)
        return error_set_at(error, ST_INVALID, "/dataset",
                            "a model of histograms reads columns of numbers and words: "
                            "take a dataset whose schema declares them");
    enum status status = take(&own, schema, error);
    if (status != ST_OK)
        return status;
    bool agrees = columns->count == own.count &&
                  memcmp(columns->widths, own.widths, sizeof own.widths) == 0;
    if (columns->count > 0 && !agrees)
        return error_set_at(error, ST_INVALID, "/model/columns",
                            "the dataset has other columns: leave them out");
    columns->count = own.count;
    memcpy(columns->widths, own.widths, sizeof own.widths);
    return check_pairs(columns, error);
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
    json_schema_count(writer, "items", 0, MODEL_COLUMNS_MAX - 1, NULL);
    json_write_object_end(writer);
    json_write_array(writer, "default");
    json_write_array_end(writer);
    json_write_object_end(writer);
}
