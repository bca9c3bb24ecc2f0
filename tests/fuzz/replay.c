/*
 * replay.c - the main function of a fuzzer that gets its inputs as files. libFuzzer, which
 * makes inputs, needs clang; this runs the committed corpus in a build by gcc, so CI has
 * it under the address sanitizer without a second build.
 *
 *   fuzz_csv FILE...   runs each file; aborts if a file cannot be read
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The memory is exactly as long as the file, so a read behind it is found. */
static void replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL && fseek(file, 0, SEEK_END) == 0);
    long size = ftell(file);
    CHECK(size >= 0 && fseek(file, 0, SEEK_SET) == 0);
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    CHECK(data != NULL && fread(data, 1, (size_t)size, file) == (size_t)size);
    fclose(file);
    LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
}

int main(int count, char **paths)
{
    CHECK(count > 1);
    for (int i = 1; i < count; i++)
        replay(paths[i]);
    printf("%d inputs\n", count - 1);
    return 0;
}
