/* fuzz_cifar - the cifar reader. The first byte selects the format, the label, and
 * whether a second file has ids; the other bytes are files (fuzz_import_one). */
#define _GNU_SOURCE
#include "tests/fuzz/import_fixture.h"
#include "engine/data/readers/reader_registry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct schema schema = {.reader = &cifar10_reader,
                            .task = TASK_CLASSIFICATION,
                            .classes = 10,
                            .shape_count = 3,
                            .shape = {3, 32, 32},
                            .scale = 255};
    if (size == 0)
        return 0;
    if ((data[0] & 1) != 0) {
        schema.reader = &cifar100_reader;
        schema.classes = (data[0] & 2) != 0 ? 100 : 20;
    }
    schema.has_id_file = (data[0] & 4) != 0;
    fuzz_import_one(&schema, (struct fuzz_rest){data + 1, size - 1});
    return 0;
}
