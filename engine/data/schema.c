#include "engine/data/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/data/calendar.h"
#include "engine/data/cell_text.h"
#include "engine/data/matrix.h"
#include "engine/data/text_column.h"

static const char *const task_names[] = {
    [TASK_CLASSIFICATION] = "classification",
    [TASK_REGRESSION] = "regression",
};

static const struct {
    const char *name;
    enum column_form form;
} kinds[COLUMN_KIND_COUNT] = {
    [COLUMN_NUMERIC] = {"numeric", COLUMN_FORM_NUMBER},
    [COLUMN_CATEGORICAL] = {"categorical", COLUMN_FORM_WORD},
    [COLUMN_LABEL] = {"label", COLUMN_FORM_NONE},
    [COLUMN_IGNORED] = {"ignored", COLUMN_FORM_NONE},
    [COLUMN_PRIVACY_ID] = {"privacy_id", COLUMN_FORM_NONE},
    [COLUMN_BOOLEAN] = {"boolean", COLUMN_FORM_NUMBER},
    [COLUMN_DATE] = {"date", COLUMN_FORM_NUMBER},
    [COLUMN_HASHED] = {"hashed", COLUMN_FORM_WORD},
    [COLUMN_TEXT] = {"text", COLUMN_FORM_IDS},
};

const char *column_kind_name(enum column_kind kind)
{
    return kinds[kind].name;
}

enum column_form column_kind_form(enum column_kind kind)
{
    return kinds[kind].form;
}

static void texts_free(char **texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
}

static void column_fini(struct column *column)
{
    texts_free(column->values, column->value_count);
    texts_free(column->missing, column->missing_count);
    free(column->fallback);
    free(column->format);
    free(column->text);
    free(column->name);
}

void schema_fini(struct schema *schema)
{
    for (size_t i = 0; i < schema->column_count; i++)
        column_fini(&schema->columns[i]);
    free(schema->columns);
    free(schema->labels);
    *schema = (struct schema){0};
}

bool schema_is_feature(const struct column *column)
{
    return column_kind_form(column->kind) != COLUMN_FORM_NONE;
}

static uint32_t shaped_features(const struct schema *schema)
{
    uint32_t features = 1;
    for (size_t i = 0; i < schema->shape_count; i++)
        CHECK(!__builtin_mul_overflow(features, schema->shape[i], &features));
    return features;
}

static uint32_t features_of_columns(const struct schema *schema)
{
    uint32_t features = 0;
    for (size_t i = 0; i < schema->column_count; i++) {
        const struct column *column = &schema->columns[i];
        if (schema_is_feature(column))
            CHECK(!__builtin_add_overflow(features, schema_column_features(column),
                                          &features));
    }
    return features;
}

uint32_t schema_features(const struct schema *schema)
{
    switch (schema->reader->form) {
    case FORM_SHAPED: return shaped_features(schema);
    case FORM_INDEXED: return schema->feature_count;
    case FORM_COLUMNS: return features_of_columns(schema);
    }
    return 0;
}

uint32_t schema_text_floats(const struct schema *schema)
{
    uint32_t floats = 0;
    for (size_t i = 0; i < schema->column_count; i++)
        floats += cell_text_floats(schema->columns[i].text_bytes);
    return floats;
}

struct data_shape schema_shape(const struct schema *schema)
{
    return (struct data_shape){.features = schema_features(schema),
                               .classes = schema->classes};
}

uint32_t schema_cells(const struct schema *schema)
{
    if (!schema_has_columns(schema))
        return schema_features(schema);
    uint32_t cells = 0;
    for (size_t i = 0; i < schema->column_count; i++)
        cells += schema_is_feature(&schema->columns[i]);
    return cells;
}

size_t schema_file_count(const struct schema *schema)
{
    return reader_file_count(schema->reader) + schema->has_id_file;
}

const char *schema_file_name(const struct schema *schema, size_t index)
{
    CHECK(index < schema_file_count(schema));
    return index < reader_file_count(schema->reader) ? schema->reader->files[index]
                                                     : SCHEMA_ID_FILE;
}

bool schema_has_file(const struct schema *schema, const char *name)
{
    for (size_t i = 0; i < schema_file_count(schema); i++)
        if (strcmp(schema_file_name(schema, i), name) == 0)
            return true;
    return false;
}

bool schema_has_columns(const struct schema *schema)
{
    return schema->reader->form == FORM_COLUMNS;
}

uint32_t schema_column_own_features(const struct column *column)
{
    if (column_kind_form(column->kind) == COLUMN_FORM_NUMBER)
        return 1 + calendar_parts_size(column->parts);
    if (column->kind == COLUMN_TEXT)
        return column->text->length;
    return column->kind == COLUMN_HASHED ? column->buckets
                                         : (uint32_t)column->value_count;
}

uint32_t schema_column_features(const struct column *column)
{
    return schema_column_own_features(column) + column->other + column->missing_feature;
}

void schema_word_name(const struct column *column, uint32_t word, char *text,
                      size_t size)
{
    uint32_t own = schema_column_own_features(column);
    if (word >= own)
        snprintf(text, size, "%s",
                 word == own && column->other ? COLUMN_OTHER : COLUMN_MISSING);
    else if (column->value_count > 0)
        snprintf(text, size, "%s", column->values[word]);
    else
        snprintf(text, size, "%" PRIu32, word);
}

static const struct column *first_of(const struct schema *schema, enum column_kind kind)
{
    for (size_t i = 0; i < schema->column_count; i++) {
        if (schema->columns[i].kind == kind)
            return &schema->columns[i];
    }
    return NULL;
}

bool schema_takes_any(const struct schema *schema, size_t *column)
{
    for (size_t i = 0; i < schema->column_count; i++) {
        const struct column *declared = &schema->columns[i];
        if (declared->value_count == 0 || declared->other ||
            declared->missing_feature || declared->fallback != NULL)
            continue;
        *column = i;
        return false;
    }
    return true;
}

enum privacy_unit schema_unit(const struct schema *schema)
{
    bool has_ids = schema->has_id_file || first_of(schema, COLUMN_PRIVACY_ID) != NULL;
    return has_ids ? PRIVACY_UNIT_PERSON : PRIVACY_UNIT_RECORD;
}

uint32_t schema_rows_kept(const struct schema *schema)
{
    return schema->rows_kept > 0 ? schema->rows_kept : MATRIX_SLOTS_MAX;
}

const struct column *schema_text(const struct schema *schema)
{
    return first_of(schema, COLUMN_TEXT);
}

const struct column *schema_label(const struct schema *schema)
{
    return first_of(schema, COLUMN_LABEL);
}

void schema_class_name(const struct schema *schema, uint32_t class_index, char *text,
                       size_t size)
{
    CHECK(class_index < schema->classes);
    const struct column *label = schema_label(schema);
    if (label != NULL)
        snprintf(text, size, "%s", label->values[class_index]);
    else if (schema->labels != NULL)
        snprintf(text, size, "%.15g", schema->labels[class_index]);
    else
        snprintf(text, size, "%" PRIu32, class_index);
}

bool schema_target_range(const struct schema *schema, double *low, double *high)
{
    const struct column *label = schema_label(schema);
    if (label != NULL) {
        *low = label->low;
        *high = label->high;
        return true;
    }
    *low = schema->target_low;
    *high = schema->target_high;
    return schema->has_target_range;
}

double schema_target(const struct schema *schema, double mapped)
{
    double low, high;
    CHECK(schema_target_range(schema, &low, &high));
    double share = (mapped + 1) / 2;
    return low * (1 - share) + high * share; /* high - low may overflow */
}

double schema_half_range(const struct schema *schema)
{
    double low, high;
    return schema->task == TASK_REGRESSION && schema_target_range(schema, &low, &high)
               ? high / 2 - low / 2
               : 1;
}

static bool texts_agree(const struct column *a, const struct column *b)
{
    if (a->value_count != b->value_count)
        return false;
    for (size_t i = 0; i < a->value_count; i++) {
        if (strcmp(a->values[i], b->values[i]) != 0)
            return false;
    }
    return true;
}

static bool ranges_agree(const struct column *a, const struct column *b)
{
    return a->low == b->low && a->high == b->high;
}

/* A date's format may differ, as the text of missing cells may: it says how cells are
 * written, not what they mean. */
static bool column_agrees(const struct column *a, const struct column *b)
{
    if (a->kind != b->kind || strcmp(a->name, b->name) != 0 || a->other != b->other ||
        a->missing_feature != b->missing_feature)
        return false;
    return ranges_agree(a, b) && texts_agree(a, b) && a->parts == b->parts &&
           a->buckets == b->buckets && a->seed == b->seed &&
           (a->kind != COLUMN_TEXT || text_column_agrees(a->text, b->text));
}

static const struct column *next_feature(const struct schema *schema, size_t *place)
{
    while (*place < schema->column_count) {
        const struct column *column = &schema->columns[(*place)++];
        if (schema_is_feature(column))
            return column;
    }
    return NULL;
}

static bool columns_agree(const struct schema *a, const struct schema *b)
{
    size_t in_a = 0, in_b = 0;
    for (;;) {
        const struct column *of_a = next_feature(a, &in_a);
        const struct column *of_b = next_feature(b, &in_b);
        if (of_a == NULL || of_b == NULL)
            return of_a == of_b;
        if (!column_agrees(of_a, of_b))
            return false;
    }
}

static bool shaped_agrees(const struct schema *a, const struct schema *b)
{
    return a->shape_count == b->shape_count && a->scale == b->scale &&
           memcmp(a->shape, b->shape, a->shape_count * sizeof *a->shape) == 0;
}

static bool indexed_agrees(const struct schema *a, const struct schema *b)
{
    return a->feature_count == b->feature_count && a->has_range == b->has_range &&
           (!a->has_range || (a->low == b->low && a->high == b->high));
}

static double label_value(const struct schema *schema, uint32_t class_index)
{
    return schema->labels != NULL ? schema->labels[class_index] : class_index;
}

static bool targets_agree(const struct schema *a, const struct schema *b)
{
    if (a->task == TASK_REGRESSION) {
        double low_a, high_a, low_b, high_b;
        return schema_target_range(a, &low_a, &high_a) &&
               schema_target_range(b, &low_b, &high_b) && low_a == low_b &&
               high_a == high_b;
    }
    if (schema_has_columns(a))
        return texts_agree(schema_label(a), schema_label(b));
    for (uint32_t i = 0; i < a->classes; i++) {
        if (label_value(a, i) != label_value(b, i))
            return false;
    }
    return true;
}

static bool features_agree(const struct schema *a, const struct schema *b)
{
    switch (a->reader->form) {
    case FORM_SHAPED: return shaped_agrees(a, b);
    case FORM_INDEXED: return indexed_agrees(a, b);
    case FORM_COLUMNS: return columns_agree(a, b);
    }
    return false;
}

bool schema_agrees(const struct schema *a, const struct schema *b)
{
    const bool both = schema_has_columns(a) && schema_has_columns(b);
    return (a->reader == b->reader || both) && a->task == b->task &&
           a->classes == b->classes && features_agree(a, b) && targets_agree(a, b);
}

const char *task_name(enum task task)
{
    return task_names[task];
}

bool task_parse(enum task *task, const char *text)
{
    for (int i = TASK_CLASSIFICATION; i <= TASK_REGRESSION; i++) {
        if (strcmp(task_names[i], text) == 0) {
            *task = (enum task)i;
            return true;
        }
    }
    return false;
}
