#include "engine/data/readers/table_row.h"

#include <stdlib.h>

#include "engine/data/cell_text.h"
#include "engine/data/readers/persons.h"

/* Sets the place of each column among the floats of a record. */
static void set_places(struct table_row *row)
{
    const struct schema *schema = row->schema;
    size_t features = 0, texts = schema_features(schema);
    for (size_t i = 0; i < schema->column_count; i++) {
        const struct column *column = &schema->columns[i];
        row->offsets[i] = features;
        row->texts[i] = texts;
        if (schema_is_feature(column))
            features += schema_column_features(column);
        texts += cell_text_floats(column->text_bytes);
    }
}

enum status table_row_init(struct table_row *row, const struct schema *schema,
                           bool takes_any, struct error *error)
{
    const size_t count = schema->column_count;
    *row = (struct table_row){.schema = schema};
    row->encoders = calloc(count, sizeof *row->encoders);
    row->offsets = calloc(count, sizeof *row->offsets);
    row->texts = calloc(count, sizeof *row->texts);
    enum status status = ST_OK;
    if (row->encoders == NULL || row->offsets == NULL || row->texts == NULL)
        status = error_set(error, ST_NO_MEMORY, "no memory for the columns");
    for (size_t i = 0; i < count && status == ST_OK; i++) {
        if (schema->columns[i].kind == COLUMN_IGNORED)
            continue;
        status = encoder_init(&row->encoders[i], &schema->columns[i], error);
        row->encoders[i].decimal_comma = schema->dialect.decimal_comma;
        row->encoders[i].takes_any = takes_any;
    }
    if (status == ST_OK)
        set_places(row);
    else
        table_row_fini(row);
    return status;
}

void table_row_set_tokenizer(struct table_row *row, const struct tokenizer *tokenizer)
{
    for (size_t i = 0; i < row->schema->column_count; i++)
        row->encoders[i].tokenizer = tokenizer;
}

void table_row_fini(struct table_row *row)
{
    for (size_t i = 0; row->encoders != NULL && i < row->schema->column_count; i++)
        encoder_fini(&row->encoders[i]);
    free(row->encoders);
    free(row->offsets);
    free(row->texts);
    *row = (struct table_row){0};
}

static enum status features_of(const struct table_row *row, size_t column,
                               float *floats, struct cell cell, struct error *error)
{
    const struct encoder *encoder = &row->encoders[column];
    enum status status =
        encoder_features(encoder, floats + row->offsets[column], cell, error);
    if (status == ST_OK && row->schema->columns[column].text_bytes > 0)
        encoder_text(encoder, floats + row->texts[column], cell);
    return status;
}

static enum status target_of(const struct table_row *row, size_t column,
                             struct table_target *target, struct cell cell,
                             struct error *error)
{
    const struct encoder *encoder = &row->encoders[column];
    return row->schema->task == TASK_REGRESSION
               ? encoder_target(encoder, &target->value, cell, error)
               : encoder_class(encoder, &target->class_index, cell, error);
}

enum status table_row_encode(const struct table_row *row, size_t column, float *floats,
                             struct table_target *target, struct cell cell,
                             struct error *error)
{
    const struct column *declared = &row->schema->columns[column];
    if (schema_is_feature(declared))
        return features_of(row, column, floats, cell, error);
    if (declared->kind == COLUMN_LABEL)
        return target_of(row, column, target, cell, error);
    return declared->kind == COLUMN_IGNORED ? ST_OK
                                            : persons_read_id(&target->id, cell, error);
}
