/* fuzz_jsonl - the reader of JSON Lines. The first byte selects what table_fixture.h reads
 * of it; the other bytes are the file. */
#define _GNU_SOURCE
#include "tests/fuzz/table_fixture.h"
#include "engine/data/readers/reader_registry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_table table;
    if (size == 0)
        return 0;
    fuzz_table_open(&table, &jsonl_reader, data[0]);
    table.schema.header = true;
    fuzz_import_one(&table.schema, (struct fuzz_rest){data + 1, size - 1});
    return 0;
}
