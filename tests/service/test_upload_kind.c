/* Goal: each file of each format can be uploaded under its name, and no other. Method:
 * every row of the table of readers. */
#include "tests/expect.h"

#include <string.h>

#include "engine/data/readers/reader_registry.h"
#include "service/upload_kind.h"

static void every_file_of_every_format_has_a_kind(void **state)
{
    (void)state;
    for (size_t i = 0; readers[i] != NULL; i++) {
        size_t kinds = 0;
        for (size_t k = 0; k < UPLOAD_KINDS; k++)
            kinds += upload_kind_is_of(&upload_kinds[k], readers[i]);
        assert_int_equal(kinds, reader_file_count(readers[i]));
        for (size_t k = 0; k < reader_file_count(readers[i]); k++) {
            const struct upload_kind *kind =
                upload_kind_find(readers[i], readers[i]->files[k]);
            assert_non_null(kind);
            assert_string_equal(kind->name, readers[i]->files[k]);
        }
    }
}

static void another_name_has_none(void **state)
{
    (void)state;
    assert_null(upload_kind_find(reader_find("csv"), "features"));
    assert_null(upload_kind_find(reader_find("idx"), "data"));
    assert_null(upload_kind_find(reader_find("idx"), "feature"));
    assert_null(upload_kind_find(reader_find("idx"), ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_file_of_every_format_has_a_kind),
        cmocka_unit_test(another_name_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
