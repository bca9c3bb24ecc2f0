/* Goal: the rows of each person are consecutive, for any ids; the file does not
 * determine the order of the persons' indices (test_secret_order). n is the number of
 * persons, and a row without an id makes the import refuse the file. Every person takes
 * the same room in the file, however many rows the person has. Method: csv files of a
 * few lines, and one of many persons grouped a second time by the test. */
#include "engine/data/readers/persons.h"

#include <math.h>
#include <string.h>

#include "engine/data/readers/reader_registry.h"
#include "tests/expect.h"
#include "tests/engine/data/readers/ingest_fixture.h"

static char who[] = "who", x[] = "x", y[] = "y", no[] = "no", yes[] = "yes";
static char *answers[] = {no, yes};
static struct column columns[] = {
    {.name = who, .kind = COLUMN_PRIVACY_ID},
    {.name = x, .kind = COLUMN_NUMERIC, .low = 0, .high = 10},
    {.name = y, .kind = COLUMN_LABEL, .value_count = 2, .values = answers}};
static const struct schema people = {.reader = &csv_reader,
                                     .task = TASK_CLASSIFICATION,
                                     .classes = 2,
                                     .header = true,
                                     .column_count = 3,
                                     .columns = columns};

/* Returns the first feature of a row in the file's unit. */
static long x_of(const struct matrix *matrix, uint32_t row)
{
    return lround(((double)feature_at(matrix, row, 0) + 1) * 5);
}

static void expect_rows(const struct ingest *ingest, const char *rows, size_t count)
{
    assert_int_equal(ingest->matrix.records, count);
    for (uint32_t r = 0; r < count; r++)
        assert_int_equal(x_of(&ingest->matrix, r), rows[r] - '0');
}

/* Returns the index of the person whose first row has this feature. */
static uint32_t person_with(const struct ingest *ingest, char first)
{
    uint32_t found = UINT32_MAX;
    for (uint32_t u = 0; u < matrix_units(&ingest->matrix); u++)
        if (x_of(&ingest->matrix, matrix_unit(&ingest->matrix, u).first) ==
            first - '0') {
            assert_int_equal(found, UINT32_MAX);
            found = u;
        }
    assert_int_not_equal(found, UINT32_MAX);
    return found;
}

/* Checks that one person has these rows, and zeros in the remaining slots. */
static void expect_person(const struct ingest *ingest, const char *rows)
{
    uint32_t person = person_with(ingest, rows[0]);
    const struct matrix_unit own = matrix_unit(&ingest->matrix, person);
    assert_int_equal(own.first, person * own.room);
    assert_int_equal(own.count, strlen(rows));
    assert_int_equal(own.room, MATRIX_SLOTS_MAX);
    assert_int_equal(ingest->matrix.starts[person + 1] - ingest->matrix.starts[person],
                     own.count);
    for (uint32_t k = 0; k < own.count; k++)
        assert_int_equal(x_of(&ingest->matrix, own.first + k), rows[k] - '0');
    for (uint32_t k = own.count; k < own.room; k++) {
        assert_true(feature_at(&ingest->matrix, own.first + k, 0) == 0);
        assert_int_equal(ingest->matrix.targets[own.first + k], 0);
    }
}

static void rows_of_a_person_lie_together_in_the_order_of_the_file(void **state)
{
    (void)state;
    struct ingest ingest;
    ingest_init(&ingest);
    ingest_text(&ingest, &people,
                "who,x,y\nzoe,1,no\nbob,2,yes\n zoe ,3,yes\namy,4,no\n"
                "\"zoe\",5,no\namy,6,yes\n");
    assert_int_equal(ingest.status, ST_OK);
    assert_int_equal(ingest.result.records, 3); /* persons, and not rows */
    assert_int_equal(matrix_units(&ingest.matrix), 3);
    assert_int_equal(ingest.matrix.records, 3 * MATRIX_SLOTS_MAX);
    expect_person(&ingest, "135");
    expect_person(&ingest, "2");
    expect_person(&ingest, "46");
    assert_int_equal(ingest.matrix.starts[3], 6);
    const uint32_t *zoe =
        ingest.matrix.targets + person_with(&ingest, '1') * (size_t)MATRIX_SLOTS_MAX;
    const uint32_t *amy =
        ingest.matrix.targets + person_with(&ingest, '4') * (size_t)MATRIX_SLOTS_MAX;
    assert_int_equal(zoe[0], 0);
    assert_int_equal(zoe[1], 1);
    assert_int_equal(zoe[2], 0);
    assert_int_equal(amy[0], 0);
    assert_int_equal(amy[1], 1);
    ingest_fini(&ingest);
}

/* Only the grouping of the rows matters. */
static void ids_themselves_do_not_matter(void **state)
{
    (void)state;
    struct ingest first, second;
    ingest_init(&first);
    ingest_init(&second);
    ingest_text(&first, &people, "who,x,y\nb,1,no\na,2,no\nb,3,no\nc,4,yes\n");
    ingest_text(&second, &people, "who,x,y\na,1,no\n~,2,no\na,3,no\n0,4,yes\n");
    assert_int_equal(first.status, ST_OK);
    assert_int_equal(second.status, ST_OK);
    for (size_t k = 0; k < 2; k++) {
        const struct ingest *either = k == 0 ? &first : &second;
        expect_person(either, "13");
        expect_person(either, "2");
        expect_person(either, "4");
    }
    assert_memory_equal(first.result.rows_sha256, second.result.rows_sha256,
                        SHA256_SIZE);
    ingest_fini(&first);
    ingest_fini(&second);
}

static void the_rows_have_the_digest_of_the_file_they_came_in(void **state)
{
    (void)state;
    static struct column ignoring[3];
    struct ingest grouped, plain;
    struct schema records = people;
    memcpy(ignoring, columns, sizeof ignoring);
    ignoring[0].kind = COLUMN_IGNORED;
    records.columns = ignoring;
    ingest_init(&grouped);
    ingest_init(&plain);
    const char *text = "who,x,y\nb,1,no\na,2,no\nb,3,yes\n";
    ingest_text(&grouped, &people, text);
    ingest_text(&plain, &records, text);
    assert_int_equal(plain.result.records, 3);
    assert_int_equal(grouped.result.records, 2);
    expect_person(&grouped, "13");
    expect_person(&grouped, "2");
    expect_rows(&plain, "123", 3);
    assert_memory_equal(grouped.result.rows_sha256, plain.result.rows_sha256,
                        SHA256_SIZE);
    ingest_fini(&grouped);
    ingest_fini(&plain);
}

static void a_row_without_an_id_is_refused(void **state)
{
    (void)state;
    static const char *const rows[] = {"", " \t ", "\"\"", "\" \""};
    char text[64];
    struct ingest ingest;
    ingest_init(&ingest);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        snprintf(text, sizeof text, "who,x,y\nada,1,no\n%s,2,yes\n", rows[k]);
        ingest_text(&ingest, &people, text);
        assert_int_equal(ingest.status, ST_IMPORT_FAILED);
        assert_int_equal(ingest.failure.line, 3);
        assert_int_equal(ingest.failure.column, 1);
        assert_non_null(strstr(ingest.failure.text, "must say whose it is"));
    }
    ingest_fini(&ingest);
}

static void an_id_has_a_longest_size(void **state)
{
    (void)state;
    char text[2 * PERSON_ID_SIZE_MAX + 64], id[PERSON_ID_SIZE_MAX + 2] = "";
    struct ingest ingest;
    ingest_init(&ingest);
    memset(id, 'i', PERSON_ID_SIZE_MAX);
    snprintf(text, sizeof text, "who,x,y\n%s,1,no\n", id);
    ingest_text(&ingest, &people, text);
    assert_int_equal(ingest.status, ST_OK);
    id[PERSON_ID_SIZE_MAX] = 'i';
    snprintf(text, sizeof text, "who,x,y\n%s,1,no\n", id);
    ingest_text(&ingest, &people, text);
    assert_int_equal(ingest.status, ST_IMPORT_FAILED);
    assert_non_null(strstr(ingest.failure.text, "longer than 256 bytes"));
    assert_null(strstr(ingest.failure.text, "iii")); /* no value is quoted */
    ingest_fini(&ingest);
}

/* Otherwise one person would count as two. */
static void an_id_that_holds_what_nobody_sees_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *id, *words;
    } rows[] = {{"\xef\xbb\xbf"
                 "ada",
                 "a byte order mark"},
                {"ada\xc2\xa0", "a no-break space"},
                {"ad\xe2\x80\x8b"
                 "a",
                 "a zero-width character"},
                {"ada\x07", "a control character"},
                {"\"ada\r\"", "a carriage return"},
                {"ad\ta", "a tab"},
                {"\"ad\na\"", "a line feed"},
                {"ad\xe4", "not UTF-8"}};
    char text[64];
    struct ingest ingest;
    ingest_init(&ingest);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        snprintf(text, sizeof text, "who,x,y\nada,1,no\n%s,2,yes\n", rows[k].id);
        ingest_text(&ingest, &people, text);
        assert_refused(&ingest, "data", 3, 1, rows[k].words);
    }
    static const char nul[] = "who,x,y\nada,1,no\nad\0a,2,yes\n";
    write_file(ingest.data, nul, sizeof nul - 1);
    ingest_run(&ingest, &people);
    assert_refused(&ingest, "data", 3, 1, "a NUL");
    ingest_fini(&ingest);
}

/* Concatenated parts of a table, each with its own byte order mark. */
static void a_mark_is_read_over_at_the_beginning_of_a_file_alone(void **state)
{
    (void)state;
    struct ingest ingest;
    ingest_init(&ingest);
    struct schema no_header = people;
    no_header.header = false;
    ingest_text(&ingest, &no_header, "\xef\xbb\xbfp1,5,no\np2,1,yes\np1,6,yes\n");
    assert_int_equal(ingest.status, ST_OK);
    assert_int_equal(ingest.result.records, 2);
    ingest_text(&ingest, &no_header,
                "\xef\xbb\xbfp1,5,no\np2,1,yes\n\xef\xbb\xbfp1,6,yes\np2,2,no\n");
    assert_refused(&ingest, "data", 3, 1, "a byte order mark");
    ingest_fini(&ingest);
}

/* Rows that contain their person and their number, in numbers that float32 holds
 * exactly. */
enum {
    PERSONS = 4500,
    FEW = 500,
    ROWS = 60000,
    PERSONS_RANGE = 8192,
    ROWS_RANGE = 65536
};
static char person[] = "person", number[] = "number";
static struct column marked_columns[] = {
    {.name = who, .kind = COLUMN_PRIVACY_ID},
    {.name = person, .kind = COLUMN_NUMERIC, .low = 0, .high = PERSONS_RANGE},
    {.name = number, .kind = COLUMN_NUMERIC, .low = 0, .high = ROWS_RANGE},
    {.name = y, .kind = COLUMN_LABEL, .value_count = 2, .values = answers}};

static uint32_t mark(const struct matrix *matrix, uint32_t row, size_t feature)
{
    double range = feature == 0 ? PERSONS_RANGE : ROWS_RANGE;
    return (uint32_t)lround(((double)feature_at(matrix, row, feature) + 1) / 2 * range);
}

/* Checks that all rows of the unit are this person's, in the order of the file, each
 * with its target. */
static void expect_marks(const struct matrix *matrix, const struct matrix_unit *own,
                         uint32_t of)
{
    for (uint32_t k = 0; k < own->count; k++) {
        uint32_t row = own->first + k, in_file = mark(matrix, row, 1);
        assert_int_equal(mark(matrix, row, 0), of);
        assert_true(k == 0 || in_file > mark(matrix, row - 1, 1));
        assert_int_equal(matrix->targets[row], in_file % 3 == 0);
    }
}

/* More persons and rows than are kept in memory at once, with similar ids. */
static void many_persons_are_grouped_as_a_sort_would(void **state)
{
    (void)state;
    enum { LINE = 32 };
    static uint32_t counts[PERSONS];
    size_t all_are_kept = 0, persons = 0;
    struct schema marked = people;
    marked.columns = marked_columns;
    marked.column_count = sizeof marked_columns / sizeof *marked_columns;
    char *text = calloc(ROWS + 1, LINE), *end = stpcpy(text, "who,person,number,y\n");
    for (uint32_t r = 0; r < ROWS; r++) {
        uint32_t of = r % 3 == 0 /* most have five rows, some have hundreds */
                          ? FEW + r / 3 % (PERSONS - FEW)
                          : (uint32_t)((uint64_t)r * r * 2654435761U % FEW);
        persons += counts[of]++ == 0;
        end += sprintf(end, "p%u,%u,%u,%s\n", of, of, r, r % 3 == 0 ? "yes" : "no");
    }
    struct ingest ingest;
    ingest_init(&ingest);
    ingest_text(&ingest, &marked, text);
    assert_int_equal(ingest.status, ST_OK);
    assert_int_equal(ingest.result.records, persons);
    assert_int_equal(ingest.matrix.records, persons * MATRIX_SLOTS_MAX);
    for (uint32_t u = 0; u < persons; u++) {
        const struct matrix_unit own = matrix_unit(&ingest.matrix, u);
        uint32_t of = mark(&ingest.matrix, own.first, 0);
        assert_int_equal(own.count,
                         counts[of] < MATRIX_SLOTS_MAX ? counts[of] : MATRIX_SLOTS_MAX);
        all_are_kept += own.count == counts[of];
        expect_marks(&ingest.matrix, &own, of);
        counts[of] = 0; /* no person has two indices */
    }
    assert_in_range(all_are_kept, 1, persons - 1);
    ingest_fini(&ingest);
    free(text);
}

/* Imports a file of persons with `rows` rows each, whose values are multiples of a
 * quarter from 0 on. */
static void ingest_persons(struct ingest *ingest, size_t persons, size_t rows)
{
    char *text = calloc(persons * rows + 1, 24), *end = stpcpy(text, "who,x,y\n");
    for (size_t u = 0; u < persons; u++)
        for (size_t k = 0; k < rows; k++)
            end += sprintf(end, "p%zu,%g,no\n", u, (double)(k % 40) / 4);
    ingest_text(ingest, &people, text);
    assert_int_equal(ingest->status, ST_OK);
    free(text);
}

/* So code that reads the file takes no longer for more rows. */
static void a_file_is_as_large_whatever_rows_there_are(void **state)
{
    (void)state;
    static const size_t rows[] = {2, 15, 16, 17, 500};
    struct ingest ingest;
    ingest_init(&ingest);
    ingest_persons(&ingest, 23, 1);
    uint64_t size = ingest.result.size, seen = ingest.matrix.records;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        ingest_persons(&ingest, 23, rows[k]);
        assert_int_equal(ingest.result.records, 23);
        assert_int_equal(ingest.result.size, size);
        assert_int_equal(ingest.matrix.records, seen);
    }
    ingest_persons(&ingest, 24, 1);
    assert_true(ingest.result.size > size);
    ingest_fini(&ingest);
}

/* If fewer rows are kept, the file is smaller in proportion, and no person has more
 * rows. */
static void as_many_rows_are_kept_as_are_declared(void **state)
{
    (void)state;
    struct schema few = people;
    struct ingest ingest;
    uint64_t size = 0;
    ingest_init(&ingest);
    for (few.rows_kept = 1; few.rows_kept <= MATRIX_SLOTS_MAX; few.rows_kept *= 2) {
        ingest_text(&ingest, &few,
                    "who,x,y\nzoe,1,no\nbob,2,yes\nzoe,3,yes\nzoe,5,no\n");
        assert_int_equal(ingest.status, ST_OK);
        assert_int_equal(ingest.matrix.records, 2 * few.rows_kept);
        uint32_t index = person_with(&ingest, '2');
        const struct matrix_unit bob = matrix_unit(&ingest.matrix, index);
        const struct matrix_unit zoe = matrix_unit(&ingest.matrix, 1 - index);
        assert_int_equal(zoe.count, few.rows_kept < 3 ? few.rows_kept : 3);
        assert_int_equal(zoe.room, few.rows_kept);
        assert_int_equal(bob.first, index * few.rows_kept);
        assert_int_equal(bob.count, 1);
        assert_true(ingest.result.size >= size);
        size = ingest.result.size;
    }
    ingest_fini(&ingest);
}

/* Two persons, so that each draw has a neighbouring one. */
static void of_many_rows_each_is_kept_as_often(void **state)
{
    (void)state;
    enum { TIMES = 400, OWN = 40, SIGMAS = 6, DEVIATION = 10 };
    size_t counts[OWN] = {0}, alike = 0;
    struct ingest ingest;
    ingest_init(&ingest);
    for (size_t t = 0; t < TIMES; t++) {
        ingest_persons(&ingest, 2, OWN);
        size_t same = 0;
        for (uint32_t k = 0; k < MATRIX_SLOTS_MAX; k++) {
            float at = feature_at(&ingest.matrix, k, 0);
            float other = feature_at(&ingest.matrix, MATRIX_SLOTS_MAX + k, 0);
            assert_true(k == 0 || at > feature_at(&ingest.matrix, k - 1, 0));
            counts[lround(((double)at + 1) * 20)]++;
            same += at == other;
        }
        alike += same == MATRIX_SLOTS_MAX;
    }
    assert_int_equal(alike, 0); /* a chance of 6e-9 */
    /* Binomial: 400 imports at 16/40, deviation 9.8. */
    for (size_t row = 0; row < OWN; row++)
        assert_in_range(counts[row], 160 - SIGMAS * DEVIATION,
                        160 + SIGMAS * DEVIATION);
    ingest_fini(&ingest);
}

static void a_full_disk_and_a_cancelled_import_leave_nothing(void **state)
{
    (void)state;
    static const atomic_bool cancelled = true;
    const char *text = "who,x,y\nb,1,no\na,2,no\nb,3,yes\n";
    struct ingest ingest;
    ingest_init(&ingest);
    ingest_text(&ingest, &people, text);
    /* Before the file is rewritten, each of its parts takes 64 bytes. */
    uint64_t size = ingest.result.size, before = 4 * 64;
    for (uint64_t room = size / 2; room <= 2 * size; room += size / 4) {
        ingest.limits.disk_room = room;
        ingest_text(&ingest, &people, text);
        assert_int_equal(ingest.status, room < size + before ? ST_DISK_FULL : ST_OK);
    }
    ingest.limits.disk_room = 0;
    struct import import = ingest_import(&ingest, &people);
    import.cancel = &cancelled;
    assert_int_equal(import_run(&import, &ingest.result, &ingest.failure),
                     ST_CANCELLED);
    assert_int_equal(access(ingest.out, F_OK), -1);
    ingest_fini(&ingest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_a_person_lie_together_in_the_order_of_the_file),
        cmocka_unit_test(ids_themselves_do_not_matter),
        cmocka_unit_test(the_rows_have_the_digest_of_the_file_they_came_in),
        cmocka_unit_test(a_row_without_an_id_is_refused),
        cmocka_unit_test(an_id_has_a_longest_size),
        cmocka_unit_test(an_id_that_holds_what_nobody_sees_is_refused),
        cmocka_unit_test(a_mark_is_read_over_at_the_beginning_of_a_file_alone),
        cmocka_unit_test(many_persons_are_grouped_as_a_sort_would),
        cmocka_unit_test(a_file_is_as_large_whatever_rows_there_are),
        cmocka_unit_test(as_many_rows_are_kept_as_are_declared),
        cmocka_unit_test(of_many_rows_each_is_kept_as_often),
        cmocka_unit_test(a_full_disk_and_a_cancelled_import_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
