/* Goal: the streamed rows and targets are on disk, with the reported digest and within
 * the bounds; unfinished files are removed. */
#include "tests/expect.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/engine/data/matrix_fixture.h"
#include "engine/data/matrix_writer.h"

static const struct matrix_bounds wide = {.records_max = MATRIX_RECORDS_MAX,
                                          .size_max = UINT64_C(1) << 40};

static float cell(uint64_t record, uint64_t feature)
{
    return (float)((record * 2654435761U + feature * 40503U) % 1000003U) / 7.0F;
}

static enum status add(struct matrix_writer *writer, uint64_t record, uint32_t features,
                       struct error *error)
{
    size_t room;
    float *row = matrix_writer_rows(writer, &room);
    assert_true(room >= 1);
    for (uint32_t j = 0; j < features; j++)
        row[j] = cell(record, j);
    enum status status = matrix_writer_advance(writer, 1, error);
    return status != ST_OK ? status
                           : matrix_writer_class(writer, (uint32_t)(record % 5), error);
}

static void write_and_check(uint32_t features, uint64_t records)
{
    struct matrix_place place;
    struct matrix_writer *writer;
    struct matrix_digest digest;
    const struct matrix_shape shape = {features, 5, ELEMENT_F32, 1, 0};
    matrix_place_init(&place);
    assert_int_equal(matrix_writer_open(&writer, place.out, wide, NULL, NULL), ST_OK);
    assert_int_equal(matrix_writer_begin(writer, &shape, NULL), ST_OK);
    for (uint64_t i = 0; i < records; i++)
        assert_int_equal(add(writer, i, features, NULL), ST_OK);
    assert_int_equal(matrix_writer_finish(writer, &digest, NULL), ST_OK);
    matrix_writer_close(writer);

    assert_int_equal(matrix_open(&place.matrix, place.out, NULL), ST_OK);
    const struct matrix *matrix = &place.matrix;
    assert_int_equal(digest.records, records);
    assert_int_equal(digest.size, matrix->map_size);
    uint8_t sha256[SHA256_SIZE];
    sha256_of(sha256, matrix->map, matrix->map_size);
    assert_memory_equal(digest.sha256, sha256, SHA256_SIZE);
    sha256_of(sha256, matrix->rows, records * features * sizeof(float));
    assert_memory_equal(digest.rows_sha256, sha256, SHA256_SIZE);
    for (uint64_t i = 0; i < records; i++) {
        assert_int_equal(matrix->targets[i], i % 5);
        for (uint32_t j = 0; j < features; j++)
            assert_true(((const float *)matrix->rows)[i * features + j] == cell(i, j));
    }
    struct stat about;
    assert_int_equal(stat(place.out, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    matrix_place_fini(&place);
}

/* One value, rows larger than the buffer, targets that fill their array (65,536)
 * exactly, and targets that exceed it. */
static void matrices_of_all_shapes_are_written_whole(void **state)
{
    (void)state;
    write_and_check(1, 1);
    write_and_check(100003, 7);
    write_and_check(65536, 3);
    write_and_check(1, 65536);
    write_and_check(3, 200001);
}

static void what_is_not_finished_is_removed(void **state)
{
    (void)state;
    struct matrix_place place;
    struct matrix_writer *writer;
    const struct matrix_shape shape = {1, 5, ELEMENT_F32, 1, 0};
    matrix_place_init(&place);
    assert_int_equal(matrix_writer_open(&writer, place.out, wide, NULL, NULL), ST_OK);
    assert_int_equal(matrix_writer_begin(writer, &shape, NULL), ST_OK);
    for (uint64_t i = 0; i < 100000; i++)
        assert_int_equal(add(writer, i, 1, NULL), ST_OK);
    assert_int_equal(access(place.out, F_OK), 0);
    matrix_writer_close(writer);
    assert_int_equal(access(place.out, F_OK), -1);
    matrix_writer_close(NULL);
    matrix_place_fini(&place);
}

static void bounds_are_met_exactly(void **state)
{
    (void)state;
    struct matrix_place place;
    struct matrix_writer *writer;
    struct matrix_digest digest;
    const struct matrix_shape shape = {16, 5, ELEMENT_F32, 1, 0};
    /* header, 9 rows of 64 bytes, 36 bytes of targets in 64, trailer */
    const struct matrix_bounds bounds[] = {{9, 1 << 20, 0},
                                           {1000, 64 * (1 + 9 + 1 + 1), 0}};
    matrix_place_init(&place);
    for (size_t i = 0; i < 2; i++) {
        struct error error = {0};
        assert_int_equal(matrix_writer_open(&writer, place.out, bounds[i], NULL, NULL),
                         ST_OK);
        assert_int_equal(matrix_writer_begin(writer, &shape, NULL), ST_OK);
        for (uint64_t j = 0; j < 9; j++)
            assert_int_equal(add(writer, j, 16, NULL), ST_OK);
        assert_int_equal(matrix_writer_fits(writer, 9, NULL), ST_OK);
        assert_int_equal(matrix_writer_fits(writer, 10, NULL), ST_IMPORT_FAILED);
        assert_int_equal(add(writer, 9, 16, &error), ST_IMPORT_FAILED);
        assert_non_null(strstr(error.text, i == 0 ? "records" : "bytes"));
        assert_int_equal(matrix_writer_finish(writer, &digest, NULL), ST_OK);
        assert_int_equal(digest.records, 9);
        assert_true(digest.size <= bounds[i].size_max);
        matrix_writer_close(writer);
    }
    struct matrix_bounds room = {1000, 1 << 20, 64 * (1 + 9 + 1 + 1)};
    assert_int_equal(matrix_writer_open(&writer, place.out, room, NULL, NULL), ST_OK);
    assert_int_equal(matrix_writer_begin(writer, &shape, NULL), ST_OK);
    assert_int_equal(matrix_writer_fits(writer, 9, NULL), ST_OK);
    assert_int_equal(matrix_writer_fits(writer, 10, NULL), ST_DISK_FULL);
    matrix_writer_close(writer);
    assert_int_equal(matrix_writer_open(&writer, place.out, wide, NULL, NULL), ST_OK);
    assert_int_equal(matrix_writer_begin(writer, &shape, NULL), ST_OK);
    assert_int_equal(matrix_writer_fits(writer, UINT64_MAX / 3, NULL),
                     ST_IMPORT_FAILED);
    matrix_writer_close(writer);
    matrix_place_fini(&place);
}

static void a_set_flag_cancels(void **state)
{
    (void)state;
    struct matrix_place place;
    struct matrix_writer *writer;
    struct error error = {0};
    const struct matrix_shape shape = {40000, 5, ELEMENT_F32, 1, 0};
    atomic_bool cancel = false;
    matrix_place_init(&place);
    assert_int_equal(matrix_writer_open(&writer, place.out, wide, &cancel, NULL),
                     ST_OK);
    assert_int_equal(matrix_writer_begin(writer, &shape, NULL), ST_OK);
    assert_int_equal(add(writer, 0, 40000, NULL), ST_OK);
    atomic_store(&cancel, true);
    enum status status = ST_OK;
    for (uint64_t i = 1; i < 4 && status == ST_OK; i++)
        status = add(writer, i, 40000, &error);
    assert_int_equal(status, ST_CANCELLED);
    assert_int_equal(error.status, ST_CANCELLED);
    matrix_writer_close(writer);
    matrix_place_fini(&place);
}

/* The output goes to a device without free space. */
static void a_full_disk_is_told_from_other_failures(void **state)
{
    (void)state;
    struct matrix_place place;
    struct matrix_writer *writer;
    struct error error = {0};
    const struct matrix_shape shape = {1000, 5, ELEMENT_F32, 1, 0};
    matrix_place_init(&place);
    assert_int_equal(symlink("/dev/full", place.out), 0);
    assert_int_equal(matrix_writer_open(&writer, place.out, wide, NULL, NULL), ST_OK);
    assert_int_equal(matrix_writer_begin(writer, &shape, &error), ST_DISK_FULL);
    assert_non_null(strstr(error.text, "No space left"));
    matrix_writer_close(writer);
    assert_int_equal(access(place.out, F_OK), -1);
    matrix_place_fini(&place);
}

static void a_file_that_may_not_grow_is_an_io_error(void **state)
{
    (void)state;
    struct matrix_place place;
    struct matrix_writer *writer;
    struct error error = {0};
    struct rlimit before, small;
    const struct matrix_shape shape = {1000, 5, ELEMENT_F32, 1, 0};
    matrix_place_init(&place);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 1000000;
    assert_int_equal(matrix_writer_open(&writer, place.out, wide, NULL, NULL), ST_OK);
    assert_int_equal(matrix_writer_begin(writer, &shape, NULL), ST_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    enum status status = ST_OK;
    for (uint64_t i = 0; i < 1000 && status == ST_OK; i++)
        status = add(writer, i, 1000, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, ST_IO);
    assert_non_null(strstr(error.text, "cannot be written"));
    matrix_writer_close(writer);
    assert_int_equal(
        matrix_writer_open(&writer, "/nonexistent/matrix", wide, NULL, &error), ST_IO);
    matrix_place_fini(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_of_all_shapes_are_written_whole),
        cmocka_unit_test(what_is_not_finished_is_removed),
        cmocka_unit_test(bounds_are_met_exactly),
        cmocka_unit_test(a_set_flag_cancels),
        cmocka_unit_test(a_full_disk_is_told_from_other_failures),
        cmocka_unit_test(a_file_that_may_not_grow_is_an_io_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
