/* Goal: the table is the only place that knows a format: each row is complete, its
 * statements about files hold for an import, and no other source file names a format. A
 * new row in the table is tested here without further changes. api/test_openapi checks
 * that openapi.yaml has the same formats. */
#include "tests/expect.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/data/readers/reader_registry.h"
#include "tests/engine/data/readers/ingest_fixture.h"
#include "tests/engine/draw_fixture.h"
#include "tests/source_fixture.h"

static char name_x[] = "x", name_y[] = "y", value_a[] = "a", value_b[] = "b";
static char *values[] = {value_a, value_b};
static struct column columns[] = {
    {.name = name_x, .kind = COLUMN_NUMERIC, .low = 0, .high = 1},
    {.name = name_y, .kind = COLUMN_LABEL, .value_count = 2, .values = values},
};

/* Returns the schema of some classification in the format. */
static struct schema schema_of(const struct reader *reader)
{
    struct schema schema = {.reader = reader, .classes = 2};
    if (reader->class_counts[0].count > 0)
        schema.classes = reader->class_counts[0].count;
    switch (reader->form) {
    case FORM_SHAPED:
        schema.shape_count = 1;
        schema.shape[0] = 3;
        schema.scale = 255;
        if (reader->shape_count > 0) {
            schema.shape_count = reader->shape_count;
            memcpy(schema.shape, reader->shape, sizeof schema.shape);
            schema.scale = reader->scale;
        }
        break;
    case FORM_INDEXED: schema.feature_count = 3; break;
    case FORM_COLUMNS:
        schema.column_count = 2;
        schema.columns = columns;
        break;
    }
    return schema;
}

static void each_format_has_a_name_a_form_and_its_files(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum record_form form;
        size_t files;
    } formats[] = {
        {"idx", FORM_SHAPED, 2},     {"csv", FORM_COLUMNS, 1},
        {"libsvm", FORM_INDEXED, 1}, {"npy", FORM_SHAPED, 2},
        {"cifar10", FORM_SHAPED, 1}, {"cifar100", FORM_SHAPED, 1},
        {"jsonl", FORM_COLUMNS, 1},
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const struct reader *reader = reader_find(formats[i].name);
        assert_non_null(reader);
        assert_string_equal(reader->name, formats[i].name);
        assert_int_equal(reader->form, formats[i].form);
        assert_int_equal(reader_file_count(reader), formats[i].files);
        const struct schema schema = schema_of(reader);
        assert_int_equal(schema_has_file(&schema, "features"), formats[i].files == 2);
        assert_int_equal(schema_has_file(&schema, "labels"), formats[i].files == 2);
        assert_int_equal(schema_has_file(&schema, "data"), formats[i].files == 1);
        assert_false(schema_has_file(&schema, ""));
    }
    assert_null(reader_find("CSV"));
    assert_null(reader_find(""));
}

static void every_row_is_whole(void **state)
{
    (void)state;
    for (size_t i = 0; readers[i] != NULL; i++) {
        const struct reader *reader = readers[i];
        struct import_failure failure;
        assert_ptr_equal(reader_find(reader->name), reader); /* no other format has the
                                                                name */
        assert_true(strlen(reader->name) > 0);
        assert_int_equal(strspn(reader->name, "abcdefghijklmnopqrstuvwxyz0123456789_"),
                         strlen(reader->name));
        assert_non_null(reader->read);
        assert_true(reader_file_count(reader) > 0);
        for (size_t k = 0; k < reader_file_count(reader); k++)
            assert_true(strlen(reader->files[k]) < sizeof failure.file);
        assert_true(!reader->has_dialect || reader->form == FORM_COLUMNS);
        assert_true(reader->magic == NULL || strlen(reader->magic) > 2);
        assert_true(reader->shape_count == 0 || reader->form == FORM_SHAPED);
        assert_int_equal(reader->shape_count > 0, reader->scale > 0);
    }
}

static void classes_are_those_that_a_row_names_or_any(void **state)
{
    (void)state;
    for (size_t i = 0; readers[i] != NULL; i++) {
        const struct class_count *counts = readers[i]->class_counts;
        bool any = counts[0].count == 0;
        assert_int_equal(reader_takes_classes(readers[i], 7), any);
        assert_int_equal(reader_takes_classes(readers[i], 0), any);
        for (size_t k = 0; k < READER_CLASS_COUNTS_MAX && counts[k].count > 0; k++) {
            assert_true(reader_takes_classes(readers[i], counts[k].count));
            assert_int_equal(counts[k].meaning != NULL, counts[1].count > 0);
        }
    }
    assert_true(reader_takes_classes(reader_find("cifar100"), 20));
    assert_true(reader_takes_classes(reader_find("cifar100"), 100));
    assert_true(reader_takes_classes(reader_find("cifar10"), 10));
}

/* "a, b or c": all names, in the order of the table. */
static void formats_are_listed_for_people(void **state)
{
    (void)state;
    char text[READER_NAMES_SIZE], *at = text;
    reader_names(text, NULL);
    for (size_t i = 0; readers[i] != NULL; i++) {
        const char *behind = readers[i + 1] == NULL   ? ""
                             : readers[i + 2] == NULL ? " or "
                                                      : ", ";
        assert_memory_equal(at, readers[i]->name, strlen(readers[i]->name));
        at += strlen(readers[i]->name);
        assert_memory_equal(at, behind, strlen(behind));
        at += strlen(behind);
    }
    assert_string_equal(at, "");
    reader_names(text, &(enum record_form){FORM_COLUMNS});
    assert_memory_equal(text, "csv", 3);
}

static void a_file_that_is_not_there_is_blamed_by_its_name(void **state)
{
    (void)state;
    for (size_t i = 0; readers[i] != NULL; i++) {
        struct ingest ingest;
        struct schema schema = schema_of(readers[i]);
        ingest_init(&ingest);
        ingest_run(&ingest, &schema);
        assert_refused(&ingest, readers[i]->files[0], 0, 0, "was not uploaded");
        ingest_fini(&ingest);
    }
}

/* Bytes from a fixed seed, and an empty file. */
static void what_is_no_such_file_is_refused_with_a_reason(void **state)
{
    (void)state;
    uint64_t seed = 11;
    char bytes[4001];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)draw_below(&seed, 256);
    for (size_t i = 0; readers[i] != NULL; i++) {
        struct schema schema = schema_of(readers[i]);
        for (size_t size = 0; size <= sizeof bytes; size += sizeof bytes) {
            struct ingest ingest;
            ingest_init(&ingest);
            write_file(ingest.data, bytes, size);
            for (size_t k = 0; k < reader_file_count(readers[i]); k++)
                ingest.files.paths[k] = ingest.data;
            ingest_run(&ingest, &schema); /* and a failure leaves no file */
            assert_int_equal(ingest.status, ST_IMPORT_FAILED);
            assert_true(schema_has_file(&schema, ingest.failure.file));
            assert_true(strlen(ingest.failure.text) > 10);
            ingest_fini(&ingest);
        }
    }
}

static bool is_of_the_table(const char *path)
{
    static const char ending[] = "_reader.c";
    size_t size = strlen(path);
    return strstr(path, "/reader_registry.") != NULL ||
           (strstr(path, "/readers/") != NULL && size > sizeof ending &&
            strcmp(path + size - (sizeof ending - 1), ending) == 0);
}

/* Checks that text names no format: neither in quotes, as code that compares names
 * would, nor by its struct. */
static void assert_names_none(const char *path, const char *text)
{
    if (is_of_the_table(path))
        return;
    for (size_t i = 0; readers[i] != NULL; i++) {
        char quoted[64], row[64];
        snprintf(quoted, sizeof quoted, "\"%s\"", readers[i]->name);
        snprintf(row, sizeof row, "%s_reader", readers[i]->name);
        if (strstr(text, quoted) != NULL || strstr(text, row) != NULL)
            fail_msg("%s names %s", path, readers[i]->name);
    }
}

static void nothing_outside_the_table_names_a_format(void **state)
{
    (void)state;
    static const char *const patterns[] = {"api/*.[ch]",
                                           "api/*/*.[ch]",
                                           "service/*/*.[ch]",
                                           "accountant/*/*.[ch]",
                                           "engine/*.[ch]",
                                           "engine/data/*.[ch]",
                                           "engine/data/readers/*.[ch]",
                                           "engine/dp/*.[ch]",
                                           "engine/nn/*.[ch]",
                                           "store/*.[ch]",
                                           "store/*/*.[ch]"};
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++)
        sources_walk(patterns[k], assert_names_none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_format_has_a_name_a_form_and_its_files),
        cmocka_unit_test(every_row_is_whole),
        cmocka_unit_test(classes_are_those_that_a_row_names_or_any),
        cmocka_unit_test(formats_are_listed_for_people),
        cmocka_unit_test(a_file_that_is_not_there_is_blamed_by_its_name),
        cmocka_unit_test(what_is_no_such_file_is_refused_with_a_reason),
        cmocka_unit_test(nothing_outside_the_table_names_a_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
