/* Reads any bytes as a safetensors file: they are opened or refused, and an opened file
 * covers its data exactly and can be read. Corpus: tests/fuzz/corpus/safetensors. */
#define _GNU_SOURCE /* memfd_create */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"
#include "engine/model_file/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_tensors(struct safetensors *file)
{
    for (size_t i = 0; i < safetensors_tensor_count(file); i++) {
        const struct tensor *tensor = safetensors_tensor(file, i);
        float *values = calloc(tensor->count + 1, sizeof *values);
        CHECK(values != NULL);
        CHECK(safetensors_read(file, tensor, values, NULL) ==
              (safetensors_is_readable(tensor) ? ST_OK : ST_CORRUPT));
        free(values);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct safetensors *file;
    struct error error = {0};
    char path[64];
    int memory = memfd_create("model", MFD_CLOEXEC);

    CHECK(memory >= 0 && write(memory, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    if (safetensors_open(&file, path, &error) == ST_OK) {
        read_tensors(file);
        safetensors_close(file);
    } else {
        CHECK(error.status == ST_CORRUPT && error.text[0] != '\0');
    }
    close(memory);
    return 0;
}
