#include "engine/data/encode.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/check.h"
#include "base/hash.h"
#include "engine/data/calendar.h"
#include "engine/data/cell_text.h"
#include "engine/data/decimal.h"
#include "engine/data/string_index.h"
#include "engine/data/text_column.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct cell trim(struct cell cell)
{
    while (cell.size > 0 && is_blank(cell.text[0])) {
        cell.text++;
        cell.size--;
    }
    while (cell.size > 0 && is_blank(cell.text[cell.size - 1]))
        cell.size--;
    return cell;
}

static bool read_number(double *value, struct cell cell, bool comma)
{
    const char *end = cell.text + cell.size;
    double read;
    const char *read_to = comma ? decimal_read_comma(&read, cell.text, end)
                                : decimal_read(&read, cell.text, end);
    if (read_to != end || !isfinite(read))
        return false;
    *value = read;
    return true;
}

enum status encode_number(double *value, const char *text, size_t size)
{
    return read_number(value, trim((struct cell){text, size}), false) ? ST_OK
                                                                      : ST_INVALID;
}

/* Maps [low, high] to [-1, 1]; clips values outside. */
static float map_range(double value, double low, double high)
{
    if (value <= low)
        return -1;
    if (value >= high)
        return 1;
    double width = high - low;
    if (isfinite(width))
        return (float)(2 * ((value - low) / width) - 1);
    return (float)(2 * ((value / 2 - low / 2) / (high / 2 - low / 2)) - 1);
}

float encode_value(const struct schema *schema, double value)
{
    enum record_form form = schema->reader->form;
    CHECK(form != FORM_COLUMNS);
    if (form == FORM_SHAPED)
        return (float)(value / (double)(float)schema->scale);
    return schema->has_range ? map_range(value, schema->low, schema->high)
                             : (float)value;
}

float encode_column_value(const struct column *column, double value)
{
    return map_range(value, column->low, column->high);
}

float encode_target(const struct schema *schema, double value)
{
    double low, high;
    CHECK(schema_target_range(schema, &low, &high));
    return map_range(value, low, high);
}

/* ---- cells of each kind ---- */

static uint32_t find_value(const struct encoder *encoder, struct cell cell)
{
    return string_index_find(encoder->values, cell.text, cell.size);
}

static uint32_t find_bucket(const struct encoder *encoder, struct cell cell)
{
    return encode_bucket(encoder->column, cell);
}

static bool read_decimal(double *value, const struct encoder *encoder, struct cell cell)
{
    return read_number(value, cell, encoder->decimal_comma);
}

static bool read_boolean(double *value, const struct encoder *encoder, struct cell cell)
{
    static const char *const words[2][6] = {{"false", "0", "no", "n", "f", "off"},
                                            {"true", "1", "yes", "y", "t", "on"}};
    (void)encoder;
    for (size_t i = 0; i < 6; i++) {
        for (int k = 0; k < 2; k++) {
            *value = k;
            if (strlen(words[k][i]) == cell.size &&
                strncasecmp(words[k][i], cell.text, cell.size) == 0)
                return true;
        }
    }
    return false;
}

bool encode_is_boolean(const char *text)
{
    double value;
    return read_boolean(&value, NULL, (struct cell){text, strlen(text)});
}

static bool read_date(double *value, const struct encoder *encoder, struct cell cell)
{
    return calendar_read(value, encoder->column->format, cell.text, cell.size);
}

/* How the cells of a kind are read: as a number, or as the index of a word, which is
 * STRING_INDEX_ABSENT if there is none; and the fault of other cells. */
static const struct cell_kind {
    bool (*number)(double *value, const struct encoder *encoder, struct cell cell);
    uint32_t (*word)(const struct encoder *encoder, struct cell cell);
    const char *fault;
} kinds[COLUMN_KIND_COUNT] = {
    [COLUMN_NUMERIC] = {read_decimal, NULL, "the cell is not a finite decimal number"},
    [COLUMN_BOOLEAN] = {read_boolean, NULL,
                        "the cell is none of true, yes, y, t, on, 1, false, no, n, f, "
                        "off, 0"},
    [COLUMN_DATE] = {read_date, NULL, "the cell is no date of the declared format"},
    [COLUMN_CATEGORICAL] = {NULL, find_value,
                            "the cell is none of the values declared"},
    [COLUMN_HASHED] = {NULL, find_bucket, ""},
    [COLUMN_LABEL] = {read_decimal, find_value, NULL}, /* by its task */
};

uint32_t encode_bucket(const struct column *column, struct cell cell)
{
    char seed[24];
    uint8_t digest[SHA256_SIZE];
    uint64_t number = 0;
    struct sha256 *hash = sha256_create();
    int size = snprintf(seed, sizeof seed, "%" PRIu64 ":", column->seed);
    sha256_update(hash, seed, (size_t)size);
    sha256_update(hash, cell.text, cell.size);
    sha256_finish(hash, digest);
    sha256_destroy(hash);
    for (size_t i = 0; i < sizeof number; i++)
        number = number << 8 | digest[i];
    return (uint32_t)(number % column->buckets);
}

/* ---- encoders ---- */

/* A text of a missing cell may be a number in either notation: files have the declared
 * one, and numbers in requests have a point. */
static enum status read_missing_numbers(struct encoder *encoder)
{
    const struct column *column = encoder->column;
    if (column->kind != COLUMN_NUMERIC || column->missing_count == 0)
        return ST_OK;
    encoder->missing_numbers =
        calloc(column->missing_count, sizeof *encoder->missing_numbers);
    if (encoder->missing_numbers == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < column->missing_count; i++) {
        double *next = &encoder->missing_numbers[encoder->missing_number_count];
        const struct cell text = {column->missing[i], strlen(column->missing[i])};
        encoder->missing_number_count +=
            read_number(next, text, false) || read_number(next, text, true);
    }
    return ST_OK;
}

enum status encoder_init(struct encoder *encoder, const struct column *column,
                         struct error *error)
{
    *encoder = (struct encoder){.column = column};
    enum status status = read_missing_numbers(encoder);
    encoder->is_plain_number = column->kind == COLUMN_NUMERIC &&
                               encoder->missing_number_count == 0 &&
                               !column->missing_feature;
    if (status == ST_OK && column->value_count > 0) {
        encoder->values = string_index_create(column->values, column->value_count);
        status = encoder->values != NULL ? ST_OK : ST_NO_MEMORY;
    }
    if (status == ST_OK)
        return ST_OK;
    encoder_fini(encoder);
    return error_set(error, status, "no memory for the values of a column");
}

void encoder_fini(struct encoder *encoder)
{
    string_index_destroy(encoder->values);
    free(encoder->missing_numbers);
    *encoder = (struct encoder){0};
}

/* ---- missing cells ---- */

static struct cell cell_of(const char *text)
{
    return trim((struct cell){text, strlen(text)});
}

static bool is_missing(const struct column *column, struct cell cell)
{
    for (size_t i = 0; i < column->missing_count; i++)
        if (strlen(column->missing[i]) == cell.size &&
            memcmp(column->missing[i], cell.text, cell.size) == 0)
            return true;
    return cell.size == 0;
}

static bool is_missing_number(const struct encoder *encoder, double value)
{
    for (size_t i = 0; i < encoder->missing_number_count; i++)
        if (encoder->missing_numbers[i] == value)
            return true;
    return false;
}

static enum status refuse(const struct encoder *encoder, struct error *error,
                          const char *fault)
{
    return error_set(error, ST_INVALID, "column \"%.60s\": %s%s", encoder->column->name,
                     fault,
                     fault == kinds[COLUMN_NUMERIC].fault && encoder->decimal_comma
                         ? " with a decimal comma"
                         : "");
}

static enum status refuse_missing(const struct encoder *encoder, struct cell cell,
                                  struct error *error)
{
    return refuse(encoder, error,
                  cell.size == 0
                      ? "the cell is empty and no default is declared"
                      : "the cell is declared as missing and no default is declared");
}

double encode_default(const struct column *column)
{
    double value = 0;
    CHECK(column->fallback != NULL);
    const struct cell text = cell_of(column->fallback);
    bool read = column->kind == COLUMN_BOOLEAN ? read_boolean(&value, NULL, text)
                : column->kind == COLUMN_DATE
                    ? calendar_read(&value, CALENDAR_ISO, text.text, text.size)
                    : read_number(&value, text, false);
    CHECK(read);
    return value;
}

/* ---- numbers ---- */

struct reading_of_number {
    double value; /* if it has one */
    bool has_value, is_missing;
};

/* Reads a cell of numbers; a missing one has the default's value, if there is one. */
static enum status resolve_number(const struct encoder *encoder,
                                  struct reading_of_number *read, struct cell cell,
                                  struct error *error)
{
    const struct column *column = encoder->column;
    const struct cell_kind *kind = &kinds[column->kind];
    cell = trim(cell);
    *read = (struct reading_of_number){.is_missing = is_missing(column, cell)};
    if (!read->is_missing) {
        const bool is_number = kind->number(&read->value, encoder, cell);
        if (!is_number && !encoder->takes_any)
            return refuse(encoder, error,
                          kind->fault != NULL ? kind->fault
                                              : kinds[COLUMN_NUMERIC].fault);
        read->is_missing = !is_number || is_missing_number(encoder, read->value);
    }
    read->has_value = !read->is_missing || column->fallback != NULL;
    if (read->is_missing && column->fallback != NULL)
        read->value = encode_default(column);
    if (read->has_value || column->missing_feature)
        return ST_OK;
    if (!encoder->takes_any)
        return refuse_missing(encoder, cell, error);
    read->has_value = true;
    read->value = column->low;
    return ST_OK;
}

/* Writes one feature for each value of each declared part. A date outside the range is
 * the range's end, in its parts too. */
static float *write_parts(float *out, const struct column *column,
                          const struct reading_of_number *read)
{
    const double days = fmin(fmax(read->value, column->low), column->high);
    for (int i = 0; i < CALENDAR_PART_COUNT; i++) {
        const enum calendar_part part = (enum calendar_part)i;
        if ((column->parts >> i & 1) == 0)
            continue;
        memset(out, 0, calendar_part_size(part) * sizeof *out);
        if (read->has_value)
            out[calendar_part_of(part, (int64_t)days)] = 1;
        out += calendar_part_size(part);
    }
    return out;
}

static enum status encode_number_cell(const struct encoder *encoder, float *out,
                                      struct cell cell, struct error *error)
{
    const struct column *column = encoder->column;
    struct reading_of_number read;
    enum status status = resolve_number(encoder, &read, cell, error);
    if (status != ST_OK)
        return status;
    *out++ = read.has_value ? encode_column_value(column, read.value) : 0;
    if (column->parts != 0)
        out = write_parts(out, column, &read);
    if (column->missing_feature)
        *out = read.is_missing ? 1 : 0;
    return ST_OK;
}

/* ---- words ---- */

/* Returns the word of a missing cell for which the column declares neither a category nor
 * a default. */
static uint32_t missing_word(const struct encoder *encoder)
{
    const struct column *column = encoder->column;
    if (column->kind == COLUMN_HASHED)
        return find_bucket(encoder, cell_of(""));
    return column->other ? schema_column_own_features(column) : 0;
}

/* Returns the word of an undeclared one in a column without a category for others. */
static uint32_t undeclared_word(const struct encoder *encoder)
{
    const struct column *column = encoder->column;
    if (column->fallback != NULL)
        return kinds[column->kind].word(encoder, cell_of(column->fallback));
    return column->missing_feature ? schema_column_own_features(column) : 0;
}

static enum status resolve_word(const struct encoder *encoder, uint32_t *word,
                                struct cell cell, struct error *error)
{
    const struct column *column = encoder->column;
    const struct cell_kind *kind = &kinds[column->kind];
    cell = trim(cell);
    if (is_missing(column, cell)) {
        *word = schema_column_own_features(column) + column->other;
        if (column->missing_feature)
            return ST_OK;
        if (column->fallback == NULL && !encoder->takes_any)
            return refuse_missing(encoder, cell, error);
        if (column->fallback == NULL) {
            *word = missing_word(encoder);
            return ST_OK;
        }
        cell = cell_of(column->fallback);
    }
    *word = kind->word(encoder, cell);
    if (*word != STRING_INDEX_ABSENT)
        return ST_OK;
    if (!column->other && !encoder->takes_any)
        return refuse(encoder, error, kinds[COLUMN_CATEGORICAL].fault);
    *word =
        column->other ? schema_column_own_features(column) : undeclared_word(encoder);
    return ST_OK;
}

bool encoder_lacks_word(const struct encoder *encoder, struct cell *word,
                        struct cell cell)
{
    *word = trim(cell);
    return encoder->values != NULL && !is_missing(encoder->column, *word) &&
           find_value(encoder, *word) == STRING_INDEX_ABSENT;
}

static enum status encode_text_cell(const struct encoder *encoder, float *out,
                                    struct cell cell, struct error *error)
{
    struct error reason = {0};
    cell = trim(cell);
    if (encoder->takes_any && cell.size > TOKENIZER_TEXT_SIZE_MAX)
        cell.size = TOKENIZER_TEXT_SIZE_MAX;
    enum status status =
        text_column_encode(encoder->column->text, encoder->tokenizer,
                           (struct text){cell.text, cell.size}, out, &reason);
    if (status == ST_INVALID)
        return refuse(encoder, error, reason.text);
    return status == ST_OK ? ST_OK : error_set(error, status, "%s", reason.text);
}

static enum status encode_word_cell(const struct encoder *encoder, float *out,
                                    struct cell cell, struct error *error)
{
    const struct column *column = encoder->column;
    uint32_t word;
    enum status status = resolve_word(encoder, &word, cell, error);
    if (status != ST_OK)
        return status;
    memset(out, 0, schema_column_features(column) * sizeof *out);
    out[word] = 1;
    return ST_OK;
}

enum status encoder_features(const struct encoder *encoder, float *out,
                             struct cell cell, struct error *error)
{
    switch (column_kind_form(encoder->column->kind)) {
    case COLUMN_FORM_NUMBER: return encode_number_cell(encoder, out, cell, error);
    case COLUMN_FORM_WORD: return encode_word_cell(encoder, out, cell, error);
    case COLUMN_FORM_IDS: return encode_text_cell(encoder, out, cell, error);
    case COLUMN_FORM_NONE: break;
    }
    CHECK(false); /* the column makes no features */
}

void encoder_text(const struct encoder *encoder, float *out, struct cell cell)
{
    const struct column *column = encoder->column;
    cell = trim(cell);
    if (is_missing(column, cell))
        cell.size = 0;
    cell_text_pack(out, column->text_bytes, cell.text, cell.size);
}

enum status encoder_class(const struct encoder *encoder, uint32_t *class_index,
                          struct cell cell, struct error *error)
{
    return resolve_word(encoder, class_index, cell, error);
}

enum status encoder_target(const struct encoder *encoder, float *target,
                           struct cell cell, struct error *error)
{
    struct reading_of_number read;
    enum status status = resolve_number(encoder, &read, cell, error);
    if (status == ST_OK)
        *target = encode_column_value(encoder->column, read.value);
    return status;
}
