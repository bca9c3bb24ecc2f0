/*
 * records_fixture.h - a schema with every kind of column, and made-up records for it as
 * a matrix in memory. The helpers below build statistics as a JSON body describes them.
 * Include after tests/expect.h.
 */
#ifndef TESTS_ENGINE_STATISTICS_RECORDS_FIXTURE_H
#define TESTS_ENGINE_STATISTICS_RECORDS_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "engine/data/encode.h"
#include "engine/statistics/statistic.h"

enum { RECORDS_MAX = 4096, RECORDS_FEATURES = 4 };

/* age in [0, 100], colour of three, class of two; wage is ignored; who holds the owner
 * of a row. */
static char record_red[] = "red", record_green[] = "green", record_blue[] = "blue";
static char record_no[] = "no", record_yes[] = "yes";
static char record_age[] = "age", record_wage[] = "wage", record_colour[] = "colour",
            record_class[] = "class", record_who[] = "who";
static char *record_colours[] = {record_red, record_green, record_blue};
static char *record_classes[] = {record_no, record_yes};
static struct column record_columns[] = {
    {.name = record_age, .kind = COLUMN_NUMERIC, .low = 0, .high = 100},
    {.name = record_wage, .kind = COLUMN_IGNORED},
    {.name = record_colour,
     .kind = COLUMN_CATEGORICAL,
     .value_count = 3,
     .values = record_colours},
    {.name = record_class,
     .kind = COLUMN_LABEL,
     .value_count = 2,
     .values = record_classes},
    {.name = record_who, .kind = COLUMN_PRIVACY_ID},
};
static const struct reader record_reader = {.name = "table", .form = FORM_COLUMNS};
static const struct schema record_schema = {.reader = &record_reader,
                                            .task = TASK_CLASSIFICATION,
                                            .classes = 2,
                                            .column_count = 5,
                                            .columns = record_columns};

struct record {
    double age;
    unsigned colour, class;
};

struct records {
    float rows[RECORDS_MAX * RECORDS_FEATURES];
    uint32_t targets[RECORDS_MAX];
    struct matrix matrix;
};

static inline void records_set(struct records *records, uint64_t at,
                               struct record record)
{
    float *row = records->rows + at * RECORDS_FEATURES;
    row[0] = encode_column_value(&record_columns[0], record.age);
    for (unsigned k = 0; k < 3; k++)
        row[1 + k] = k == record.colour;
    records->targets[at] = record.class;
}

static inline void records_init(struct records *records, uint64_t count)
{
    memset(records, 0, sizeof *records);
    records->matrix = (struct matrix){.records = count,
                                      .features = RECORDS_FEATURES,
                                      .classes = 2,
                                      .element = ELEMENT_F32,
                                      .rows = records->rows,
                                      .targets = records->targets};
}

/* A list of count statistics, all empty; statistics_fini releases it. */
static inline struct statistics asked(size_t count)
{
    struct statistics list = {count, calloc(count, sizeof(struct statistic))};
    assert_non_null(list.items);
    return list;
}

/* Makes one statistic on a column, cut into a number of bins or (edge_count) by
 * edges. */
static inline void ask(struct statistic *statistic, enum statistic_kind kind,
                       const char *column, size_t bins)
{
    struct axis *axis = &statistic->axes[statistic->axis_count++];
    statistic->kind = kind;
    axis->column = strdup(column);
    axis->bins = bins;
}

static inline void ask_edges(struct statistic *statistic, enum statistic_kind kind,
                             const char *column, const double *edges, size_t count)
{
    ask(statistic, kind, column, count - 1);
    struct axis *axis = &statistic->axes[statistic->axis_count - 1];
    axis->edges = calloc(count, sizeof *axis->edges);
    memcpy(axis->edges, edges, count * sizeof *edges);
}

static inline void ask_quantiles(struct statistic *statistic, const char *column,
                                 size_t bins, const double *probabilities, size_t count)
{
    ask(statistic, STATISTIC_QUANTILES, column, bins);
    statistic->probability_count = count;
    statistic->probabilities = calloc(count, sizeof *statistic->probabilities);
    memcpy(statistic->probabilities, probabilities, count * sizeof *probabilities);
}

#endif
