/* Goal: a known mechanism is the one that its text says, regardless of the texts in
 * between, and an invalid text is never known. */
#include "accountant/pricing/known_mechanisms.h"

#include <stdlib.h>
#include <string.h>

#include "tests/expect.h"

enum { MANY = 2000 };

static struct mechanism made(int number)
{
    struct mechanism m;
    mechanism_init(&m, MECHANISM_GAUSSIAN, RELATION_ZERO_OUT,
                   (struct mechanism_run){1, 1 + number / 7.0, (uint64_t)number + 1});
    return m;
}

static void expect_text(struct known_mechanisms *known, const char *text)
{
    struct mechanism m = {0};
    assert_int_equal(known_mechanisms_parse(known, &m, text), ST_OK);
    char *again = mechanism_render(&m);
    assert_string_equal(again, text);
    free(again);
    mechanism_fini(&m);
}

static void each_text_is_its_own_mechanism(void **state)
{
    (void)state;
    struct known_mechanisms *known = known_mechanisms_create();
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < MANY; i++) {
            struct mechanism m = made(i);
            char *text = mechanism_render(&m);
            expect_text(known, text);
            expect_text(known, text);
            expect_text(NULL, text);
            free(text);
            mechanism_fini(&m);
        }
    known_mechanisms_destroy(known);
}

static void what_is_no_mechanism_is_refused_each_time(void **state)
{
    (void)state;
    struct mechanism good = made(3), m = {0};
    struct known_mechanisms *known = known_mechanisms_create();
    char *text = mechanism_render(&good);
    expect_text(known, text);
    text[strlen(text) - 2] = ' ';
    for (int turn = 0; turn < 2; turn++)
        assert_int_equal(known_mechanisms_parse(known, &m, text), ST_INVALID);
    assert_int_equal(known_mechanisms_parse(NULL, &m, text), ST_INVALID);
    free(text);
    mechanism_fini(&good);
    known_mechanisms_destroy(known);
    known_mechanisms_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_text_is_its_own_mechanism),
        cmocka_unit_test(what_is_no_mechanism_is_refused_each_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
