/* Goal: each file of each format can be uploaded only under its own name. Method: every
 * row of the table of readers. */
#include "engine/data/schema.h"
#include "tests/expect.h"

#include <string.h>

#include "engine/data/readers/reader_registry.h"
#include "service/ingest/upload_kind.h"

static void expect_kinds(const struct schema *schema)
{
    size_t kinds = 0;
    for (size_t k = 0; k < UPLOAD_KINDS; k++)
        kinds += upload_kind_is_of(&upload_kinds[k], schema);
    assert_int_equal(kinds, schema_file_count(schema));
    for (size_t k = 0; k < schema_file_count(schema); k++) {
        const char *name = schema_file_name(schema, k);
        const struct upload_kind *kind = upload_kind_find(schema, name);
        assert_non_null(kind);
        assert_string_equal(kind->name, name);
    }
}

static void every_file_of_every_format_has_a_kind(void **state)
{
    (void)state;
    for (size_t i = 0; readers[i] != NULL; i++) {
        struct schema schema = {.reader = readers[i]};
        expect_kinds(&schema);
        assert_null(upload_kind_find(&schema, "privacy_id"));
        schema.has_id_file = true;
        expect_kinds(&schema);
        assert_non_null(upload_kind_find(&schema, "privacy_id"));
    }
}

static void another_name_has_none(void **state)
{
    (void)state;
    const struct schema table = {.reader = reader_find("csv")};
    const struct schema arrays = {.reader = reader_find("idx")};
    assert_null(upload_kind_find(&table, "features"));
    assert_null(upload_kind_find(&arrays, "data"));
    assert_null(upload_kind_find(&arrays, "feature"));
    assert_null(upload_kind_find(&arrays, ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_file_of_every_format_has_a_kind),
        cmocka_unit_test(another_name_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
