#include "engine/statistics/stored_column.h"

#include <string.h>

#include "base/check.h"
#include "engine/data/cell_text.h"
#include "engine/data/encode.h"

/* The name of the label in formats without columns. */
static const char label_name[] = "label";

static void place_label(struct stored_column *stored, const struct schema *schema)
{
    *stored = (struct stored_column){.kind = STORED_CLASS, .values = schema->classes};
    if (schema->task == TASK_CLASSIFICATION)
        return;
    stored->kind = STORED_TARGET;
    CHECK(schema_target_range(schema, &stored->low, &stored->high));
}

static void place_feature(struct stored_column *stored, const struct column *column,
                          uint32_t first)
{
    *stored = (struct stored_column){.first = first};
    stored->kind = column_kind_form(column->kind) == COLUMN_FORM_NUMBER ? STORED_NUMBER
                                                                        : STORED_ONE_OF;
    if (stored->kind == STORED_ONE_OF) {
        stored->values = schema_column_features(column);
    } else {
        stored->low = column->low;
        stored->high = column->high;
    }
}

/* Places the column, whose features begin at first. */
static enum status place(struct stored_column *stored, const struct schema *schema,
                         const struct column *column, uint32_t first,
                         struct error *error)
{
    if (column->kind == COLUMN_TEXT)
        return error_set(error, ST_INVALID,
                         "column \"%.60s\": the ids of a text are neither numbers nor "
                         "words, so there are no statistics of them",
                         column->name);
    if (schema_is_feature(column)) {
        place_feature(stored, column, first);
        return ST_OK;
    }
    if (column->kind == COLUMN_LABEL) {
        place_label(stored, schema);
        return ST_OK;
    }
    return error_set(error, ST_INVALID, "column \"%.60s\": its values are not stored",
                     column->name);
}

static enum status find_column(struct stored_column *stored,
                               const struct schema *schema, const char *name,
                               struct error *error)
{
    uint32_t first = 0;
    for (size_t i = 0; i < schema->column_count; i++) {
        const struct column *column = &schema->columns[i];
        if (strcmp(column->name, name) == 0)
            return place(stored, schema, column, first, error);
        first += schema_is_feature(column) ? schema_column_features(column) : 0;
    }
    return error_set(error, ST_INVALID, "the dataset has no column \"%.60s\"", name);
}

enum status stored_column_find(struct stored_column *stored,
                               const struct schema *schema, const char *name,
                               struct error *error)
{
    if (schema_has_columns(schema))
        return find_column(stored, schema, name, error);
    if (strcmp(name, label_name) != 0)
        return error_set(error, ST_INVALID,
                         "records of %s have no columns with names: only \"%s\" can be "
                         "asked for",
                         schema->reader->name, label_name);
    place_label(stored, schema);
    return ST_OK;
}

enum status stored_text_find(struct stored_text *stored, const struct schema *schema,
                             const char *name, struct error *error)
{
    uint32_t first = schema_features(schema);
    for (size_t i = 0; i < schema->column_count; i++) {
        const struct column *column = &schema->columns[i];
        if (strcmp(column->name, name) == 0 && column->text_bytes > 0) {
            *stored = (struct stored_text){first, column->text_bytes};
            return ST_OK;
        }
        if (strcmp(column->name, name) == 0)
            return error_set(error, ST_INVALID,
                             "column \"%.60s\": its texts are not stored; a hashed "
                             "column stores them if it declares text_bytes",
                             name);
        first += cell_text_floats(column->text_bytes);
    }
    return error_set(error, ST_INVALID, "the dataset has no column \"%.60s\"", name);
}

bool stored_column_is_number(const struct stored_column *stored)
{
    return stored->values == 0;
}

float stored_column_map(const struct stored_column *stored, double value)
{
    const struct column column = {.low = stored->low, .high = stored->high};
    return encode_column_value(&column, value);
}

static const float *row_of(const struct matrix *matrix, uint64_t record)
{
    CHECK(matrix->element == ELEMENT_F32);
    return matrix_stored_row(matrix, record);
}

float stored_column_number(const struct stored_column *stored,
                           const struct matrix *matrix, uint64_t record)
{
    return stored->kind == STORED_TARGET ? matrix->values[record]
                                         : row_of(matrix, record)[stored->first];
}

/* The first feature that is 1. An import writes exactly one. Even for a file with other
 * values, the result is a declared value and depends only on this record. All features
 * are read, so that the time does not depend on the value. */
static uint32_t hot_feature(const float *features, uint32_t count)
{
    uint32_t place = count - 1;
    for (uint32_t k = count; k-- > 0;)
        place = features[k] == 1 ? k : place;
    return place;
}

uint32_t stored_column_value(const struct stored_column *stored,
                             const struct matrix *matrix, uint64_t record)
{
    if (stored->kind == STORED_CLASS)
        return matrix->targets[record];
    return hot_feature(row_of(matrix, record) + stored->first, stored->values);
}
