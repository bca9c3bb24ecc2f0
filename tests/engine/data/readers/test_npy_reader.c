/* Goal: NPY files are imported as numpy wrote them, and every header other than the one
 * plain form is refused. Method: files written by numpy (tests/vectors/npy.py), whose
 * values follow a formula; headers written by hand, each wrong in one place. */
#include "tests/expect.h"
#include "tests/engine/data/readers/ingest_fixture.h"
#include "engine/data/readers/reader_registry.h"

enum { RECORDS = 5, FEATURES = 6 };

static const struct schema grid = {.reader = &npy_reader,
                                   .task = TASK_CLASSIFICATION,
                                   .classes = 3,
                                   .shape_count = 2,
                                   .shape = {2, 3},
                                   .scale = 4};

#define VECTOR(name) "tests/vectors/npy/" name ".npy"

static void ingest_pair(struct ingest *ingest, const struct schema *schema,
                        const char *features, const char *labels)
{
    ingest->files = (struct import_files){{features, labels}};
    ingest_run(ingest, schema);
}

static void bytes_stay_bytes(void **state)
{
    (void)state;
    struct ingest ingest;
    ingest_init(&ingest);
    ingest_pair(&ingest, &grid, VECTOR("u1"), VECTOR("labels_u1"));
    assert_int_equal(ingest.status, ST_OK);
    assert_int_equal(ingest.matrix.element, ELEMENT_U8);
    assert_true(ingest.matrix.scale == 4);
    assert_int_equal(ingest.matrix.records, RECORDS);
    for (int i = 0; i < RECORDS * FEATURES; i++)
        assert_int_equal(((const uint8_t *)ingest.matrix.rows)[i], 8 * i);
    for (int i = 0; i < RECORDS; i++)
        assert_int_equal(ingest.matrix.targets[i], i % 3);
    ingest_fini(&ingest);
}

static void every_type_and_version_is_its_value_over_the_scale(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        bool whole;
    } cases[] = {{VECTOR("i1"), true},        {VECTOR("i2"), true},
                 {VECTOR("i4"), true},        {VECTOR("i8"), true},
                 {VECTOR("f4"), false},       {VECTOR("f8"), false},
                 {VECTOR("version2"), false}, {VECTOR("version3"), false}};
    struct ingest ingest;
    ingest_init(&ingest);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ingest_pair(&ingest, &grid, cases[i].path, VECTOR("labels_i8"));
        assert_int_equal(ingest.status, ST_OK);
        assert_int_equal(ingest.matrix.element, ELEMENT_F32);
        for (int j = 0; j < RECORDS * FEATURES; j++) {
            double value = (j - 12) * 2.5;
            value = cases[i].whole ? trunc(value) : value;
            assert_true(((const float *)ingest.matrix.rows)[j] == (float)(value / 4));
        }
        assert_int_equal(ingest.matrix.targets[2], 2);
    }
    ingest_fini(&ingest);
}

static void targets_of_a_regression_are_mapped(void **state)
{
    (void)state;
    static const float mapped[] = {-1, -0.5F, 0.5F, 1, 1}; /* the last one clipped */
    struct schema schema = grid;
    schema.task = TASK_REGRESSION;
    schema.classes = 0;
    schema.has_target_range = true;
    schema.target_low = -10;
    schema.target_high = 30;
    struct ingest ingest;
    ingest_init(&ingest);
    ingest_pair(&ingest, &schema, VECTOR("f4"), VECTOR("targets"));
    assert_int_equal(ingest.status, ST_OK);
    assert_memory_equal(ingest.matrix.values, mapped, sizeof mapped);
    ingest_fini(&ingest);
}

static void what_numpy_writes_beyond_plain_arrays_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *features, *reason;
    } cases[] = {
        {VECTOR("fortran"), "save the array in C order"},
        {VECTOR("big_endian"), "save little-endian ones"},
        {VECTOR("flags"), "the type of the values must be"},
        {VECTOR("complex"), "the type of the values must be"},
        {VECTOR("half"), "the type of the values must be"},
        {VECTOR("texts"), "the type of the values must be"},
        {VECTOR("structured"), "plain type"},
        {VECTOR("one_value"), "one value, not records"},
        {VECTOR("no_records"), "no records"},
        {VECTOR("targets"), "another shape"},
    };
    struct ingest ingest;
    ingest_init(&ingest);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ingest_pair(&ingest, &grid, cases[i].features, VECTOR("labels_u1"));
        assert_refused(&ingest, "features", 0, 0, cases[i].reason);
    }
    ingest_pair(&ingest, &grid, VECTOR("nan"), VECTOR("labels_u1"));
    assert_refused(&ingest, "features", 4, 4, "not finite");
    ingest_pair(&ingest, &grid, VECTOR("u1"), VECTOR("labels_f4"));
    assert_refused(&ingest, "labels", 0, 0, "whole");
    ingest_pair(&ingest, &grid, VECTOR("u1"), VECTOR("u1"));
    assert_refused(&ingest, "labels", 0, 0, "one dimension, this file 3");
    ingest_fini(&ingest);
}

struct bytes {
    unsigned char at[16384];
    size_t size;
};

/* One record of 2 x 3 bytes after a header of this text, version and announced size. */
static struct bytes file_of(const char *text, size_t size, unsigned version)
{
    struct bytes bytes = {.at = "\x93NUMPY", .size = 6};
    size_t announced = size;
    bytes.at[bytes.size++] = (unsigned char)version;
    bytes.at[bytes.size++] = 0;
    for (int i = 0; i < (version == 1 ? 2 : 4); i++, announced >>= 8)
        bytes.at[bytes.size++] = (unsigned char)announced;
    assert_true(size <= sizeof bytes.at - 64);
    memcpy(bytes.at + bytes.size, text, size);
    bytes.size += size + FEATURES;
    return bytes;
}

static void ingest_header(struct ingest *ingest, const char *text)
{
    struct bytes bytes = file_of(text, strlen(text), 1);
    struct bytes one =
        file_of("{'descr': '|u1', 'fortran_order': False, 'shape': (1,)}\n", 56, 1);
    one.size -= FEATURES - 1;
    write_file(ingest->features, bytes.at, bytes.size);
    write_file(ingest->labels, one.at, one.size);
    ingest_pair(ingest, &grid, ingest->features, ingest->labels);
}

static void any_order_and_quotes_and_blanks_of_the_header_are_read(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2, 3), }\n",
        "{'shape':(1,2,3),'descr':'<u1','fortran_order':False}\n",
        "  { \"fortran_order\" : False , \"shape\" : ( 1 , 2 , 3 , ) ,"
        " 'descr' : \"|u1\" , }      \n",
    };
    struct ingest ingest;
    ingest_init(&ingest);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ingest_header(&ingest, texts[i]);
        if (ingest.status != ST_OK)
            fail_msg("%s: %s", texts[i], ingest.failure.text);
        assert_int_equal(ingest.matrix.element, ELEMENT_U8);
    }
    ingest_fini(&ingest);
}

#define TYPE  "'descr': '|u1', "
#define ORDER "'fortran_order': False, "
#define SHAPE "'shape': (1, 2, 3), "

static void a_header_that_is_not_the_one_dict_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "\n",
        "{}\n",
        "{" TYPE ORDER SHAPE "}",
        "{" TYPE ORDER SHAPE "}\n ",
        "{" TYPE ORDER SHAPE "}\n\n",
        "{" TYPE ORDER SHAPE "} x\n",
        "{" TYPE ORDER SHAPE "\n",
        TYPE ORDER SHAPE "\n",
        "{" TYPE ORDER "}\n",
        "{" TYPE SHAPE "}\n",
        "{" ORDER SHAPE "}\n",
        "{" TYPE TYPE ORDER SHAPE "}\n",
        "{" TYPE ORDER ORDER SHAPE "}\n",
        "{" TYPE ORDER SHAPE SHAPE "}\n",
        "{" TYPE ORDER SHAPE "'more': 1, }\n",
        "{" TYPE ORDER SHAPE ", }\n",
        "{" TYPE ORDER "'shape': (1, 2, 3) " TYPE "}\n",
        "{" TYPE ORDER "'shape': (1 2 3)}\n",
        "{" TYPE ORDER "'shape': (6)}\n",
        "{" TYPE ORDER "'shape': 6}\n",
        "{" TYPE ORDER "'shape': [1, 2, 3]}\n",
        "{" TYPE ORDER "'shape': (,)}\n",
        "{" TYPE ORDER "'shape': (1,, 2, 3)}\n",
        "{" TYPE ORDER "'shape': (-1, 2, 3)}\n",
        "{" TYPE ORDER "'shape': (01, 2, 3)}\n",
        "{" TYPE ORDER "'shape': (1L, 2, 3)}\n",
        "{" TYPE ORDER "'shape': (1.0, 2, 3)}\n",
        "{" TYPE ORDER "'shape': (0x1, 2, 3)}\n",
        "{" TYPE ORDER "'shape': (18446744073709551616, 2, 3)}\n",
        "{" TYPE ORDER "'shape': (1, 2, 3}\n",
        "{" TYPE "'fortran_order': false, " SHAPE "}\n",
        "{" TYPE "'fortran_order': 0, " SHAPE "}\n",
        "{" TYPE "'fortran_order': Falsehood, " SHAPE "}\n",
        "{'descr': u1, " ORDER SHAPE "}\n",
        "{'descr': '|u1\", " ORDER SHAPE "}\n",
        "{'descr': '\\x7cu1', " ORDER SHAPE "}\n",
        "{'descr': '|u1' '', " ORDER SHAPE "}\n",
        "{'descr': '|u1|u1|u1', " ORDER SHAPE "}\n",
        "{'descr': __import__('os').abort(), " ORDER SHAPE "}\n",
        "{'DESCR': '|u1', " ORDER SHAPE "}\n",
        "{'fortran_order_': '|u1', " ORDER SHAPE "}\n",
    };
    struct ingest ingest;
    ingest_init(&ingest);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ingest_header(&ingest, texts[i]);
        if (ingest.status != ST_IMPORT_FAILED)
            fail_msg("accepted: %s", texts[i]);
        assert_refused(&ingest, "features", 0, 0, "not a dict");
    }
    ingest_fini(&ingest);
}

static void types_that_are_not_read_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"",    "u1",  "|",   "|f4", "|i8",
                                        "=i8", "<u2", "<f2", "<f1", "<f3",
                                        "<f",  "<O",  "|V1", "|b1"};
    struct ingest ingest;
    ingest_init(&ingest);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[128];
        snprintf(text, sizeof text, "{'descr': '%s', " ORDER SHAPE "}\n", names[i]);
        ingest_header(&ingest, text);
        assert_refused(&ingest, "features", 0, 0, "the type of the values must be");
    }
    ingest_fini(&ingest);
}

static void sizes_in_the_header_are_checked_before_use(void **state)
{
    (void)state;
    static const struct {
        const char *shape, *reason;
    } cases[] = {
        {"(0, 2, 3)", "no records"},
        {"(2147483648, 2, 3)", "more than 2147483647 records"},
        {"(2147483647, 4294967296, 4294967296)", "overflow"},
        {"(2, 2, 3)", "promises 83 bytes, the file has 77"},
        {"(1, 0, 3)", "the file has"},
        {"(1, 3, 2)", "another shape"},
        {"(1, 6)", "another shape"},
    };
    struct ingest ingest;
    ingest_init(&ingest);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128];
        snprintf(text, sizeof text, "{" TYPE ORDER "'shape': %s}\n", cases[i].shape);
        ingest_header(&ingest, text);
        assert_refused(&ingest, "features", 0, 0, cases[i].reason);
    }
    char many[3000] = "{" TYPE ORDER "'shape': (1, 2, 3";
    for (int i = 0; i < 252; i++)
        strcat(many, ", 1");
    size_t size = strlen(many);
    strcpy(many + size, ")}\n");
    ingest_header(&ingest, many);
    assert_int_equal(ingest.status, ST_OK); /* dimensions of size one are ignored */
    strcpy(many + size, ", 1)}\n");
    ingest_header(&ingest, many);
    assert_refused(&ingest, "features", 0, 0, "not a dict");
    ingest_fini(&ingest);
}

static void the_prefix_and_the_length_are_checked(void **state)
{
    (void)state;
    static const char text[] = "{" TYPE ORDER SHAPE "}\n";
    struct ingest ingest;
    ingest_init(&ingest);
    const struct bytes sound = file_of(text, strlen(text), 2);
    struct bytes bad = sound;
    bad.at[5] = 'y';
    write_file(ingest.features, bad.at, bad.size);
    ingest_pair(&ingest, &grid, ingest.features, VECTOR("labels_u1"));
    assert_refused(&ingest, "features", 0, 0, "begin 93 NUMPY");
    for (unsigned version = 0; version < 256;
         version = version == 0 ? 4 : version * 2) {
        bad = sound;
        bad.at[6] = (unsigned char)version;
        write_file(ingest.features, bad.at, bad.size);
        ingest_pair(&ingest, &grid, ingest.features, VECTOR("labels_u1"));
        assert_refused(&ingest, "features", 0, 0, "is unknown");
    }
    bad = sound;
    bad.at[7] = 1;
    write_file(ingest.features, bad.at, bad.size);
    ingest_pair(&ingest, &grid, ingest.features, VECTOR("labels_u1"));
    assert_refused(&ingest, "features", 0, 0, "version 2.1 is unknown");
    for (size_t size = 0; size < sound.size; size++) {
        write_file(ingest.features, sound.at, size);
        ingest_pair(&ingest, &grid, ingest.features, VECTOR("labels_u1"));
        assert_int_equal(ingest.status, ST_IMPORT_FAILED);
        assert_string_equal(ingest.failure.file, "features");
    }
    ingest_fini(&ingest);
}

static void a_header_has_at_most_ten_thousand_bytes(void **state)
{
    (void)state;
    char text[10001];
    struct ingest ingest;
    ingest_init(&ingest);
    for (size_t size = 10000; size <= 10001; size++) {
        memset(text, ' ', size);
        memcpy(text, "{" TYPE ORDER "'shape': (5, 2, 3)}",
               strlen("{" TYPE ORDER "'shape': (5, 2, 3)}"));
        text[size - 1] = '\n';
        struct bytes bytes = file_of(text, size, 3);
        bytes.size += 4 * FEATURES;
        write_file(ingest.features, bytes.at, bytes.size);
        ingest_pair(&ingest, &grid, ingest.features, VECTOR("labels_u1"));
        if (size == 10000)
            assert_int_equal(ingest.status, ST_OK);
    }
    assert_refused(&ingest, "features", 0, 0, "more than 10000 bytes");
    ingest_fini(&ingest);
}

static void gzip_is_unpacked_and_its_length_checked(void **state)
{
    (void)state;
    struct ingest ingest;
    unsigned char bytes[512];
    size_t size = read_back(VECTOR("f8"), bytes, sizeof bytes);
    assert_int_equal(size, 128 + 8 * RECORDS * FEATURES);
    ingest_init(&ingest);
    write_gzip(ingest.features, bytes, size);
    ingest_pair(&ingest, &grid, ingest.features, VECTOR("labels_u1"));
    assert_int_equal(ingest.status, ST_OK);
    assert_true(feature_at(&ingest.matrix, 4, 5) == (float)(17 * 2.5 / 4));
    unlink(ingest.features);
    write_gzip(ingest.features, bytes, size - 49);
    ingest_pair(&ingest, &grid, ingest.features, VECTOR("labels_u1"));
    assert_refused(&ingest, "features", 4, 0, "ends inside this record");
    unlink(ingest.features);
    write_gzip(ingest.features, bytes, size + 1);
    ingest_pair(&ingest, &grid, ingest.features, VECTOR("labels_u1"));
    assert_refused(&ingest, "features", 0, 0, "behind the last record");
    ingest_fini(&ingest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_stay_bytes),
        cmocka_unit_test(every_type_and_version_is_its_value_over_the_scale),
        cmocka_unit_test(targets_of_a_regression_are_mapped),
        cmocka_unit_test(what_numpy_writes_beyond_plain_arrays_is_refused),
        cmocka_unit_test(any_order_and_quotes_and_blanks_of_the_header_are_read),
        cmocka_unit_test(a_header_that_is_not_the_one_dict_is_refused),
        cmocka_unit_test(types_that_are_not_read_are_refused),
        cmocka_unit_test(sizes_in_the_header_are_checked_before_use),
        cmocka_unit_test(the_prefix_and_the_length_are_checked),
        cmocka_unit_test(a_header_has_at_most_ten_thousand_bytes),
        cmocka_unit_test(gzip_is_unpacked_and_its_length_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
