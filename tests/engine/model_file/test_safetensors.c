/* Goal: a written file has the format, byte for byte where bytes matter, and reads back
 * the same; a damaged file is refused. Method: the layout spelt out here, a round trip,
 * Python with numpy as the second reader, truncation at every length. */
#include "tests/expect.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "engine/model_file/safetensors.h"

static const struct tensor tensors[] = {
    {.name = "2.weight", .offset = 0, .count = 6, .rank = 2, .shape = {2, 3}},
    {.name = "10.bias", .offset = 6, .count = 2, .rank = 1, .shape = {2}},
    {.name = "0.\"q\"", .offset = 8, .count = 1, .rank = 0},
};
static const float parameters[] = {2.385F,    -0.0F, 1e-45F,  3e38F, 0.1F,
                                   -123.456F, 7.25F, -1e-10F, 42.5F};
static const struct metadata metadata[] = {
    {"format", "epsilond/1"},
    {"certificate", "{\"epsilon\":1.5,\"text\":\"line\\n\"}\n\x01 \xc3\xa9 \\"},
};
static const struct safetensors_content content = {
    tensors, 3, parameters, {metadata, 2}};

static void scratch_path(char path[64])
{
    snprintf(path, 64, "/tmp/test_safetensors.%ld", (long)getpid());
}

static size_t slurp(const char *path, unsigned char *to, size_t room)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(to, 1, room, file);
    fclose(file);
    return size;
}

static void spill(const char *path, const void *from, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(from, 1, size, file), size);
    fclose(file);
}

static void the_layout_is_that_of_the_format(void **state)
{
    static const char header[] =
        "{\"__metadata__\":{\"format\":\"epsilond/1\",\"certificate\":"
        "\"{\\\"epsilon\\\":1.5,\\\"text\\\":\\\"line\\\\n\\\"}\\u000a\\u0001 \xc3\xa9 "
        "\\\\\"},"
        "\"0.\\\"q\\\"\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]},"
        "\"10.bias\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]},"
        "\"2.weight\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[12,36]}}";
    unsigned char bytes[4096];
    char path[64];
    struct file_checksum seal;
    struct stat about;
    uint8_t digest[SHA256_SIZE];
    (void)state;

    scratch_path(path);
    assert_int_equal(safetensors_write(path, &content, &seal, NULL), ST_OK);
    size_t size = slurp(path, bytes, sizeof bytes);
    uint64_t length = 0;
    for (int i = 7; i >= 0; i--)
        length = length << 8 | bytes[i];
    assert_int_equal(length % 8, 0);
    assert_in_range(length, strlen(header), strlen(header) + 7);
    assert_memory_equal(bytes + 8, header, strlen(header));
    for (size_t i = strlen(header); i < length; i++)
        assert_int_equal(bytes[8 + i], ' ');
    assert_int_equal(size, 8 + length + 36);
    assert_memory_equal(bytes + 8 + length, parameters + 8, 4);
    assert_memory_equal(bytes + 8 + length + 4, parameters + 6, 8);
    assert_memory_equal(bytes + 8 + length + 12, parameters, 24);

    sha256_of(digest, bytes, size);
    assert_memory_equal(seal.sha256, digest, sizeof digest);
    assert_int_equal(seal.size, size);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    unlink(path);
}

static void what_is_written_reads_back(void **state)
{
    char path[64];
    struct file_checksum seal;
    struct safetensors *file;
    (void)state;

    scratch_path(path);
    assert_int_equal(safetensors_write(path, &content, &seal, NULL), ST_OK);
    assert_int_equal(safetensors_open(&file, path, NULL), ST_OK);
    assert_int_equal(safetensors_tensor_count(file), 3);
    for (size_t i = 0; i < 3; i++) {
        const struct tensor *read = safetensors_tensor(file, i),
                            *written = &tensors[2 - i];
        float values[6];
        assert_string_equal(read->name, written->name);
        assert_int_equal(read->rank, written->rank);
        assert_memory_equal(read->shape, written->shape, sizeof read->shape);
        assert_int_equal(read->count, written->count);
        assert_int_equal(safetensors_read(file, read, values, NULL), ST_OK);
        assert_memory_equal(values, parameters + written->offset,
                            written->count * sizeof *values);
    }
    const char *header = safetensors_header(file);
    assert_int_equal(header[0], '{');
    assert_int_equal(header[strlen(header) - 1], '}');
    safetensors_close(file);
    safetensors_close(NULL);
    unlink(path);
}

static void no_metadata_and_no_tensors_are_fine(void **state)
{
    struct safetensors_content nothing = {tensors, 0, parameters, {0}};
    struct file_checksum seal;
    struct safetensors *file;
    char path[64];
    (void)state;
    scratch_path(path);
    assert_int_equal(safetensors_write(path, &nothing, &seal, NULL), ST_OK);
    assert_int_equal(seal.size, 16);
    assert_int_equal(safetensors_open(&file, path, NULL), ST_OK);
    assert_string_equal(safetensors_header(file), "{}");
    safetensors_close(file);
    nothing.tensor_count = 1;
    assert_int_equal(safetensors_write(path, &nothing, &seal, NULL), ST_OK);
    assert_int_equal(safetensors_open(&file, path, NULL), ST_OK);
    safetensors_close(file);
    unlink(path);
}

static void python_sees_the_same(void **state)
{
    char path[64], command[256], line[512];
    struct file_checksum seal;
    (void)state;

    if (system("python3 -c 'import numpy' 2>/dev/null") != 0)
        skip_because("python3 with numpy is absent");
    scratch_path(path);
    assert_int_equal(safetensors_write(path, &content, &seal, NULL), ST_OK);
    snprintf(command, sizeof command,
             "python3 tests/engine/model_file/read_safetensors.py %s", path);
    FILE *python = popen(command, "r");
    assert_non_null(python);
    static const char *const expected[] = {
        "__metadata__ certificate "
        "7b22657073696c6f6e223a312e352c2274657874223a226c696e655c6e227d0a0120c3a9205c",
        "__metadata__ format 657073696c6f6e642f31",
        "0.\"q\" () 00002a42",
        "10.bias (2,) 0000e840ffe6dbae",
    };
    for (size_t i = 0; i < 4; i++) {
        assert_non_null(fgets(line, sizeof line, python));
        line[strcspn(line, "\n")] = '\0';
        assert_string_equal(line, expected[i]);
    }
    assert_non_null(fgets(line, sizeof line, python));
    assert_memory_equal(line, "2.weight (2, 3) ", 16);
    for (size_t i = 0; i < 6; i++) {
        unsigned char bytes[4];
        float value;
        for (size_t k = 0; k < 4; k++) {
            unsigned digit = 0;
            assert_int_equal(sscanf(line + 16 + 8 * i + 2 * k, "%2x", &digit), 1);
            bytes[k] = (unsigned char)digit;
        }
        memcpy(&value, bytes, sizeof value);
        assert_memory_equal(&value, parameters + i, sizeof value);
    }
    assert_int_equal(pclose(python), 0);
    unlink(path);
}

static void a_cut_or_stretched_file_is_refused(void **state)
{
    unsigned char bytes[4096];
    char path[64];
    struct file_checksum seal;
    struct safetensors *file = NULL;
    (void)state;

    scratch_path(path);
    assert_int_equal(safetensors_write(path, &content, &seal, NULL), ST_OK);
    size_t size = slurp(path, bytes, sizeof bytes);
    for (size_t cut = 0; cut < size; cut++) {
        spill(path, bytes, cut);
        struct error error = {0};
        assert_int_equal(safetensors_open(&file, path, &error), ST_CORRUPT);
        assert_int_equal(error.status, ST_CORRUPT);
    }
    bytes[size] = 0;
    spill(path, bytes, size + 1);
    assert_int_equal(safetensors_open(&file, path, NULL), ST_CORRUPT);
    for (int i = 0; i < 8; i++) { /* a far too large header length */
        bytes[i] ^= 0x80;
        spill(path, bytes, size);
        assert_int_equal(safetensors_open(&file, path, NULL), ST_CORRUPT);
        bytes[i] ^= 0x80;
    }
    assert_null(file);
    unlink(path);
}

static void what_cannot_be_opened_is_an_io_error(void **state)
{
    struct safetensors *file = NULL;
    struct file_checksum seal;
    struct error error = {0};
    (void)state;
    assert_int_equal(safetensors_open(&file, "/nonexistent/model", &error), ST_IO);
    assert_int_equal(safetensors_open(&file, "/tmp", NULL), ST_IO);
    assert_int_equal(safetensors_write("/nonexistent/model", &content, &seal, NULL),
                     ST_IO);
    assert_int_equal(error.status, ST_IO);
}

static void a_write_that_fails_leaves_no_file(void **state)
{
    struct rlimit before, small;
    struct file_checksum seal;
    struct error error = {0};
    char path[64];
    (void)state;

    scratch_path(path);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 200;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(safetensors_write(path, &content, &seal, &error), ST_IO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(error.status, ST_IO);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void a_file_that_shrinks_is_an_io_error(void **state)
{
    char path[64];
    struct file_checksum seal;
    struct safetensors *file;
    float values[6];
    (void)state;
    scratch_path(path);
    assert_int_equal(safetensors_write(path, &content, &seal, NULL), ST_OK);
    assert_int_equal(safetensors_open(&file, path, NULL), ST_OK);
    assert_int_equal(truncate(path, 16), 0);
    assert_int_equal(safetensors_read(file, safetensors_tensor(file, 2), values, NULL),
                     ST_IO);
    safetensors_close(file);
    unlink(path);
}

/* The bits of halves, and their values: IEEE 754, 3.4. */
static void halves_are_read_as_the_floats_they_are(void **state)
{
    (void)state;
    static const uint16_t bits[] = {0x3C00, 0xC000, 0x7BFF, 0x0001, 0x03FF,
                                    0x0400, 0x8000, 0x7C00, 0xFC00, 0x7E00,  /* F16 */
                                    0x3F80, 0xC2F7, 0x0080, 0x7F80, 0x7FC0}; /* BF16 */
    static const float worth[] = {
        1,         -2,  65504, 0x1p-24F, 1023 * 0x1p-24F, 0x1p-14F, -0.0F, INFINITY,
        -INFINITY, NAN, 1,     -123.5F,  0x1p-126F,       INFINITY, NAN};
    static const char header[] =
        "{\"a\":{\"dtype\":\"F16\",\"shape\":[10],\"data_offsets\":[0,20]},"
        "\"b\":{\"dtype\":\"BF16\",\"shape\":[5],\"data_offsets\":[20,30]}}";
    char path[64];
    uint64_t size = strlen(header);
    float values[15];
    struct safetensors *file;
    snprintf(path, sizeof path, "/tmp/test_halves.%ld", (long)getpid());
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    fwrite(&size, 1, sizeof size, out);
    fwrite(header, 1, size, out);
    fwrite(bits, 1, sizeof bits, out);
    fclose(out);
    assert_int_equal(safetensors_open(&file, path, NULL), ST_OK);
    for (size_t k = 0; k < 2; k++)
        assert_int_equal(
            safetensors_read(file, safetensors_tensor(file, k), values + 10 * k, NULL),
            ST_OK);
    for (size_t i = 0; i < 15; i++) {
        if (isnan(worth[i]))
            assert_true(isnan(values[i]));
        else
            assert_memory_equal(&values[i], &worth[i], sizeof *values);
    }
    safetensors_close(file);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_layout_is_that_of_the_format),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(no_metadata_and_no_tensors_are_fine),
        cmocka_unit_test(python_sees_the_same),
        cmocka_unit_test(a_cut_or_stretched_file_is_refused),
        cmocka_unit_test(what_cannot_be_opened_is_an_io_error),
        cmocka_unit_test(a_write_that_fails_leaves_no_file),
        cmocka_unit_test(a_file_that_shrinks_is_an_io_error),
        cmocka_unit_test(halves_are_read_as_the_floats_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
