/* fuzz_csv - the csv reader. The first byte selects the header, the dialect, and what
 * table_fixture.h reads of it; the other bytes are the file. */
#define _GNU_SOURCE
#include "tests/fuzz/table_fixture.h"
#include "engine/data/readers/reader_registry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_table table;
    if (size == 0)
        return 0;
    fuzz_table_open(&table, &csv_reader, data[0]);
    struct schema *schema = &table.schema;
    schema->header = (data[0] & 1) != 0;
    schema->dialect.delimiter = (enum delimiter)(data[0] >> 3 & 3);
    schema->dialect.decimal_comma =
        (data[0] & 32) != 0 && schema->dialect.delimiter != DELIMITER_COMMA;
    fuzz_import_one(schema, (struct fuzz_rest){data + 1, size - 1});
    return 0;
}
