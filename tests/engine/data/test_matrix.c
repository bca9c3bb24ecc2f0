/* Goal: a matrix file is read as matrix.h describes it, or refused. Method: files built
 * here byte by byte, then changes of every byte outside the rows and targets, and of
 * every length. */
#include <signal.h>
#include <unistd.h>
#include <sys/wait.h>

#include "tests/expect.h"
#include "tests/engine/data/matrix_fixture.h"

enum { RECORDS = 5, FEATURES = 30, ROWS_AT = 64 };
/* 5 x 30 = 150 bytes of rows end at 214, so targets begin at 256; 20 bytes of them end
 * at 276, so the trailer is at 320. */
enum { TARGETS_AT = 256, TRAILER_AT = 320, SIZE = 384 };

static void put_u32(unsigned char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}

static void fill(unsigned char file[SIZE])
{
    memset(file, 0, SIZE);
    memcpy(file, "EPSMAT01", 8);
    put_u32(file + 8, FEATURES);
    put_u32(file + 12, 7);          /* classes */
    put_u32(file + 16, 0);          /* u8 */
    put_u32(file + 20, 0x437f0000); /* 255.0f */
    for (int i = 0; i < RECORDS * FEATURES; i++)
        file[ROWS_AT + i] = (unsigned char)(i * 89);
    for (unsigned i = 0; i < RECORDS; i++)
        put_u32(file + TARGETS_AT + 4 * i, 6 - i);
    memcpy(file + TRAILER_AT, "EPSEND01", 8);
    put_u32(file + TRAILER_AT + 8, RECORDS);
}

static enum status open_bytes(struct matrix_place *place, struct matrix *matrix,
                              const void *bytes, size_t size)
{
    write_file(place->out, bytes, size);
    return matrix_open(matrix, place->out, NULL);
}

static void a_drawn_file_is_read_as_drawn(void **state)
{
    (void)state;
    struct matrix_place place;
    unsigned char file[SIZE];
    matrix_place_init(&place);
    fill(file);
    struct matrix *matrix = &place.matrix;
    assert_int_equal(open_bytes(&place, matrix, file, SIZE), ST_OK);
    assert_int_equal(matrix->records, RECORDS);
    assert_int_equal(matrix->features, FEATURES);
    assert_int_equal(matrix->classes, 7);
    assert_int_equal(matrix->element, ELEMENT_U8);
    assert_true(matrix->scale == 255);
    assert_null(matrix->values);
    for (uint32_t i = 0; i < RECORDS; i++)
        assert_int_equal(matrix->targets[i], 6 - i);
    assert_memory_equal(matrix->rows, file + ROWS_AT, RECORDS * FEATURES);
    matrix_place_fini(&place);
}

static void a_gathered_row_is_the_quotient_rounded_once(void **state)
{
    (void)state;
    struct matrix_place place;
    unsigned char file[SIZE];
    float out[3 * 40];
    const uint32_t indices[] = {4, 0, 4};
    matrix_place_init(&place);
    fill(file);
    assert_int_equal(open_bytes(&place, &place.matrix, file, SIZE), ST_OK);
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        out[i] = -2.385F;
    matrix_gather(&place.matrix, out, 40, indices, 3);
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 40; j++) {
            double value = file[ROWS_AT + indices[i] * FEATURES + j];
            float expected = j < FEATURES ? (float)(value / 255) : -2.385F;
            assert_true(out[i * 40 + j] == expected);
        }
    }
    matrix_place_fini(&place);
}

/* All bytes, in rows that are as long as several vectors of any width, and in the
 * remainder of a row. */
static void every_byte_is_divided_alike_wherever_it_stands(void **state)
{
    (void)state;
    enum { LONGEST = 3 * 256 + 63 };
    /* The reciprocals of the last two are not normal floats. */
    static const float scales[] = {255, 1, 3, 0.1F, 1e30F, 0x1p-100F, 0x1p-140F, 3e38F};
    const uint32_t first = 0;
    uint8_t row[LONGEST];
    float out[LONGEST];
    for (size_t j = 0; j < LONGEST; j++)
        row[j] = (uint8_t)(j * 7);
    for (size_t k = 0; k < sizeof scales / sizeof *scales; k++)
        for (uint32_t count = 1; count <= LONGEST; count += count < 80 ? 1 : 37) {
            struct matrix matrix = {.records = 1,
                                    .features = count,
                                    .element = ELEMENT_U8,
                                    .scale = scales[k],
                                    .rows = row};
            matrix_gather(&matrix, out, LONGEST, &first, 1);
            for (size_t j = 0; j < count; j++)
                assert_true(out[j] == (float)((double)row[j] / (double)scales[k]));
        }
}

static void float_rows_and_values_are_read_too(void **state)
{
    (void)state;
    struct matrix_place place;
    static const float rows[2 * 16] = {
        [0] = 2.385F, [15] = -7, [16] = 0.5F, [31] = 1e9F};
    static const float values[2] = {-0.25F, 1};
    unsigned char file[64 + 128 + 64 + 64] = "EPSMAT01";
    float out[16];
    put_u32(file + 8, 16);
    put_u32(file + 16, 1); /* float32 */
    memcpy(file + 64, rows, sizeof rows);
    memcpy(file + 192, values, sizeof values);
    memcpy(file + 256, "EPSEND01\2", 9);
    matrix_place_init(&place);
    assert_int_equal(open_bytes(&place, &place.matrix, file, sizeof file), ST_OK);
    assert_int_equal(place.matrix.element, ELEMENT_F32);
    assert_null(place.matrix.targets);
    assert_true(place.matrix.values[0] == -0.25F && place.matrix.values[1] == 1);
    matrix_gather(&place.matrix, out, 16, (const uint32_t[]){1}, 1);
    assert_memory_equal(out, rows + 16, sizeof out);
    matrix_place_fini(&place);
}

static void any_other_length_is_refused(void **state)
{
    (void)state;
    struct matrix_place place;
    unsigned char file[SIZE + 64];
    matrix_place_init(&place);
    fill(file);
    struct matrix matrix = {.records = 31};
    for (size_t size = 0; size < sizeof file; size++) {
        if (size == SIZE)
            continue;
        assert_int_equal(open_bytes(&place, &matrix, file, size), ST_CORRUPT);
        /* The same with a valid trailer at the end of the shortened file. */
        unsigned char cut[sizeof file];
        memcpy(cut, file, sizeof file);
        if (size >= 128) {
            memcpy(cut + size - 64, file + TRAILER_AT, 64);
            assert_int_equal(open_bytes(&place, &matrix, cut, size), ST_CORRUPT);
        }
    }
    assert_int_equal(matrix.records, 31);
    assert_null(matrix.map);
    matrix_place_fini(&place);
}

static void a_frame_that_lies_is_refused(void **state)
{
    (void)state;
    struct matrix_place place;
    static const struct {
        size_t at;
        uint32_t value;
    } lies[] = {{0, 0}, /* magic */
                {8, 0}, /* features */
                {8, FEATURES + 50},
                {8, UINT32_MAX},
                {16, 1}, /* u8 file called float32 */
                {16, 2},
                {20, 0}, /* scale 0, -1, NaN, infinity */
                {20, 0xbf800000},
                {20, 0x7fc00000},
                {20, 0x7f800000},
                {TRAILER_AT, 0},
                {TRAILER_AT + 8, 0}, /* records */
                {TRAILER_AT + 8, 100},
                {TRAILER_AT + 12, 1}, /* 2^32 + 5 */
                {TRAILER_AT + 12, UINT32_MAX}};
    matrix_place_init(&place);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        unsigned char file[SIZE];
        struct matrix matrix = {0};
        fill(file);
        put_u32(file + lies[i].at, lies[i].value);
        assert_int_equal(open_bytes(&place, &matrix, file, SIZE), ST_CORRUPT);
        assert_null(matrix.map);
    }
    matrix_place_fini(&place);
}

enum { GROUPED_FEATURES = 16, STARTS_AT = 192, GROUPED_AT = 256, GROUPED_SIZE = 320 };

/* Four rows of 16 bytes, divided among the persons by starts. */
static void fill_grouped(unsigned char file[GROUPED_SIZE], const uint32_t *starts,
                         uint32_t units, uint32_t slots)
{
    memset(file, 0, GROUPED_SIZE);
    memcpy(file, "EPSMAT01", 8);
    put_u32(file + 8, GROUPED_FEATURES);
    put_u32(file + 12, 7);
    put_u32(file + 20, 0x437f0000);
    for (uint32_t u = 0; u <= units; u++)
        put_u32(file + STARTS_AT + 4 * u, starts[u]);
    memcpy(file + GROUPED_AT, "EPSEND01", 8);
    put_u32(file + GROUPED_AT + 8, 4);
    put_u32(file + GROUPED_AT + 16, units);
    put_u32(file + GROUPED_AT + 24, slots);
}

static void persons_are_found_in_their_room_or_one_behind_the_other(void **state)
{
    (void)state;
    static const struct {
        uint32_t starts[4], units, slots;
        enum status expected;
        struct matrix_unit second; /* expected */
    } cases[] = {
        {{0, 1, 3}, 2, 2, ST_OK, {2, 2, 2}},
        {{0, 2, 3}, 2, 2, ST_OK, {2, 1, 2}},
        {{0, 3, 4}, 2, 0, ST_OK, {3, 1, 1}},
        {{0, 3, 4}, 2, 2, ST_CORRUPT, {0}}, /* more rows than slots */
        {{0, 1, 1}, 2, 2, ST_CORRUPT, {0}}, /* no row */
        {{0, 2, 1}, 2, 2, ST_CORRUPT, {0}},
        {{1, 2, 3}, 2, 2, ST_CORRUPT, {0}},
        {{0, 1, 3}, 2, 0, ST_CORRUPT, {0}}, /* a row without a person */
        {{0, 1, 2}, 2, 1, ST_CORRUPT, {0}},
        {{0, 1, 2}, 2, 3, ST_CORRUPT, {0}},
        {{0, 1, 2}, 2, UINT32_MAX, ST_CORRUPT, {0}},
        {{0, 1, 2, 3}, 3, 2, ST_CORRUPT, {0}},
    };
    struct matrix_place place;
    matrix_place_init(&place);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char file[GROUPED_SIZE];
        struct matrix matrix = {0};
        fill_grouped(file, cases[i].starts, cases[i].units, cases[i].slots);
        assert_int_equal(open_bytes(&place, &matrix, file, sizeof file),
                         cases[i].expected);
        if (cases[i].expected != ST_OK)
            continue;
        const struct matrix_unit second = matrix_unit(&matrix, 1);
        assert_int_equal(matrix_units(&matrix), 2);
        assert_int_equal(second.first, cases[i].second.first);
        assert_int_equal(second.count, cases[i].second.count);
        assert_int_equal(second.room, cases[i].second.room);
        matrix_close(&matrix);
    }
    matrix_place_fini(&place);
}

static void what_cannot_be_opened_is_an_io_error(void **state)
{
    (void)state;
    struct matrix matrix = {0};
    struct error error = {0};
    assert_int_equal(matrix_open(&matrix, "/nonexistent/matrix", &error), ST_IO);
    assert_int_equal(error.status, ST_IO);
    assert_int_equal(matrix_open(&matrix, "/tmp", NULL), ST_IO);
    matrix_close(&matrix);
}

/* A prefetch has no visible effect. The test checks that it is harmless for a record of
 * any length at any place, and that an index beyond the records fails. */
static void any_record_may_be_expected_and_none_else(void **state)
{
    (void)state;
    enum { LONG = 20000 };
    static const uint32_t targets[RECORDS];
    static const float values[RECORDS];
    const struct element_case {
        enum element element;
        uint32_t features;
    } cases[] = {
        {ELEMENT_U8, 1}, {ELEMENT_U8, LONG}, {ELEMENT_F32, 65}, {ELEMENT_F32, LONG}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        size_t size = RECORDS * cases[k].features * element_size(cases[k].element);
        uint8_t *rows = malloc(size), *before = malloc(size);
        struct matrix matrix = {.records = RECORDS,
                                .features = cases[k].features,
                                .element = cases[k].element,
                                .scale = 1,
                                .rows = rows,
                                .targets = k % 2 == 0 ? targets : NULL,
                                .values = k == 1 ? values : NULL};
        for (size_t j = 0; j < size; j++)
            before[j] = rows[j] = (uint8_t)(j * 7);
        for (uint32_t i = 0; i < RECORDS; i++)
            matrix_expect(&matrix, i);
        assert_memory_equal(rows, before, size);
        pid_t child = fork();
        if (child == 0) {
            close(STDERR_FILENO);
            matrix_expect(&matrix, RECORDS);
            _exit(0);
        }
        int ended = 0;
        assert_int_equal(waitpid(child, &ended, 0), child);
        assert_true(WIFSIGNALED(ended) && WTERMSIG(ended) == SIGABRT);
        free(rows);
        free(before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_drawn_file_is_read_as_drawn),
        cmocka_unit_test(a_gathered_row_is_the_quotient_rounded_once),
        cmocka_unit_test(every_byte_is_divided_alike_wherever_it_stands),
        cmocka_unit_test(float_rows_and_values_are_read_too),
        cmocka_unit_test(any_other_length_is_refused),
        cmocka_unit_test(a_frame_that_lies_is_refused),
        cmocka_unit_test(persons_are_found_in_their_room_or_one_behind_the_other),
        cmocka_unit_test(what_cannot_be_opened_is_an_io_error),
        cmocka_unit_test(any_record_may_be_expected_and_none_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
