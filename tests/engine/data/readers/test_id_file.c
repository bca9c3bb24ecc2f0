/* Goal: if a format has no id column, a separate file gives the person of each record,
 * line by line. It groups records as a column does, and the import is refused if the
 * file does not give the person of every record. Method: small files of each format
 * that has no columns. */
#include "engine/data/readers/id_file.h"

#include <math.h>
#include <string.h>

#include "engine/data/readers/persons.h"
#include "engine/data/readers/reader_registry.h"
#include "tests/expect.h"
#include "tests/engine/data/readers/ingest_fixture.h"

static const struct schema numbers = {.reader = &libsvm_reader,
                                      .task = TASK_CLASSIFICATION,
                                      .classes = 2,
                                      .feature_count = 1,
                                      .has_id_file = true};

static const char records[] = "0 1:1\n1 1:2\n1 1:3\n0 1:4\n";

/* Imports the records with these ids, of that many bytes. */
static void ingest_ids(struct ingest *ingest, const void *ids, size_t size)
{
    write_file(ingest->data, records, sizeof records - 1);
    write_file(ingest->labels, ids, size);
    ingest->files = (struct import_files){{ingest->data, ingest->labels}};
    ingest_run(ingest, &numbers);
}

static void expect_persons(const struct ingest *ingest, size_t persons)
{
    assert_int_equal(ingest->status, ST_OK);
    assert_int_equal(ingest->result.records, persons);
    assert_int_equal(matrix_units(&ingest->matrix), persons);
}

/* Returns the person whose first row has this first feature, and checks the number of
 * rows. */
static struct matrix_unit expect_person(const struct ingest *ingest, float first,
                                        uint32_t rows)
{
    for (uint32_t u = 0; u < matrix_units(&ingest->matrix); u++) {
        const struct matrix_unit own = matrix_unit(&ingest->matrix, u);
        if (feature_at(&ingest->matrix, own.first, 0) == first) {
            assert_int_equal(own.count, rows);
            return own;
        }
    }
    fail_msg("nobody's first row has the feature %g", (double)first);
    return (struct matrix_unit){0};
}

static void records_of_a_person_lie_together(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "zoe\nbob\nzoe\namy\n", "zoe\nbob\nzoe\namy", "zoe\r\nbob\r\nzoe\r\namy\r\n",
        "zoe\rbob\rzoe\ramy\r", " 7\t\n8\n7 \n9\n",   "\xef\xbb\xbfq\nr\nq\ns\n",
        "\"a\"\na\n\"a\"\nA\n"};
    static const float rows[3][2] = {{1, 3}, {2, 0}, {4, 0}};
    struct ingest ingest;
    ingest_init(&ingest);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        ingest_ids(&ingest, texts[k], strlen(texts[k]));
        expect_persons(&ingest, 3);
        for (uint32_t u = 0; u < 3; u++) {
            uint32_t first = expect_person(&ingest, rows[u][0], u == 0 ? 2 : 1).first;
            assert_true(feature_at(&ingest.matrix, first + 1, 0) == rows[u][1]);
            if (u == 0)
                assert_int_equal(ingest.matrix.targets[first + 1], 1);
        }
    }
    ingest_fini(&ingest);
}

static void the_records_have_the_digest_that_they_have_without_ids(void **state)
{
    (void)state;
    struct schema plain = numbers;
    struct ingest ingest;
    uint8_t digest[SHA256_SIZE];
    plain.has_id_file = false;
    ingest_init(&ingest);
    ingest_ids(&ingest, "a\nb\na\nb\n", 8);
    memcpy(digest, ingest.result.rows_sha256, sizeof digest);
    ingest_run(&ingest, &plain);
    assert_int_equal(ingest.result.records, 4);
    assert_memory_equal(ingest.result.rows_sha256, digest, sizeof digest);
    ingest_fini(&ingest);
}

static void each_record_has_one_id(void **state)
{
    (void)state;
    static const struct {
        const char *ids, *words;
        uint64_t line;
    } cases[] = {{"", "0 ids for 4 records", 0},
                 {"a\nb\nc\n", "3 ids for 4 records", 0},
                 {"a\nb\nc\nd\ne\n", "more ids than the 4 records", 5},
                 {"a\nb\nc\nd\n\n", "more ids than the 4 records", 5},
                 {"a\n\nc\nd\n", "must say whose it is", 2},
                 {"a\nb\n \t\r\nd\n", "must say whose it is", 3},
                 {"\xef\xbb\xbf\nb\nc\nd\n", "must say whose it is", 1},
                 {"a\nb\n\xef\xbb\xbf"
                  "a\nd\n",
                  "a byte order mark", 3},
                 {"a\nb\na\r\r\nd\n", "must say whose it is", 4},
                 {"a\nb\xc2\xa0\nc\nd\n", "a no-break space", 2},
                 {"a\nb\nc\nd\x80\n", "not UTF-8", 4}};
    struct ingest ingest;
    ingest_init(&ingest);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ingest_ids(&ingest, cases[k].ids, strlen(cases[k].ids));
        assert_refused(&ingest, "privacy_id", cases[k].line, 0, cases[k].words);
    }
    ingest_fini(&ingest);
}

static void what_is_no_text_is_named(void **state)
{
    (void)state;
    static const char wide[] = "\xff\xfe"
                               "a\0\n\0b\0\n\0a\0\n\0c\0";
    static const char nul[] = "a\nb\0\nc\nd\n";
    static const char zip[] = "PK\x03\x04";
    static const char array[] = "\x93NUMPY\x01\0\nb\0\nc\nd\n";
    char longest[PERSON_ID_SIZE_MAX + 16];
    struct ingest ingest;
    ingest_init(&ingest);
    ingest_ids(&ingest, wide, sizeof wide - 1);
    assert_refused(&ingest, "privacy_id", 0, 0, "UTF-16");
    ingest_ids(&ingest, nul, sizeof nul - 1);
    assert_refused(&ingest, "privacy_id", 2, 0, "save the ids as UTF-8");
    ingest_ids(&ingest, zip, sizeof zip - 1);
    assert_refused(&ingest, "privacy_id", 0, 0, "zip archive");
    ingest_ids(&ingest, array, sizeof array - 1);
    assert_refused(&ingest, "privacy_id", 0, 0, "should be text");
    memset(longest, 'i', sizeof longest);
    memcpy(longest + PERSON_ID_SIZE_MAX + 1, "\nb\nc\nd\n", 8);
    ingest_ids(&ingest, longest, PERSON_ID_SIZE_MAX + 8);
    assert_refused(&ingest, "privacy_id", 1, 0, "longer than 256 bytes");
    assert_null(strstr(ingest.failure.text, "iii")); /* no value is quoted */
    ingest.files.paths[1] = NULL;
    ingest_run(&ingest, &numbers);
    assert_refused(&ingest, "privacy_id", 0, 0, "was not uploaded");
    ingest_fini(&ingest);
}

/* Bytes stay bytes when rows are moved, and images stay complete. */
static void images_are_grouped_too(void **state)
{
    (void)state;
    enum { RECORD = 1 + 3072, RECORDS = 3 };
    static unsigned char batch[RECORDS * RECORD];
    const struct schema photos = {.reader = &cifar10_reader,
                                  .task = TASK_CLASSIFICATION,
                                  .classes = 10,
                                  .shape_count = 3,
                                  .shape = {3, 32, 32},
                                  .scale = 1,
                                  .has_id_file = true};
    struct ingest ingest;
    ingest_init(&ingest);
    for (size_t r = 0; r < RECORDS; r++)
        memset(batch + r * RECORD, (int)r + 1, RECORD);
    write_file(ingest.data, batch, sizeof batch);
    write_file(ingest.labels, "me\nyou\nme\n", 10);
    ingest.files = (struct import_files){{ingest.data, ingest.labels}};
    ingest_run(&ingest, &photos);
    expect_persons(&ingest, 2);
    assert_int_equal(ingest.matrix.element, ELEMENT_U8);
    const uint8_t *rows = ingest.matrix.rows;
    size_t me = expect_person(&ingest, 1, 2).first;
    size_t other = expect_person(&ingest, 2, 1).first;
    assert_int_equal(rows[me * 3072 + 3071], 1);
    assert_int_equal(rows[(me + 1) * 3072], 3);
    assert_int_equal(rows[other * 3072 + 3071], 2);
    assert_int_equal(ingest.matrix.targets[me + 1], 3);
    ingest_fini(&ingest);
}

/* The file of ids comes after features and labels. */
static void two_files_of_arrays_have_a_third(void **state)
{
    (void)state;
    static const unsigned char features[] = {0, 0, 8, 2, 0, 0, 0, 3, 0,
                                             0, 0, 2, 1, 2, 3, 4, 5, 6};
    static const unsigned char labels[] = {0, 0, 8, 1, 0, 0, 0, 3, 0, 1, 1};
    const struct schema pairs = {.reader = &idx_reader,
                                 .task = TASK_CLASSIFICATION,
                                 .classes = 2,
                                 .shape_count = 1,
                                 .shape = {2},
                                 .scale = 1,
                                 .has_id_file = true};
    struct ingest ingest;
    ingest_init(&ingest);
    assert_int_equal(schema_file_count(&pairs), 3);
    write_file(ingest.features, features, sizeof features);
    write_file(ingest.labels, labels, sizeof labels);
    write_file(ingest.data, "a\nb\nb\n", 6);
    ingest.files = (struct import_files){{ingest.features, ingest.labels, ingest.data}};
    ingest_run(&ingest, &pairs);
    expect_persons(&ingest, 2);
    expect_person(&ingest, 1, 1);
    expect_person(&ingest, 3, 2);
    ingest_fini(&ingest);
}

static void a_full_disk_and_a_cancelled_import_leave_nothing(void **state)
{
    (void)state;
    static const atomic_bool cancelled = true;
    struct ingest ingest;
    ingest_init(&ingest);
    ingest_ids(&ingest, "a\nb\na\nb\n", 8);
    ingest.limits.disk_room = ingest.result.size;
    ingest_run(&ingest, &numbers);
    assert_int_equal(ingest.status, ST_DISK_FULL);
    ingest.limits.disk_room = 0;
    struct import import = ingest_import(&ingest, &numbers);
    import.cancel = &cancelled;
    assert_int_equal(import_run(&import, &ingest.result, &ingest.failure),
                     ST_CANCELLED);
    assert_int_equal(access(ingest.out, F_OK), -1);
    ingest_fini(&ingest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_of_a_person_lie_together),
        cmocka_unit_test(the_records_have_the_digest_that_they_have_without_ids),
        cmocka_unit_test(each_record_has_one_id),
        cmocka_unit_test(what_is_no_text_is_named),
        cmocka_unit_test(images_are_grouped_too),
        cmocka_unit_test(two_files_of_arrays_have_a_third),
        cmocka_unit_test(a_full_disk_and_a_cancelled_import_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
