/* A number is read from the beginning of its cell, and must be followed by characters
 * that may follow a cell, so the end of the cell need not be found first. A numeric
 * cell that is not a number may be an empty cell with a default. Like the texts of
 * other columns it is cut off, and its encoder decides. */
#include "engine/data/readers/csv_plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/data/cell_text.h"
#include "engine/data/decimal.h"
#include "engine/data/readers/persons.h"

enum status csv_plain_init(struct csv_plain *plain, const struct schema *schema,
                           const struct encoder *encoders, const size_t *places,
                           struct error *error)
{
    size_t features = 0;
    *plain = (struct csv_plain){.schema = schema,
                                .encoders = encoders,
                                .cells = schema->column_count,
                                .places = places};
    size_t texts = schema_features(schema);
    plain->offsets = calloc(schema->column_count, sizeof *plain->offsets);
    plain->texts = calloc(schema->column_count, sizeof *plain->texts);
    if (plain->offsets == NULL || plain->texts == NULL) {
        csv_plain_fini(plain);
        return error_set(error, ST_NO_MEMORY, "no memory for the columns");
    }
    for (size_t i = 0; i < schema->column_count; i++) {
        const struct column *column = &schema->columns[i];
        plain->offsets[i] = features;
        if (schema_is_feature(column))
            features += schema_column_features(column);
        plain->texts[i] = texts;
        texts += cell_text_floats(column->text_bytes);
    }
    return ST_OK;
}

void csv_plain_fini(struct csv_plain *plain)
{
    free(plain->offsets);
    free(plain->texts);
    *plain = (struct csv_plain){0};
}

enum status csv_plain_encode(const struct csv_plain *plain, size_t column, float *row,
                             struct cell cell, struct error *error)
{
    const struct encoder *encoder = &plain->encoders[column];
    enum status status =
        encoder_features(encoder, row + plain->offsets[column], cell, error);
    if (status == ST_OK && plain->schema->columns[column].text_bytes > 0)
        encoder_text(encoder, row + plain->texts[column], cell);
    return status;
}

enum status csv_target_encode(struct csv_target *target, enum task task,
                              const struct encoder *encoder, struct cell cell,
                              struct error *error)
{
    return task == TASK_REGRESSION
               ? encoder_target(encoder, &target->value, cell, error)
               : encoder_class(encoder, &target->class_index, cell, error);
}

struct record { /* the record being read */
    const struct csv_plain *plain;
    float *features;
    struct csv_target *target;
    const char *end;
    bool decimal_comma;
    char delimiter, second_blank; /* dialect.h */
};

static const char *skip_blanks(const struct record *record, const char *at)
{
    while (at < record->end && (*at == ' ' || *at == record->second_blank))
        at++;
    return at;
}

/* Reads a finite number that fills the cell at text except for blanks around it.
 * Returns the end of the cell, or NULL if there is no such number. */
static const char *read_number(const struct record *record, double *value,
                               const char *text)
{
    const char *at = skip_blanks(record, text);
    at = record->decimal_comma ? decimal_read_comma(value, at, record->end)
                               : decimal_read(value, at, record->end);
    if (at == NULL || !isfinite(*value))
        return NULL;
    at = skip_blanks(record, at);
    return at == record->end || *at == record->delimiter ? at : NULL;
}

static const char *cell_end(const struct record *record, const char *text)
{
    const char *end = memchr(text, record->delimiter, (size_t)(record->end - text));
    return end != NULL ? end : record->end;
}

/* Encodes the cell at *text as a cell of the column. *text is then the cell's end. */
static bool read_cell(const struct record *record, size_t column, const char **text)
{
    const struct column *declared = &record->plain->schema->columns[column];
    const struct encoder *encoder = &record->plain->encoders[column];
    float *out = record->features + record->plain->offsets[column];
    double value;
    if (encoder->is_plain_number) {
        const char *behind = read_number(record, &value, *text);
        if (behind != NULL) {
            *out = encode_column_value(declared, value);
            *text = behind;
            return true;
        }
    }
    struct cell cell = {.text = *text};
    *text = cell_end(record, *text);
    cell.size = (size_t)(*text - cell.text);
    if (schema_is_feature(declared))
        return csv_plain_encode(record->plain, column, record->features, cell, NULL) ==
               ST_OK;
    if (declared->kind == COLUMN_LABEL)
        return csv_target_encode(record->target, record->plain->schema->task, encoder,
                                 cell, NULL) == ST_OK;
    return declared->kind == COLUMN_IGNORED ||
           persons_read_id(&record->target->id, cell, NULL) == ST_OK;
}

bool csv_plain_read(const struct csv_plain *plain, float *features,
                    struct csv_target *target, const char *text, size_t size)
{
    const struct dialect dialect = plain->schema->dialect;
    const struct record record = {plain,
                                  features,
                                  target,
                                  text + size,
                                  dialect.decimal_comma,
                                  delimiter_sign(dialect.delimiter),
                                  delimiter_second_blank(dialect.delimiter)};
    for (size_t i = 0; i < plain->cells; i++, text++) {
        if (!read_cell(&record, plain->places[i], &text))
            return false;
        if (text == record.end)
            return i + 1 == plain->cells;
    }
    return false; /* there is a delimiter after the last cell */
}
