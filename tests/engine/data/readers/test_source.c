/* Goal: a source gives the exact bytes of a file, plain or gzipped, or the reason why
 * it cannot. Method: files written by zlib, and every truncation and every flipped bit
 * of a small gzip file. */
#include "tests/expect.h"
#include "tests/engine/data/readers/ingest_fixture.h"
#include "engine/data/readers/source.h"

enum { SIZE = 700001 };

static unsigned char *pattern(void)
{
    unsigned char *bytes = malloc(SIZE);
    assert_non_null(bytes);
    for (uint32_t i = 0; i < SIZE; i++)
        bytes[i] = (unsigned char)(i * 2654435761U >> 24);
    return bytes;
}

/* Reads path to its end in pieces of piece bytes; *size is the number of bytes read. */
static enum status read_path(const char *path, unsigned char *out, size_t *size,
                             size_t piece, struct source_bounds bounds,
                             struct error *error)
{
    struct source *source;
    size_t got = piece;
    *size = 0;
    enum status status = source_open(&source, path, bounds, error);
    if (status != ST_OK)
        return status;
    while (got == piece && status == ST_OK) {
        status = source_read(source, out + *size, piece, &got, error);
        if (status == ST_OK)
            *size += got;
    }
    source_close(source);
    return status;
}

static void plain_and_gzipped_bytes_are_the_same(void **state)
{
    (void)state;
    struct ingest ingest;
    const struct source_bounds bounds = {SIZE, NULL};
    unsigned char *bytes = pattern(), *out = malloc(2 * SIZE);
    ingest_init(&ingest);
    write_file(ingest.data, bytes, SIZE);
    write_gzip(ingest.features, bytes, SIZE);
    write_gzip(ingest.labels, bytes, 250000); /* two members, and an empty one */
    write_gzip(ingest.labels, bytes, 0);
    write_gzip(ingest.labels, bytes + 250000, SIZE - 250000);
    const char *paths[] = {ingest.data, ingest.features, ingest.labels};
    for (size_t i = 0; i < 3; i++) {
        static const size_t pieces[] = {1 << 20, 100003, 1 << 12};
        for (size_t j = 0; j < 3; j++) {
            size_t size;
            assert_int_equal(read_path(paths[i], out, &size, pieces[j], bounds, NULL),
                             ST_OK);
            assert_int_equal(size, SIZE);
            assert_memory_equal(out, bytes, SIZE);
        }
    }
    free(bytes);
    free(out);
    ingest_fini(&ingest);
}

static void one_byte_beyond_the_bound_is_refused(void **state)
{
    (void)state;
    struct ingest ingest;
    const struct source_bounds bounds = {SIZE - 1, NULL};
    unsigned char *bytes = pattern(), *out = malloc(2 * SIZE);
    ingest_init(&ingest);
    write_file(ingest.data, bytes, SIZE);
    write_gzip(ingest.features, bytes, SIZE);
    const char *paths[] = {ingest.data, ingest.features};
    for (size_t i = 0; i < 2; i++) {
        struct error error = {0};
        size_t size;
        assert_int_equal(read_path(paths[i], out, &size, 1 << 16, bounds, &error),
                         ST_IMPORT_FAILED);
        assert_non_null(strstr(error.text, "700000 bytes"));
    }
    free(bytes);
    free(out);
    ingest_fini(&ingest);
}

/* 1 GiB of zeros in 1 MB of gzip: refused after the bound, not after a gigabyte. */
static void a_gzip_bomb_meets_the_bound(void **state)
{
    (void)state;
    struct ingest ingest;
    const struct source_bounds bounds = {3 << 20, NULL};
    unsigned char *out = malloc(5 << 20), *zeros = calloc(1, 16 << 20);
    size_t size;
    ingest_init(&ingest);
    for (int i = 0; i < 64; i++)
        write_gzip(ingest.data, zeros, 16 << 20);
    assert_int_equal(read_path(ingest.data, out, &size, 1 << 18, bounds, NULL),
                     ST_IMPORT_FAILED);
    assert_true(size <= bounds.unpacked_size_max);
    free(out);
    free(zeros);
    ingest_fini(&ingest);
}

static void every_truncation_and_every_flipped_bit_of_gzip_is_noticed(void **state)
{
    (void)state;
    struct ingest ingest;
    const struct source_bounds bounds = {1 << 20, NULL};
    static const char text[] = "5.1,3.5,1.4,setosa\n4.9,3.0,1.4,setosa\n";
    unsigned char packed[256], out[4096];
    size_t got, accepted = 0;
    ingest_init(&ingest);
    write_gzip(ingest.features, text, sizeof text);
    size_t size = read_back(ingest.features, packed, sizeof packed);
    for (size_t cut = 2; cut < size; cut++) {
        struct error error = {0};
        write_file(ingest.data, packed, cut);
        assert_int_equal(read_path(ingest.data, out, &got, sizeof out, bounds, &error),
                         ST_IMPORT_FAILED);
        assert_non_null(strstr(error.text, "cut short"));
    }
    for (size_t bit = 16; bit < 8 * size; bit++) {
        packed[bit / 8] ^= (unsigned char)(1 << bit % 8);
        write_file(ingest.data, packed, size);
        enum status status =
            read_path(ingest.data, out, &got, sizeof out, bounds, NULL);
        if (status == ST_OK) {
            accepted++;
            assert_int_equal(got, sizeof text);
            assert_memory_equal(out, text, sizeof text);
        } else {
            assert_int_equal(status, ST_IMPORT_FAILED);
        }
        packed[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    /* The time, the extra flags, the system and "is text" do not affect the data, nor
     * do the up to seven bits that fill the last byte of deflate. */
    assert_true(accepted <= 8 * 6 + 1 + 7);
    ingest_fini(&ingest);
}

static void bytes_behind_gzip_are_refused(void **state)
{
    (void)state;
    struct ingest ingest;
    const struct source_bounds bounds = {1 << 20, NULL};
    static const char *const tails[] = {"x", "", "\x1f", "\x1f\x8bgarbage"};
    static const char *const reasons[] = {"behind", "behind", "cut short", "corrupted"};
    unsigned char packed[256], out[4096];
    size_t got;
    ingest_init(&ingest);
    write_gzip(ingest.features, "1,2\n", 4);
    size_t size = read_back(ingest.features, packed, sizeof packed);
    for (size_t i = 0; i < 4; i++) {
        size_t tail = strlen(tails[i]) + (tails[i][0] == '\0'); /* a zero byte */
        memcpy(packed + size, tails[i], tail);
        write_file(ingest.data, packed, size + tail);
        struct error error = {0};
        assert_int_equal(read_path(ingest.data, out, &got, sizeof out, bounds, &error),
                         ST_IMPORT_FAILED);
        assert_non_null(strstr(error.text, reasons[i]));
    }
    ingest_fini(&ingest);
}

static void sizes_are_known_of_plain_files_only(void **state)
{
    (void)state;
    struct ingest ingest;
    const struct source_bounds bounds = {1 << 20, NULL};
    struct source *source;
    uint64_t size = 0;
    ingest_init(&ingest);
    write_file(ingest.data, "\x1f", 1); /* half of the magic is not gzip */
    assert_int_equal(source_open(&source, ingest.data, bounds, NULL), ST_OK);
    assert_true(source_size(source, &size));
    assert_int_equal(size, 1);
    source_close(source);
    write_gzip(ingest.features, "abc", 3);
    assert_int_equal(source_open(&source, ingest.features, bounds, NULL), ST_OK);
    assert_false(source_size(source, &size));
    source_close(source);
    ingest_fini(&ingest);
}

static void a_set_flag_cancels_and_a_folder_cannot_be_read(void **state)
{
    (void)state;
    struct ingest ingest;
    atomic_bool cancel = true;
    const struct source_bounds bounds = {1 << 20, &cancel};
    unsigned char out[64];
    size_t got;
    ingest_init(&ingest);
    write_file(ingest.data, "1,2\n", 4);
    write_gzip(ingest.features, "1,2\n", 4);
    assert_int_equal(read_path(ingest.data, out, &got, 64, bounds, NULL), ST_CANCELLED);
    assert_int_equal(read_path(ingest.features, out, &got, 64, bounds, NULL),
                     ST_CANCELLED);
    assert_int_equal(read_path(ingest.folder, out, &got, 64, bounds, NULL), ST_IO);
    assert_int_equal(read_path("/nonexistent", out, &got, 64, bounds, NULL), ST_IO);
    source_close(NULL);
    ingest_fini(&ingest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_and_gzipped_bytes_are_the_same),
        cmocka_unit_test(one_byte_beyond_the_bound_is_refused),
        cmocka_unit_test(a_gzip_bomb_meets_the_bound),
        cmocka_unit_test(every_truncation_and_every_flipped_bit_of_gzip_is_noticed),
        cmocka_unit_test(bytes_behind_gzip_are_refused),
        cmocka_unit_test(sizes_are_known_of_plain_files_only),
        cmocka_unit_test(a_set_flag_cancels_and_a_folder_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
