/*
 * table_fixture.h - the declarations of the fuzzers of formats with columns. Bits of one
 * byte select the task, whether a column has ids, and which columns read missing cells,
 * other words, dates and codes.
 */
#ifndef TESTS_FUZZ_TABLE_FIXTURE_H
#define TESTS_FUZZ_TABLE_FIXTURE_H

#include "tests/fuzz/import_fixture.h"

enum {
    FUZZ_CLASSES = 2,
    FUZZ_IDS = 4,
    FUZZ_MISSING = 64,
    FUZZ_DATES = 128,
    FUZZ_COLUMNS = 4,
};

struct fuzz_table {
    struct column columns[FUZZ_COLUMNS];
    struct schema schema;
};

static inline void fuzz_table_open(struct fuzz_table *table,
                                   const struct reader *reader, unsigned bits)
{
    static char n_a[] = "a", n_b[] = "b", n_c[] = "c", n_d[] = "d";
    static char v_x[] = "x", v_y[] = "y \"z\"", v_long[] = "a,b", v_five[] = "5",
                format[] = "%d.%b.%Y";
    static char *values[] = {v_x, v_y, v_long};
    struct column columns[FUZZ_COLUMNS] = {
        {.name = n_a,
         .kind = COLUMN_NUMERIC,
         .low = -1,
         .high = 10,
         .fallback = v_five},
        {.name = n_b, .kind = COLUMN_CATEGORICAL, .value_count = 3, .values = values},
        {.name = n_c, .kind = COLUMN_IGNORED},
        {.name = n_d, .kind = COLUMN_LABEL, .low = -1e308, .high = 1e308},
    };
    table->schema = (struct schema){.reader = reader,
                                    .task = TASK_REGRESSION,
                                    .column_count = FUZZ_COLUMNS,
                                    .columns = table->columns};
    if ((bits & FUZZ_CLASSES) != 0) {
        table->schema.task = TASK_CLASSIFICATION;
        table->schema.classes = 3;
        columns[3].value_count = 3;
        columns[3].values = values;
    }
    if ((bits & FUZZ_IDS) != 0)
        columns[2].kind = COLUMN_PRIVACY_ID;
    if ((bits & FUZZ_MISSING) != 0) {
        columns[0].missing = values;
        columns[0].missing_count = 3;
        columns[0].missing_feature = true;
        columns[1].other = columns[1].missing_feature = true;
    }
    if ((bits & FUZZ_DATES) != 0) {
        columns[0] = (struct column){.name = n_a,
                                     .kind = COLUMN_DATE,
                                     .format = format,
                                     .low = -9,
                                     .high = 99,
                                     .parts = 7,
                                     .missing_feature = true};
        columns[1] = (struct column){.name = n_b, .kind = COLUMN_HASHED, .buckets = 3};
    }
    memcpy(table->columns, columns, sizeof columns);
}

#endif
