/* fuzz_idx - the idx reader. The first byte chooses the task, the next two
 * (little-endian) the size of the features file; what is left is the labels file. */
#define _GNU_SOURCE
#include "tests/fuzz/fuzz_import.h"

static const struct schema schemas[2] = {{.format = FORMAT_IDX,
                                          .task = TASK_CLASSIFICATION,
                                          .classes = 3,
                                          .shape_count = 2,
                                          .shape = {2, 3},
                                          .scale = 255},
                                         {.format = FORMAT_IDX,
                                          .task = TASK_REGRESSION,
                                          .shape_count = 1,
                                          .shape = {3},
                                          .scale = 0.5,
                                          .has_target_range = true,
                                          .target_low = -1,
                                          .target_high = 2}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    const struct schema *schema = &schemas[data[0] & 1];
    size_t split = data[1] + 256U * data[2];
    data += 3;
    size -= 3;
    if (split > size)
        split = size;
    struct fuzz_file features, labels;
    fuzz_file_open(&features, data, split);
    fuzz_file_open(&labels, data + split, size - split);
    fuzz_import(schema, &(struct import_files){.features = features.path,
                                               .labels = labels.path});
    close(features.file);
    close(labels.file);
    return 0;
}
