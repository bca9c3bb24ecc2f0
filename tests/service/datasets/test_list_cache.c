/* Goal: a line is found only by its subject and versions, and a line that is not found
 * only costs composing it again. */
#include "service/datasets/list_cache.h"

#include <stdlib.h>
#include <string.h>

#include "tests/expect.h"

enum { MANY = 20000 };

static void assert_kept(struct list_cache *lines, const struct line_key *key,
                        const char *expected)
{
    char *text = list_cache_find(lines, key);
    if (expected == NULL)
        assert_null(text);
    else
        assert_string_equal(text, expected);
    free(text);
}

static void a_line_is_found_by_its_versions_alone(void **state)
{
    (void)state;
    static const int subjects[2];
    struct list_cache *lines = list_cache_create();
    const struct line_key first = {&subjects[0], {3, 5}};
    assert_kept(lines, &first, NULL);
    list_cache_put(lines, &first, "one");
    assert_kept(lines, &first, "one");
    assert_kept(lines, &(struct line_key){&subjects[0], {4, 5}}, NULL);
    assert_kept(lines, &(struct line_key){&subjects[0], {3, 6}}, NULL);
    assert_kept(lines, &(struct line_key){&subjects[1], {3, 5}}, NULL);
    list_cache_put(lines, &(struct line_key){&subjects[0], {4, 5}}, "two");
    assert_kept(lines, &first, NULL);
    list_cache_destroy(lines);
}

/* There are more lines than slots: some are lost, none is mistaken for another. */
static void many_lines_are_never_mixed_up(void **state)
{
    (void)state;
    static char subjects[MANY][64];
    char text[32];
    size_t found = 0;
    struct list_cache *lines = list_cache_create();
    for (int i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "%d", i);
        list_cache_put(lines, &(struct line_key){subjects[i], {1, 1}}, text);
    }
    for (int i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "%d", i);
        char *kept = list_cache_find(lines, &(struct line_key){subjects[i], {1, 1}});
        assert_true(kept == NULL || strcmp(kept, text) == 0);
        found += kept != NULL;
        free(kept);
    }
    assert_true(found > 2000);
    list_cache_destroy(lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_found_by_its_versions_alone),
        cmocka_unit_test(many_lines_are_never_mixed_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
