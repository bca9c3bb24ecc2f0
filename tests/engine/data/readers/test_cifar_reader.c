/* Goal: CIFAR's binary records are imported completely, with the declared label, and
 * files without such records are refused. Method: records built byte by byte. */
#include "tests/expect.h"
#include "tests/engine/data/readers/ingest_fixture.h"
#include "engine/data/readers/reader_registry.h"

enum { IMAGE = 3072, MANY = 100 /* more than are read at a time, in two buffers */ };

static struct schema ten = {.reader = &cifar10_reader,
                            .task = TASK_CLASSIFICATION,
                            .classes = 10,
                            .shape_count = 3,
                            .shape = {3, 32, 32},
                            .scale = 255};

static struct schema hundred(uint32_t classes)
{
    struct schema schema = ten;
    schema.reader = &cifar100_reader;
    schema.classes = classes;
    return schema;
}

static unsigned char pixel(size_t record, size_t at)
{
    return (unsigned char)(record * 31 + at * 7 + at / 256);
}

/* count records with label bytes record % first, then (labels = 2) record % 100. */
static unsigned char *records_of(size_t count, size_t labels, size_t *size)
{
    *size = count * (labels + IMAGE);
    unsigned char *bytes = calloc(1, *size + 1), *at = bytes;
    assert_non_null(bytes);
    for (size_t i = 0; i < count; i++) {
        *at++ = (unsigned char)(i % (labels == 1 ? 10 : 20));
        if (labels == 2)
            *at++ = (unsigned char)(i % 100);
        for (size_t j = 0; j < IMAGE; j++)
            *at++ = pixel(i, j);
    }
    return bytes;
}

static void ingest_data(struct ingest *ingest, const struct schema *schema,
                        const void *bytes, size_t size)
{
    write_file(ingest->data, bytes, size);
    ingest->files = (struct import_files){{ingest->data}};
    ingest_run(ingest, schema);
}

static void assert_records(const struct ingest *ingest, size_t count, size_t classes)
{
    const struct matrix *matrix = &ingest->matrix;
    assert_int_equal(ingest->status, ST_OK);
    assert_int_equal(matrix->element, ELEMENT_U8);
    assert_true(matrix->scale == 255);
    assert_int_equal(matrix->features, IMAGE);
    assert_int_equal(matrix->records, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(matrix->targets[i], i % classes);
        for (size_t j = 0; j < IMAGE; j++)
            if (((const uint8_t *)matrix->rows)[i * IMAGE + j] != pixel(i, j))
                fail_msg("record %zu, byte %zu", i, j);
    }
}

static void a_record_is_a_label_and_three_planes(void **state)
{
    (void)state;
    struct ingest ingest;
    size_t size;
    unsigned char *bytes = records_of(MANY, 1, &size);
    ingest_init(&ingest);
    ingest_data(&ingest, &ten, bytes, size);
    assert_records(&ingest, MANY, 10);
    free(bytes);
    ingest_fini(&ingest);
}

static void the_number_of_classes_says_which_label_is_meant(void **state)
{
    (void)state;
    struct ingest ingest;
    size_t size;
    unsigned char *bytes = records_of(MANY, 2, &size);
    struct schema coarse = hundred(20), fine = hundred(100);
    ingest_init(&ingest);
    ingest_data(&ingest, &coarse, bytes, size);
    assert_records(&ingest, MANY, 20);
    ingest_data(&ingest, &fine, bytes, size);
    assert_records(&ingest, MANY, 100);
    free(bytes);
    ingest_fini(&ingest);
}

/* `cat data_batch_*.bin`, or of the compressed files. */
static void batches_may_follow_one_another_packed_too(void **state)
{
    (void)state;
    struct ingest ingest;
    size_t size, half = 37 * (1 + IMAGE);
    unsigned char *bytes = records_of(MANY, 1, &size);
    ingest_init(&ingest);
    write_gzip(ingest.data, bytes, half);
    write_gzip(ingest.data, bytes + half, size - half);
    ingest.files = (struct import_files){{ingest.data}};
    ingest_run(&ingest, &ten);
    assert_records(&ingest, MANY, 10);
    free(bytes);
    ingest_fini(&ingest);
}

static void both_labels_are_checked_at_their_record(void **state)
{
    (void)state;
    struct ingest ingest;
    size_t size;
    unsigned char *bytes = records_of(MANY, 1, &size);
    struct schema coarse = hundred(20), fine = hundred(100);
    ingest_init(&ingest);
    bytes[70 * (1 + IMAGE)] = 10;
    ingest_data(&ingest, &ten, bytes, size);
    assert_refused(&ingest, "data", 71, 0, "label byte 1 is not between 0 and 9");
    free(bytes);
    bytes = records_of(MANY, 2, &size);
    bytes[16 * (2 + IMAGE)] = 20;
    ingest_data(&ingest, &fine, bytes, size);
    assert_refused(&ingest, "data", 17, 0, "label byte 1 is not between 0 and 19");
    bytes[16 * (2 + IMAGE)] = 19;
    bytes[99 * (2 + IMAGE) + 1] = 100;
    ingest_data(&ingest, &coarse, bytes, size);
    assert_refused(&ingest, "data", 100, 0, "label byte 2 is not between 0 and 99");
    free(bytes);
    ingest_fini(&ingest);
}

static void only_whole_records_are_a_file(void **state)
{
    (void)state;
    struct ingest ingest;
    size_t size;
    unsigned char *bytes = records_of(20, 1, &size);
    ingest_init(&ingest);
    ingest_data(&ingest, &ten, bytes, size - 1);
    assert_refused(&ingest, "data", 0, 0, "61459 bytes are not whole records of 3073");
    ingest_data(&ingest, &ten, bytes, size + 1);
    assert_refused(&ingest, "data", 0, 0, "not whole records");
    struct schema fine = hundred(100);
    ingest_data(&ingest, &fine, bytes, size); /* CIFAR-10 declared as CIFAR-100 */
    assert_refused(&ingest, "data", 0, 0, "not whole records of 3074");
    ingest_data(&ingest, &ten, bytes, 0);
    assert_refused(&ingest, "data", 0, 0, "no records");
    unlink(ingest.data);
    write_gzip(ingest.data, bytes, size - 7);
    ingest_run(&ingest, &ten);
    assert_refused(&ingest, "data", 20, 0, "ends inside this record");
    unlink(ingest.data);
    write_gzip(ingest.data, bytes, size + 1);
    ingest_run(&ingest, &ten);
    assert_refused(&ingest, "data", 21, 0, "ends inside this record");
    ingest.files.paths[0] = NULL;
    ingest_run(&ingest, &ten);
    assert_refused(&ingest, "data", 0, 0, "not uploaded");
    free(bytes);
    ingest_fini(&ingest);
}

static void scale_and_size_are_bounded(void **state)
{
    (void)state;
    struct ingest ingest;
    size_t size;
    unsigned char *bytes = records_of(20, 1, &size);
    struct schema schema = ten;
    schema.scale = 1e-37;
    ingest_init(&ingest);
    ingest_data(&ingest, &schema, bytes, size);
    assert_refused(&ingest, "data", 0, 0, "scale");
    /* 64 + 61440 rows, 80 targets, 48 zeros, 64 */
    ingest.limits.unpacked_size_max = 61695;
    ingest_data(&ingest, &ten, bytes, size);
    assert_refused(&ingest, "data", 0, 0, "exceed 61695 bytes");
    ingest.limits.unpacked_size_max = 61696;
    ingest_data(&ingest, &ten, bytes, size);
    assert_int_equal(ingest.status, ST_OK);
    assert_int_equal(ingest.result.size, 61696);
    free(bytes);
    ingest_fini(&ingest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_is_a_label_and_three_planes),
        cmocka_unit_test(the_number_of_classes_says_which_label_is_meant),
        cmocka_unit_test(batches_may_follow_one_another_packed_too),
        cmocka_unit_test(both_labels_are_checked_at_their_record),
        cmocka_unit_test(only_whole_records_are_a_file),
        cmocka_unit_test(scale_and_size_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
