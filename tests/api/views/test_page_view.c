/* Goal: a page contains its items unchanged. Method: a page is compared with its
 * text. */
#include "tests/expect.h"

#include "api/views/page_view.h"

static void a_page_holds_its_items_as_they_are(void **state)
{
    (void)state;
    char first[] = "{\"a\":1.50}", second[] = "{}";
    char *text = page_render("jobs", (char *const[]){first, second}, 2, "p7");
    assert_string_equal(text,
                        "{\"jobs\":[{\"a\":1.50},{}],\"next_page_token\":\"p7\"}");
    free(text);
    text = page_render("jobs", NULL, 0, NULL);
    assert_string_equal(text, "{\"jobs\":[],\"next_page_token\":null}");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_holds_its_items_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
