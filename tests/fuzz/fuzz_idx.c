/* fuzz_idx - the idx reader (fuzz_import_arrays). */
#define _GNU_SOURCE
#include "tests/fuzz/import_fixture.h"
#include "engine/data/readers/reader_registry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_import_arrays(&idx_reader, data, size);
}
