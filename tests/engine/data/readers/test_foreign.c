/* Goal: the kind of a file that was uploaded by mistake is reported, and a file of the
 * right kind is never taken for another. Method: first bytes as the programs write
 * them, and whole imports of such files. */
#include "tests/expect.h"
#include "tests/engine/data/readers/ingest_fixture.h"

#include "engine/data/readers/foreign.h"
#include "engine/data/readers/reader_registry.h"

static char n_x[] = "x", n_y[] = "y", v_no[] = "no", v_yes[] = "yes";
static char *answers[] = {v_no, v_yes};
static struct column columns[] = {
    {.name = n_x, .kind = COLUMN_NUMERIC, .low = 0, .high = 1},
    {.name = n_y, .kind = COLUMN_LABEL, .value_count = 2, .values = answers},
};
static const struct schema table = {.reader = &csv_reader,
                                    .task = TASK_CLASSIFICATION,
                                    .classes = 2,
                                    .column_count = 2,
                                    .columns = columns,
                                    .header = true};
static const struct schema lines = {.reader = &libsvm_reader,
                                    .task = TASK_REGRESSION,
                                    .has_target_range = true,
                                    .target_high = 1,
                                    .feature_count = 2};

#define BYTES(text) text, sizeof(text) - 1

static const struct {
    const char *bytes;
    size_t size;
    const char *name; /* if declared as csv */
} files[] = {
    {BYTES("PK\x03\x04\x14\0\0\0\x08\0 .csv and more"), "zip"},
    {BYTES("PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), "zip"},
    {BYTES("\xfd"
           "7zXZ\0\0\x04\xe6\xd6\xb4\x46\0\0\0\0"),
     "xz"},
    {BYTES("BZh91AY&SY\x01\x02\x03\x04\x05\x06"), "bzip2"},
    {BYTES("\x28\xb5\x2f\xfd\x04\x58\x81\0\0xx"), "zstd"},
    {BYTES("7z\xbc\xaf\x27\x1c\0\x04"), "7z"},
    {BYTES("PAR1\x15\x04\x15\x10\x15\x14"), "Parquet's format: export it as CSV"},
    {BYTES("\x89HDF\r\n\x1a\n\0\0\0\0"), "HDF5"},
    {BYTES("\x93NUMPY\x01\0v\0{'descr'"), "npy"},
    {BYTES("\xff\xfex\0,\0y\0\n\0"), "UTF-16"},
    {BYTES("\xfe\xff\0x\0,\0y\0\n"), "UTF-16"},
    {BYTES("\xff\xfe\0\0x\0\0\0,\0\0\0"), "UTF-32"},
    {BYTES("x\0,\0y\0\n\0000\0,\0n\0o\0\n\0"), "UTF-16"},
    {BYTES("\0x\0,\0y\0\n\0000\0,\0n\0o\0\n"), "UTF-16"},
};

static void each_kind_is_named_whole_or_packed(void **state)
{
    struct ingest ingest;
    (void)state;
    ingest_init(&ingest);
    ingest.files.paths[0] = ingest.data;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        write_file(ingest.data, files[i].bytes, files[i].size);
        ingest_run(&ingest, &table);
        assert_refused(&ingest, "data", 0, 0, files[i].name);
        ingest_run(&ingest, &lines);
        assert_refused(&ingest, "data", 0, 0, files[i].name);
        unlink(ingest.data);
        write_gzip(ingest.data, files[i].bytes, files[i].size);
        ingest_run(&ingest, &table);
        assert_refused(&ingest, "data", 0, 0, files[i].name);
    }
    ingest_fini(&ingest);
}

static void gzip_inside_gzip_is_named(void **state)
{
    struct ingest ingest;
    char packed[256];
    (void)state;
    ingest_init(&ingest);
    write_gzip(ingest.data, "x,y\n0,no\n", 9);
    size_t size = read_back(ingest.data, packed, sizeof packed);
    unlink(ingest.data);
    write_gzip(ingest.data, packed, size);
    ingest.files.paths[0] = ingest.data;
    ingest_run(&ingest, &table);
    assert_refused(&ingest, "data", 0, 0, "gzip twice");
    ingest_fini(&ingest);
}

/* The faulty file is the one that is examined. */
static void the_file_of_two_that_is_at_fault_is_named(void **state)
{
    static const char images[] = "\0\0\x08\x02\0\0\0\1\0\0\0\2ab";
    static const struct schema arrays = {.reader = &idx_reader,
                                         .task = TASK_CLASSIFICATION,
                                         .classes = 2,
                                         .shape_count = 1,
                                         .shape = {2},
                                         .scale = 1};
    struct ingest ingest;
    (void)state;
    ingest_init(&ingest);
    write_file(ingest.features, images, sizeof images - 1);
    write_file(ingest.labels, "PK\x03\x04....", 8);
    ingest.files = (struct import_files){{ingest.features, ingest.labels}};
    ingest_run(&ingest, &arrays);
    assert_refused(&ingest, "labels", 0, 0, "zip");
    ingest_fini(&ingest);
}

static void what_the_format_asks_for_is_never_foreign(void **state)
{
    static const struct {
        const struct reader *reader;
        const char *bytes;
        size_t size;
    } own[] = {
        {&csv_reader, BYTES("x,y\n0,no\n")},
        {&csv_reader, BYTES("PK,y\n0,no\n")},
        {&csv_reader, BYTES("PAR1,y\n0,no\n")},
        {&csv_reader, BYTES("BZh9,1AY\n0,no")},
        {&csv_reader, BYTES("\xef\xbb\xbfx,y")},
        {&csv_reader, BYTES("")},
        {&csv_reader, BYTES("x")},
        {&csv_reader, BYTES("x,y\r\n0,no\r\n")},
        {&csv_reader, BYTES("x,y\r0,no\n")},
        {&cifar10_reader, BYTES("\r\1\2\3\4\5\6\7")},
        {&npy_reader, BYTES("\x93NUMPY\x01\0v")},
        {&libsvm_reader, BYTES("+1 1:1 2:1\n")},
        {&idx_reader, BYTES("\0\0\x08\x03\0\0")},
        {&cifar10_reader, BYTES("\0\x01\0\x02\0\x03\0\x04")},
        {&cifar10_reader, BYTES("\xff\xfe\0\0\xff\xfe\0\0")},
    };
    char text[8] = "as was";
    (void)state;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        assert_false(
            foreign_name(text, sizeof text, own[i].reader, own[i].bytes, own[i].size));
    assert_string_equal(text, "as was");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_is_named_whole_or_packed),
        cmocka_unit_test(gzip_inside_gzip_is_named),
        cmocka_unit_test(the_file_of_two_that_is_at_fault_is_named),
        cmocka_unit_test(what_the_format_asks_for_is_never_foreign),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
