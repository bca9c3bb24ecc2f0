/*
 * schema.h - what a dataset's owner declares about it: format, task, columns, ranges.
 * All of it is public knowledge (P7); nothing here is learnt from the records. What a
 * schema has to declare depends on the form of its format's records (reader.h).
 *
 * How cells become features and a target, the same at import and at predict:
 *   shaped       feature = value / scale, with scale rounded to float32
 *   indexed      value, or clipped to [low, high] and mapped to [-1, 1] where a range is
 *                given; an absent index is 0 before mapping
 *   numeric      clipped to [low, high], mapped to [-1, 1]; its default where the cell
 *                is empty
 *   categorical  one feature per declared value, 1 at the cell's, else 0
 *   label        the place of the value in the declared list, from 0; regression:
 *                clipped to [low, high] and mapped to [-1, 1], predictions mapped back
 *   privacy_id   no feature: rows with the same text are one person's (persons.h). Where
 *                there are no columns the texts come in a file of their own (id_file.h)
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
#include "engine/data/reader.h"

enum task { TASK_CLASSIFICATION, TASK_REGRESSION };
enum column_kind {
    COLUMN_NUMERIC,
    COLUMN_CATEGORICAL,
    COLUMN_LABEL,
    COLUMN_IGNORED,
    COLUMN_PRIVACY_ID
};

struct column {
    char *name;
    enum column_kind kind;
    double low, high;   /* numeric, and the label of a regression; low < high */
    size_t value_count; /* categorical, and the label of a classification */
    char **values;
    char *fallback; /* stands for an empty cell, or NULL: an empty cell is an error */
};

struct schema {
    const struct reader *reader; /* its format's row of the table, not owned */
    enum task task;
    uint32_t classes; /* 0 for regression */

    /* FORM_SHAPED */
    size_t shape_count; /* dimensions of one record */
    uint32_t shape[READER_SHAPE_MAX];
    double scale; /* > 0 */

    /* FORM_COLUMNS */
    bool header; /* the file begins with the names of the columns */
    size_t column_count;
    struct column *columns;

    /* FORM_INDEXED */
    uint32_t feature_count;
    bool has_range;
    double low, high; /* the range of features, where has_range */
    double *labels;   /* (classes) in class order; NULL: 0..classes-1 */

    /* All forms but FORM_COLUMNS; a regression needs the range. */
    bool has_target_range;
    double target_low, target_high;
    bool has_id_file; /* SCHEMA_ID_FILE says whose each record is */

    /* All forms, where the unit is the person. */
    uint32_t rows_kept; /* of a person, by an import; 0: MATRIX_SLOTS_MAX */
};

void schema_fini(struct schema *schema); /* a zeroed one is allowed */

/* How many features one encoded record has. */
uint32_t schema_features(const struct schema *schema);

struct data_shape {    /* what a model has to fit */
    uint32_t features; /* in one encoded record */
    uint32_t classes;  /* 0 for regression */
};
struct data_shape schema_shape(const struct schema *schema);

/* How many cells one record has as a client sends it to predict: its features, or for csv
 * the columns that are numeric or categorical. */
uint32_t schema_cells(const struct schema *schema);

/* The declared text of a class: a csv or libsvm label, or its number. */
void schema_class_name(const struct schema *schema, uint32_t class_index, char *text,
                       size_t size);

/* The names of the files that are uploaded: those of the format, and behind them that of
 * ids, where there is one. */
#define SCHEMA_ID_FILE "privacy_id"
enum { SCHEMA_FILES_MAX = READER_FILES_MAX + 1 };
size_t schema_file_count(const struct schema *schema);
const char *schema_file_name(const struct schema *schema, size_t index);
bool schema_has_file(const struct schema *schema, const char *name);

/* Whether a record is a cell for each declared column. */
bool schema_has_columns(const struct schema *schema);

/* How many features a numeric or categorical column makes: 1, or one for each value. */
uint32_t schema_column_features(const struct column *column);

/* The privacy unit of a dataset of this schema: persons where a column or a file says whose
 * each row is, else records. Whoever has to know asks this, and nothing else. */
enum privacy_unit schema_unit(const struct schema *schema);

/* How many rows an import keeps of a person, at most, a power of two; everybody takes the room
 * of as many. */
uint32_t schema_rows_kept(const struct schema *schema);

/* The label column, or NULL where there are no columns. */
const struct column *schema_label(const struct schema *schema);

/* The declared range of a regression's target; false where none is declared. */
bool schema_target_range(const struct schema *schema, double *low, double *high);

/* The target of a regression in the label's own unit. */
double schema_target(const struct schema *schema, double mapped);

/* Half the range of a regression's target, which maps to 1; 1 of a classification. */
double schema_half_range(const struct schema *schema);

/* Whether a and b have the same format, task, classes (texts or numbers), and features in
 * the same encoding, names included. Ignored columns, those of ids, the header and
 * defaults may differ. */
bool schema_agrees(const struct schema *a, const struct schema *b);

const char *task_name(enum task task); /* classification regression */
bool task_parse(enum task *task, const char *text);

#endif
