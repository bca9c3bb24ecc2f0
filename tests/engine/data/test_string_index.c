/* Goal: every declared text is found at its own index, and no other text is found. */
#include "tests/expect.h"

#include <string.h>

#include "engine/data/string_index.h"

static void every_text_is_found_at_its_place(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    char *texts[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        texts[i] = malloc(16);
        assert_non_null(texts[i]);
        snprintf(texts[i], 16, "%x", (unsigned)(i * 2654435761U));
    }
    struct string_index *lexicon = string_index_create(texts, COUNT);
    assert_non_null(lexicon);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(string_index_find(lexicon, texts[i], strlen(texts[i])), i);
        assert_int_equal(string_index_find(lexicon, "zz", 2), STRING_INDEX_ABSENT);
    }
    string_index_destroy(lexicon);
    for (int i = 0; i < COUNT; i++)
        free(texts[i]);
}

static void a_beginning_an_end_and_a_zero_byte_are_other_texts(void **state)
{
    (void)state;
    char text[] = "abc";
    char *texts[] = {text};
    struct string_index *lexicon = string_index_create(texts, 1);
    assert_int_equal(string_index_find(lexicon, "abc", 3), 0);
    assert_int_equal(string_index_find(lexicon, "ab", 2), STRING_INDEX_ABSENT);
    assert_int_equal(string_index_find(lexicon, "abc\0", 4), STRING_INDEX_ABSENT);
    assert_int_equal(string_index_find(lexicon, "", 0), STRING_INDEX_ABSENT);
    string_index_destroy(lexicon);
}

static void a_list_too_long_for_memory_is_refused(void **state)
{
    (void)state;
    assert_null(string_index_create(NULL, SIZE_MAX / 2));
    string_index_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_text_is_found_at_its_place),
        cmocka_unit_test(a_beginning_an_end_and_a_zero_byte_are_other_texts),
        cmocka_unit_test(a_list_too_long_for_memory_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
