/*
 * schema.h - the declaration of a dataset by its owner: format, task, columns, ranges.
 * All of it is public (P7); nothing here is learnt from the records. The form of the
 * format's records (reader.h) determines what a schema must declare.
 *
 * Cells become features and a target in the same way at import and at predict:
 *   shaped       feature = value / scale, with scale rounded to float32
 *   indexed      value, or clipped to [low, high] and mapped to [-1, 1] if a range is
 *                given; an absent index is 0 before mapping
 *   numeric      clipped to [low, high], mapped to [-1, 1]
 *   boolean      -1 or 1
 *   date         its days since 1970-01-01, as a number; then the declared parts of the
 *                year, each one feature per value
 *   categorical  one feature per declared value, 1 for the cell's value, else 0; one
 *                more for all other words, if declared
 *   hashed       one feature per bucket; a cell's bucket is a hash of its text under the
 *                column's public seed. If declared, the text itself is stored behind the
 *                features of the row (cell_text.h), where only a discovery reads it
 *   label        the index of the value in the declared list, from 0; regression:
 *                clipped to [low, high] and mapped to [-1, 1], predictions mapped back
 *   missing      an empty cell, or one with a declared text, takes the column's default.
 *                If declared, it has one more feature, the last one of the column: then
 *                the other features of a word are 0, and a number without default is 0,
 *                the middle of its range
 *   text         the ids of its tokens, `length` of them, -1 behind the end
 *                (text_column.h). It is the only column that makes features
 *   privacy_id   no feature: rows with the same text are one person's (persons.h). In a
 *                format without columns the ids are in a separate file (id_file.h)
 *
 * Ownership: a schema owns its columns and strings; schema_fini releases them.
 */
#ifndef ENGINE_DATA_SCHEMA_H
#define ENGINE_DATA_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/privacy_unit.h"
#include "base/status.h"
#include "engine/data/dialect.h"
#include "engine/data/reader.h"

struct text_column; /* engine/data/text_column.h */

enum task { TASK_CLASSIFICATION, TASK_REGRESSION };
/* Rows of schema.c's table of kinds. */
enum column_kind {
    COLUMN_NUMERIC,
    COLUMN_CATEGORICAL,
    COLUMN_LABEL,
    COLUMN_IGNORED,
    COLUMN_PRIVACY_ID,
    COLUMN_BOOLEAN,
    COLUMN_DATE,
    COLUMN_HASHED,
    COLUMN_TEXT,
    COLUMN_KIND_COUNT
};

/* What a column of a kind becomes. */
enum column_form {
    COLUMN_FORM_NONE,   /* no feature */
    COLUMN_FORM_NUMBER, /* a number in a range, which is mapped to [-1, 1] */
    COLUMN_FORM_WORD,   /* one of a fixed number of words, each with a feature */
    COLUMN_FORM_IDS,    /* ids of tokens in their order, which are no numbers */
};

struct column {
    char *name;
    enum column_kind kind;
    double low, high;   /* numbers, and the label of a regression; low < high */
    size_t value_count; /* categorical, and the label of a classification */
    char **values;
    char *fallback; /* replaces a missing cell; NULL: a missing cell is an error, unless
                       it has a feature of its own */

    /* The texts of missing cells. An empty cell is always missing. */
    size_t missing_count; /* at most COLUMN_MISSING_MAX */
    char **missing;
    bool missing_feature; /* one more feature, 1 if the cell is missing, which exists
                             whether or not a cell is missing */
    bool other;           /* categorical: one more feature for all undeclared words */

    uint32_t buckets; /* hashed: the number of words */
    uint64_t seed;    /* hashed: public, drawn when the dataset was declared */
    bool has_seed;    /* hashed: the seed is known */
    /* hashed: bytes of each cell's text that are stored; at most CELL_TEXT_MAX; 0: none */
    uint32_t text_bytes;

    char *format;   /* date: calendar.h */
    unsigned parts; /* date: bits of enum calendar_part */

    struct text_column *text; /* text: owned; else NULL */
};

enum { COLUMN_MISSING_MAX = 16 };

struct schema {
    const struct reader *reader; /* its format's row of the table, not owned */
    enum task task;
    uint32_t classes; /* 0 for regression */

    /* FORM_SHAPED */
    size_t shape_count; /* dimensions of one record */
    uint32_t shape[READER_SHAPE_MAX];
    double scale; /* > 0 */

    /* FORM_COLUMNS */
    bool header; /* the file names the columns, in its first line; or in each record, if
                    the format has no dialect */
    struct dialect dialect;
    size_t column_count;
    struct column *columns;

    /* FORM_INDEXED */
    uint32_t feature_count;
    bool has_range;
    double low, high; /* the range of features, if has_range */
    double *labels;   /* (classes) in class order; NULL: 0..classes-1 */

    /* All forms but FORM_COLUMNS; a regression needs the range. */
    bool has_target_range;
    double target_low, target_high;
    bool has_id_file; /* SCHEMA_ID_FILE says to which person each record belongs */

    /* All forms, if the unit is the person. */
    uint32_t rows_kept; /* rows that an import keeps per person; 0: MATRIX_SLOTS_MAX */
};

void schema_fini(struct schema *schema); /* a zeroed one is allowed */

/* Returns how many features one encoded record has. */
uint32_t schema_features(const struct schema *schema);

/* Returns how many floats of texts follow the features of a stored record. */
uint32_t schema_text_floats(const struct schema *schema);

struct data_shape {    /* the sizes that a model must fit */
    uint32_t features; /* in one encoded record */
    uint32_t classes;  /* 0 for regression */
};
struct data_shape schema_shape(const struct schema *schema);

/* Returns how many cells a record has in a predict request: its features, or for csv
 * the columns that make features. */
uint32_t schema_cells(const struct schema *schema);

/* Writes the declared text of a class: a csv or libsvm label, or its number. */
void schema_class_name(const struct schema *schema, uint32_t class_index, char *text,
                       size_t size);

/* The names of the uploaded files: those of the format, then that of the ids, if there
 * is one. */
#define SCHEMA_ID_FILE "privacy_id"
enum { SCHEMA_FILES_MAX = READER_FILES_MAX + 1 };
size_t schema_file_count(const struct schema *schema);
const char *schema_file_name(const struct schema *schema, size_t index);
bool schema_has_file(const struct schema *schema, const char *name);

/* Returns whether a record has a cell for each declared column. */
bool schema_has_columns(const struct schema *schema);

/* The name of a kind, as in schemas, and its form. */
const char *column_kind_name(enum column_kind kind);
enum column_form column_kind_form(enum column_kind kind);

/* Returns whether the column makes features, and has a cell in a predict request. */
bool schema_is_feature(const struct column *column);

/* Returns the number of features of a column that makes features, and of those before
 * the ones for other words and for missing cells. */
uint32_t schema_column_features(const struct column *column);
uint32_t schema_column_own_features(const struct column *column);

/* Writes the name of a feature of a column of words: a declared value, the number of a
 * bucket, COLUMN_OTHER or COLUMN_MISSING. A classification's label has its values. */
#define COLUMN_OTHER   "other"
#define COLUMN_MISSING "missing"
void schema_word_name(const struct column *column, uint32_t word, char *text,
                      size_t size);

/* Returns whether every cell of a file can be given a feature without refusing the file:
 * each column of declared words, the label included, has a category for other words or
 * for missing cells, or a default. If not, sets *column to the first one that has none.
 * Numbers, dates, hashed words and texts always can (encode.h). */
bool schema_takes_any(const struct schema *schema, size_t *column);

/* Returns the privacy unit of a dataset of this schema: the person if a column or a
 * file says to whom each row belongs, else the record. This function is the only source
 * of that fact. */
enum privacy_unit schema_unit(const struct schema *schema);

/* Returns how many rows an import keeps per person at most, a power of two. Every
 * person takes the room of that many rows. */
uint32_t schema_rows_kept(const struct schema *schema);

/* Returns the column of texts, or NULL if there is none. */
const struct column *schema_text(const struct schema *schema);

/* Returns the label column, or NULL if there are no columns. */
const struct column *schema_label(const struct schema *schema);

/* Reads the declared range of a regression's target; false if none is declared. */
bool schema_target_range(const struct schema *schema, double *low, double *high);

/* Returns the target of a regression in the label's own unit. */
double schema_target(const struct schema *schema, double mapped);

/* Returns half the range of a regression's target, which maps to 1; returns 1 for a
 * classification. */
double schema_half_range(const struct schema *schema);

/* Returns whether a and b have the same format, or both columns, and the same task,
 * classes (texts or numbers), and features in the same encoding, including names.
 * Ignored columns, id columns, the header, the dialect, defaults, texts of missing cells
 * and stored texts may differ. */
bool schema_agrees(const struct schema *a, const struct schema *b);

const char *task_name(enum task task); /* classification regression */
bool task_parse(enum task *task, const char *text);

#endif
