/* Goal: IDX files of every type are imported as declared, and every kind of error is
 * refused at its place. Method: files built byte by byte. */
#include "tests/expect.h"
#include "tests/engine/data/readers/ingest_fixture.h"
#include "engine/data/readers/reader_registry.h"

static const struct schema image = {.reader = &idx_reader,
                                    .task = TASK_CLASSIFICATION,
                                    .classes = 3,
                                    .shape_count = 3,
                                    .shape = {1, 2, 3},
                                    .scale = 255};

struct bytes {
    unsigned char at[4096];
    size_t size;
};

static void put(struct bytes *bytes, uint64_t value, size_t size)
{
    for (size_t i = size; i-- > 0;)
        bytes->at[bytes->size++] = (unsigned char)(value >> (8 * i));
}

static struct bytes header(unsigned type, size_t count, const uint32_t *dimensions)
{
    struct bytes bytes = {.size = 0};
    put(&bytes, type << 8 | count, 4);
    for (size_t i = 0; i < count; i++)
        put(&bytes, dimensions[i], 4);
    return bytes;
}

#define HEADER(type, ...)                                                              \
    header(type, sizeof((uint32_t[]){__VA_ARGS__}) / 4, (uint32_t[]){__VA_ARGS__})

/* records of 2 x 3 bytes, counted up from 0 by 17 */
static struct bytes images(uint32_t records)
{
    struct bytes bytes = HEADER(8, records, 2, 3);
    for (uint32_t i = 0; i < records * 6; i++)
        put(&bytes, i * 17 & 255, 1);
    return bytes;
}

static struct bytes classes(uint32_t records)
{
    struct bytes bytes = HEADER(8, records);
    for (uint32_t i = 0; i < records; i++)
        put(&bytes, i % 3, 1);
    return bytes;
}

static void ingest_both(struct ingest *ingest, const struct schema *schema,
                        const struct bytes *features, const struct bytes *labels)
{
    write_file(ingest->features, features->at, features->size);
    write_file(ingest->labels, labels->at, labels->size);
    ingest->files = (struct import_files){{ingest->features, ingest->labels}};
    ingest_run(ingest, schema);
}

static void bytes_stay_bytes_with_their_scale(void **state)
{
    (void)state;
    struct ingest ingest;
    struct bytes features = images(20), labels = classes(20);
    ingest_init(&ingest);
    ingest_both(&ingest, &image, &features, &labels);
    assert_int_equal(ingest.status, ST_OK);
    const struct matrix *matrix = &ingest.matrix;
    assert_int_equal(matrix->element, ELEMENT_U8);
    assert_true(matrix->scale == 255);
    assert_int_equal(matrix->records, 20);
    assert_int_equal(ingest.result.records, 20);
    assert_int_equal(matrix->features, 6);
    assert_memory_equal(matrix->rows, features.at + 16, 120);
    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(matrix->targets[i], i % 3);
    assert_true(feature_at(matrix, 0, 3) == 0.2F);
    ingest_fini(&ingest);
}

static void every_type_is_its_value_over_the_scale(void **state)
{
    (void)state;
    static const struct {
        unsigned type;
        size_t size;
        uint64_t bits[2];
        double values[2];
    } cases[] = {
        {0x09, 1, {0x80, 0x7f}, {-128, 127}},
        {0x0b, 2, {0x8000, 0x1234}, {-32768, 4660}},
        {0x0c, 4, {0x80000000, 0x075bcd15}, {-2147483648.0, 123456789}},
        {0x0d,
         4,
         {0x40189374, 0xff7fffff},
         {2.383999824523926, -3.4028234663852886e38}},
        {0x0e,
         8,
         {0x4003147ae147ae14, 0xc7cfffffe0000000},
         {2.3849999999999998, -8.5070586659632215e37}},
    };
    struct schema schema = image;
    schema.shape_count = 1;
    schema.shape[0] = 2;
    schema.scale = 4;
    struct ingest ingest;
    ingest_init(&ingest);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes features = HEADER(cases[i].type, 1, 2), labels = classes(1);
        put(&features, cases[i].bits[0], cases[i].size);
        put(&features, cases[i].bits[1], cases[i].size);
        ingest_both(&ingest, &schema, &features, &labels);
        assert_int_equal(ingest.status, ST_OK);
        assert_int_equal(ingest.matrix.element, ELEMENT_F32);
        for (size_t j = 0; j < 2; j++)
            assert_true(feature_at(&ingest.matrix, 0, j) ==
                        (float)(cases[i].values[j] / 4));
    }
    ingest_fini(&ingest);
}

/* More values than are decoded at a time, in rows that do not divide them. */
static void long_files_are_decoded_across_chunks(void **state)
{
    (void)state;
    enum { RECORDS = 3001, FEATURES = 7 };
    struct schema schema = image;
    schema.shape_count = 1;
    schema.shape[0] = FEATURES;
    schema.scale = 1;
    struct ingest ingest;
    struct bytes head = HEADER(0x0b, RECORDS, FEATURES), ends = HEADER(0x0b, RECORDS);
    size_t size = head.size + 2 * RECORDS * FEATURES, count = RECORDS;
    unsigned char *file = calloc(1, size), *labels = calloc(2, 4 + RECORDS);
    assert_true(file != NULL && labels != NULL);
    memcpy(file, head.at, head.size);
    memcpy(labels, ends.at, ends.size);
    for (size_t i = 0; i < count * FEATURES; i++) {
        file[head.size + 2 * i] = (unsigned char)(i >> 8 & 127);
        file[head.size + 2 * i + 1] = (unsigned char)i;
    }
    ingest_init(&ingest);
    write_gzip(ingest.features, file, size);
    write_file(ingest.labels, labels, 8 + 2 * count);
    ingest.files = (struct import_files){{ingest.features, ingest.labels}};
    ingest_run(&ingest, &schema);
    assert_int_equal(ingest.status, ST_OK);
    for (uint32_t i = 0; i < RECORDS * FEATURES; i++)
        assert_true(((const float *)ingest.matrix.rows)[i] == (float)(i & 32767));
    free(file);
    free(labels);
    ingest_fini(&ingest);
}

static void regression_labels_are_numbers_mapped_to_the_target_range(void **state)
{
    (void)state;
    struct schema schema = image;
    schema.task = TASK_REGRESSION;
    schema.classes = 0;
    schema.has_target_range = true;
    schema.target_low = -10;
    schema.target_high = 30;
    struct ingest ingest;
    struct bytes features = images(2), labels = HEADER(0x0d, 2);
    put(&labels, 0x41a00000, 4); /* 20 */
    put(&labels, 0x42c80000, 4); /* 100, clipped */
    ingest_init(&ingest);
    ingest_both(&ingest, &schema, &features, &labels);
    assert_int_equal(ingest.status, ST_OK);
    assert_null(ingest.matrix.targets);
    assert_true(ingest.matrix.values[0] == 0.5F && ingest.matrix.values[1] == 1);
    labels.size = 8;
    put(&labels, 0x41a00000, 4);
    put(&labels, 0x7fc00000, 4);
    ingest_both(&ingest, &schema, &features, &labels);
    assert_refused(&ingest, "labels", 2, 0, "not finite");
    schema.has_target_range = false;
    ingest_both(&ingest, &schema, &features, &labels);
    assert_refused(&ingest, "labels", 0, 0, "range");
    ingest_fini(&ingest);
}

static void shapes_agree_but_for_sides_of_one(void **state)
{
    (void)state;
    static const struct {
        uint32_t count, sides[4];
        bool fits;
    } cases[] = {{2, {2, 3}, true}, {3, {1, 2, 3}, true}, {4, {2, 1, 3, 1}, true},
                 {1, {6}, false},   {2, {3, 2}, false},   {3, {2, 3, 2}, false},
                 {1, {2}, false},   {2, {1, 1}, false},   {2, {0, 3}, false}};
    struct ingest ingest;
    ingest_init(&ingest);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t dimensions[5] = {1}, values = 1;
        for (size_t j = 0; j < cases[i].count; j++) {
            dimensions[j + 1] = cases[i].sides[j];
            values *= cases[i].sides[j];
        }
        struct bytes features = header(8, cases[i].count + 1, dimensions);
        struct bytes labels = classes(1);
        features.size += values;
        ingest_both(&ingest, &image, &features, &labels);
        if (cases[i].fits)
            assert_int_equal(ingest.status, ST_OK);
        else
            assert_refused(&ingest, "features", 0, 0, "shape");
    }
    ingest_fini(&ingest);
}

static void headers_that_lie_are_refused(void **state)
{
    (void)state;
    struct ingest ingest;
    const struct bytes sound = images(4), labels = classes(4);
    ingest_init(&ingest);
    struct bytes bad = sound;
    bad.at[1] = 1;
    ingest_both(&ingest, &image, &bad, &labels);
    assert_refused(&ingest, "features", 0, 0, "00 00");
    bad = sound;
    bad.at[2] = 0x0a;
    ingest_both(&ingest, &image, &bad, &labels);
    assert_refused(&ingest, "features", 0, 0, "0x0a is unknown");
    bad = sound;
    bad.at[3] = 0;
    ingest_both(&ingest, &image, &bad, &labels);
    assert_refused(&ingest, "features", 0, 0, "header is cut short");
    bad = HEADER(8, 0, 2, 3);
    ingest_both(&ingest, &image, &bad, &labels);
    assert_refused(&ingest, "features", 0, 0, "no records");
    bad = HEADER(8, 0x80000000, 2, 3);
    ingest_both(&ingest, &image, &bad, &labels);
    assert_refused(&ingest, "features", 0, 0, "more than 2147483647 records");
    bad = HEADER(0x0e, 0x7fffffff, 0xffffffff, 0xffffffff);
    ingest_both(&ingest, &image, &bad, &labels);
    assert_refused(&ingest, "features", 0, 0, "overflow");
    bad = HEADER(8, 4, 0, 0xffffffff);
    ingest_both(&ingest, &image, &bad, &labels);
    assert_refused(&ingest, "features", 0, 0, "shape");
    for (size_t size = 0; size < sound.size; size++) {
        bad = sound;
        bad.size = size;
        ingest_both(&ingest, &image, &bad, &labels);
        assert_int_equal(ingest.status, ST_IMPORT_FAILED);
    }
    assert_refused(&ingest, "features", 0, 0, "promises 40 bytes, the file has 39");
    ingest_fini(&ingest);
}

/* Through gzip, whose size is known only at the end. */
static void a_wrong_length_in_gzip_is_found_where_it_is(void **state)
{
    (void)state;
    struct ingest ingest;
    const struct bytes sound = images(4), labels = classes(4);
    ingest_init(&ingest);
    ingest.files = (struct import_files){{ingest.features, ingest.labels}};
    write_file(ingest.labels, labels.at, labels.size);
    write_gzip(ingest.features, sound.at, sound.size - 7);
    ingest_run(&ingest, &image);
    assert_refused(&ingest, "features", 3, 0, "ends inside this record");
    unlink(ingest.features);
    write_gzip(ingest.features, sound.at, sound.size + 1);
    ingest_run(&ingest, &image);
    assert_refused(&ingest, "features", 0, 0, "behind the last record");
    unlink(ingest.features);
    write_gzip(ingest.features, sound.at, sound.size);
    unlink(ingest.labels);
    write_gzip(ingest.labels, labels.at, labels.size - 1);
    ingest_run(&ingest, &image);
    assert_refused(&ingest, "labels", 4, 0, "ends inside this record");
    ingest_fini(&ingest);
}

static void labels_are_checked_one_by_one(void **state)
{
    (void)state;
    struct ingest ingest;
    const struct bytes features = images(4), sound = classes(4);
    ingest_init(&ingest);
    struct bytes bad = sound;
    bad.at[8 + 2] = 3;
    ingest_both(&ingest, &image, &features, &bad);
    assert_refused(&ingest, "labels", 3, 0, "not between 0 and 2");
    bad = HEADER(0x09, 4);
    put(&bad, 0x000100ff, 4);
    ingest_both(&ingest, &image, &features, &bad);
    assert_refused(&ingest, "labels", 4, 0, "not between 0 and 2");
    bad = HEADER(0x0d, 4);
    bad.size += 16;
    ingest_both(&ingest, &image, &features, &bad);
    assert_refused(&ingest, "labels", 0, 0, "whole");
    bad = HEADER(8, 2, 2);
    bad.size += 4;
    ingest_both(&ingest, &image, &features, &bad);
    assert_refused(&ingest, "labels", 0, 0, "one dimension, this file 2");
    bad = classes(5);
    ingest_both(&ingest, &image, &features, &bad);
    assert_refused(&ingest, "labels", 0, 0, "5 labels for 4 records");
    ingest.files.paths[1] = NULL;
    ingest_run(&ingest, &image);
    assert_refused(&ingest, "labels", 0, 0, "not uploaded");
    ingest.files.paths[0] = NULL;
    ingest_run(&ingest, &image);
    assert_refused(&ingest, "features", 0, 0, "not uploaded");
    ingest_fini(&ingest);
}

static void values_that_float32_cannot_hold_are_refused_at_their_place(void **state)
{
    (void)state;
    static const uint64_t bad[] = {0x7ff8000000000000, 0xfff0000000000000,
                                   0x47f0000000000000 /* 2^128 */};
    struct schema schema = image;
    schema.scale = 1;
    struct ingest ingest;
    ingest_init(&ingest);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct bytes features = HEADER(0x0e, 4, 2, 3), labels = classes(4);
        for (int j = 0; j < 24; j++)
            put(&features, j == 16 ? bad[i] : 0x3ff0000000000000, 8);
        ingest_both(&ingest, &schema, &features, &labels);
        assert_refused(&ingest, "features", 3, 5, "float32");
    }
    ingest_fini(&ingest);
}

static void a_scale_beyond_float32_is_refused(void **state)
{
    (void)state;
    static const double scales[] = {1e39, 1e-46, 1e-37};
    struct ingest ingest;
    struct bytes features = images(1), labels = classes(1);
    ingest_init(&ingest);
    for (size_t i = 0; i < 3; i++) {
        struct schema schema = image;
        schema.scale = scales[i];
        ingest_both(&ingest, &schema, &features, &labels);
        assert_refused(&ingest, "features", 0, 0, "scale");
    }
    ingest_fini(&ingest);
}

static void the_matrix_may_not_exceed_the_limit(void **state)
{
    (void)state;
    struct ingest ingest;
    struct bytes features = HEADER(0x0b, 20, 2, 3), labels = classes(20);
    features.size += 240;
    ingest_init(&ingest);
    /* 64 + 480 rows, 32 zeros, 80 targets, 48 zeros, 64 */
    ingest.limits.unpacked_size_max = 767;
    ingest_both(&ingest, &image, &features, &labels);
    assert_refused(&ingest, "features", 0, 0, "exceed 767 bytes");
    ingest.limits.unpacked_size_max = 768;
    ingest_both(&ingest, &image, &features, &labels);
    assert_int_equal(ingest.status, ST_OK);
    assert_int_equal(ingest.result.size, 768);
    ingest_fini(&ingest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_stay_bytes_with_their_scale),
        cmocka_unit_test(every_type_is_its_value_over_the_scale),
        cmocka_unit_test(long_files_are_decoded_across_chunks),
        cmocka_unit_test(regression_labels_are_numbers_mapped_to_the_target_range),
        cmocka_unit_test(shapes_agree_but_for_sides_of_one),
        cmocka_unit_test(headers_that_lie_are_refused),
        cmocka_unit_test(a_wrong_length_in_gzip_is_found_where_it_is),
        cmocka_unit_test(labels_are_checked_one_by_one),
        cmocka_unit_test(values_that_float32_cannot_hold_are_refused_at_their_place),
        cmocka_unit_test(a_scale_beyond_float32_is_refused),
        cmocka_unit_test(the_matrix_may_not_exceed_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
