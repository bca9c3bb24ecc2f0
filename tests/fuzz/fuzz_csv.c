/* fuzz_csv - the csv reader. The first byte selects the header, the task, whether a
 * column has ids, the dialect, and which columns read missing cells, other words, dates
 * and codes; the other bytes are the file. */
#define _GNU_SOURCE
#include "tests/fuzz/import_fixture.h"
#include "engine/data/readers/reader_registry.h"

static char n_a[] = "a", n_b[] = "b", n_c[] = "c", n_d[] = "d";
static char v_x[] = "x", v_y[] = "y \"z\"", v_long[] = "a,b", v_five[] = "5",
            format[] = "%d.%b.%Y";
static char *values[] = {v_x, v_y, v_long};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct column columns[] = {
        {.name = n_a,
         .kind = COLUMN_NUMERIC,
         .low = -1,
         .high = 10,
         .fallback = v_five},
        {.name = n_b, .kind = COLUMN_CATEGORICAL, .value_count = 3, .values = values},
        {.name = n_c, .kind = COLUMN_IGNORED},
        {.name = n_d, .kind = COLUMN_LABEL, .low = -1e308, .high = 1e308},
    };
    struct schema schema = {
        .reader = &csv_reader, .task = TASK_REGRESSION, .column_count = 4};
    if (size == 0)
        return 0;
    schema.header = (data[0] & 1) != 0;
    schema.columns = columns;
    if ((data[0] & 2) != 0) {
        schema.task = TASK_CLASSIFICATION;
        schema.classes = 3;
        columns[3].value_count = 3;
        columns[3].values = values;
    }
    if ((data[0] & 4) != 0)
        columns[2].kind = COLUMN_PRIVACY_ID;
    if ((data[0] & 64) != 0) {
        columns[0].missing = values;
        columns[0].missing_count = 3;
        columns[0].missing_feature = true;
        columns[1].other = columns[1].missing_feature = true;
    }
    if ((data[0] & 128) != 0) {
        columns[0] = (struct column){.name = n_a,
                                     .kind = COLUMN_DATE,
                                     .format = format,
                                     .low = -9,
                                     .high = 99,
                                     .parts = 7,
                                     .missing_feature = true};
        columns[1] = (struct column){.name = n_b, .kind = COLUMN_HASHED, .buckets = 3};
    }
    schema.dialect.delimiter = (enum delimiter)(data[0] >> 3 & 3);
    schema.dialect.decimal_comma =
        (data[0] & 32) != 0 && schema.dialect.delimiter != DELIMITER_COMMA;
    fuzz_import_one(&schema, (struct fuzz_rest){data + 1, size - 1});
    return 0;
}
