/* fuzz_cifar - the cifar reader. The first byte chooses format and label, the rest is
 * the file. */
#define _GNU_SOURCE
#include "tests/fuzz/import_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct schema schema = {.format = FORMAT_CIFAR10,
                            .task = TASK_CLASSIFICATION,
                            .classes = CIFAR10_CLASSES,
                            .shape_count = 3,
                            .shape = {3, 32, 32},
                            .scale = 255};
    if (size == 0)
        return 0;
    if ((data[0] & 1) != 0) {
        schema.format = FORMAT_CIFAR100;
        schema.classes =
            (data[0] & 2) != 0 ? CIFAR100_FINE_CLASSES : CIFAR100_COARSE_CLASSES;
    }
    struct fuzz_file file;
    fuzz_file_open(&file, data + 1, size - 1);
    fuzz_import(&schema, &(struct import_files){.data = file.path});
    close(file.file);
    return 0;
}
