/* fuzz_libsvm - the libsvm reader. The first byte selects the range, the labels, the
 * task, and whether a second file has ids; the other bytes are files
 * (fuzz_import_one). */
#define _GNU_SOURCE
#include "tests/fuzz/import_fixture.h"
#include "engine/data/readers/reader_registry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    double labels[] = {-1, 1, 2.5};
    struct schema schema = {.reader = &libsvm_reader,
                            .task = TASK_CLASSIFICATION,
                            .classes = 3,
                            .feature_count = 9,
                            .low = -1,
                            .high = 3,
                            .target_low = 0,
                            .target_high = 5e-324};
    if (size == 0)
        return 0;
    schema.has_range = (data[0] & 1) != 0;
    schema.labels = (data[0] & 2) != 0 ? labels : NULL;
    if ((data[0] & 4) != 0) {
        schema.task = TASK_REGRESSION;
        schema.classes = 0;
        schema.has_target_range = true;
    }
    schema.has_id_file = (data[0] & 8) != 0;
    fuzz_import_one(&schema, (struct fuzz_rest){data + 1, size - 1});
    return 0;
}
