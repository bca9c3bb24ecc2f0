/* Goal: canonical text is a bijection on valid mechanisms, and no other text is
 * accepted. */
#include "base/mechanism.h"

#include <string.h>

#include "tests/expect.h"

static void rendering_then_parsing_gives_the_same_mechanism(void **state)
{
    (void)state;
    struct mechanism m, again;
    mechanism_init(&m, MECHANISM_SAMPLED_GAUSSIAN, RELATION_ZERO_OUT,
                   (struct mechanism_run){1024.0 / 60000, 1.4853, 1172});
    char *text = mechanism_render(&m);
    assert_string_equal(text,
                        "{\"kind\":\"sampled_gaussian\",\"relation\":\"zero_out\","
                        "\"runs\":[[0.017066666666666667,1.4853000000000001,1172]],"
                        "\"prefixes_priced\":true}");
    assert_int_equal(mechanism_parse(&again, text, NULL), ST_OK);
    assert_int_equal(again.run_count, 1);
    assert_true(again.runs[0].sampling_rate == m.runs[0].sampling_rate);
    assert_true(again.runs[0].noise_multiplier == m.runs[0].noise_multiplier);
    assert_int_equal(mechanism_steps(&again), 1172);
    free(text);
    mechanism_fini(&again);
    mechanism_fini(&m);
}

static void a_filtered_run_has_no_priced_prefixes(void **state)
{
    (void)state;
    static const char whole[] =
        "{\"kind\":\"filtered_gaussian\",\"relation\":\"zero_out\",\"runs\":[[0.25,2.5,"
        "150]],\"filter\":[16,0.75],\"prefixes_priced\":false}";
    static const char priced[] =
        "{\"kind\":\"filtered_gaussian\",\"relation\":\"zero_out\",\"runs\":[[0.25,2.5,"
        "150]],\"filter\":[16,0.75],\"prefixes_priced\":true}";
    struct mechanism m = {0};
    assert_int_equal(mechanism_parse(&m, whole, NULL), ST_OK);
    char *text = mechanism_render(&m);
    assert_string_equal(text, whole);
    free(text);
    mechanism_fini(&m);
    assert_int_equal(mechanism_parse(&m, priced, NULL), ST_INVALID);
}

static void an_error_feedback_says_its_bound(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"kind\":\"error_feedback\",\"relation\":\"zero_out\",\"runs\":[[1,2.5,150]],"
        "\"feedback\":[\"m2r\",50,1.25,0],\"prefixes_priced\":true}",
        "{\"kind\":\"error_feedback\",\"relation\":\"replace_one\",\"runs\":[[1,2.5,"
        "150]],"
        "\"feedback\":[\"m1\",1,0,1000],\"prefixes_priced\":true}",
        "{\"kind\":\"error_feedback\",\"relation\":\"zero_out\",\"runs\":[[1,2.5,150]],"
        "\"feedback\":[\"m2\",50,1.25,1000],\"prefixes_priced\":true}",
        "{\"kind\":\"error_feedback\",\"relation\":\"zero_out\",\"runs\":[[0.25,2.5,"
        "150]],"
        "\"feedback\":[\"m3\",0,1.25,1000],\"prefixes_priced\":false}",
    };
    static const char *const bad[] = {
        /* m2 without a cap; m3 with one; m3 in prefixes; a rest without a bound */
        "{\"kind\":\"error_feedback\",\"relation\":\"zero_out\",\"runs\":[[1,2.5,150]],"
        "\"feedback\":[\"m2\",0,1.25,1000],\"prefixes_priced\":true}",
        "{\"kind\":\"error_feedback\",\"relation\":\"zero_out\",\"runs\":[[1,2.5,150]],"
        "\"feedback\":[\"m3\",50,1.25,1000],\"prefixes_priced\":false}",
        "{\"kind\":\"error_feedback\",\"relation\":\"zero_out\",\"runs\":[[0.25,2.5,"
        "150]],"
        "\"feedback\":[\"m3\",0,1.25,1000],\"prefixes_priced\":true}",
        "{\"kind\":\"error_feedback\",\"relation\":\"zero_out\",\"runs\":[[1,2.5,150]],"
        "\"feedback\":[\"m1\",50,1.25,1000],\"prefixes_priced\":true}",
        "{\"kind\":\"error_feedback\",\"relation\":\"zero_out\",\"runs\":[[0.5,2.5,150]"
        "],"
        "\"feedback\":[\"m2r\",50,1.25,0],\"prefixes_priced\":true}",
        "{\"kind\":\"error_feedback\",\"relation\":\"zero_out\",\"runs\":[[1,2.5,150]],"
        "\"feedback\":[\"theorem_3_7\",50,1.25,0],\"prefixes_priced\":true}",
        "{\"kind\":\"error_feedback\",\"relation\":\"zero_out\",\"runs\":[[1,2.5,150]],"
        "\"prefixes_priced\":true}",
        "{\"kind\":\"gaussian\",\"relation\":\"zero_out\",\"runs\":[[1,2.5,150]],"
        "\"feedback\":[\"m2r\",50,1.25,0],\"prefixes_priced\":true}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct mechanism m, copy = {0};
        assert_int_equal(mechanism_parse(&m, texts[i], NULL), ST_OK);
        mechanism_copy(&copy, &m);
        char *again = mechanism_render(&copy);
        assert_string_equal(again, texts[i]);
        free(again);
        mechanism_fini(&copy);
        mechanism_fini(&m);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct mechanism m;
        assert_int_equal(mechanism_parse(&m, bad[i], NULL), ST_INVALID);
    }
}

static void appended_steps_join_a_run_that_they_are_like(void **state)
{
    (void)state;
    struct mechanism m;
    mechanism_init(&m, MECHANISM_SAMPLED_GAUSSIAN, RELATION_ZERO_OUT,
                   (struct mechanism_run){0.5, 1, 2});
    mechanism_append(&m, (struct mechanism_run){0.5, 1, 3});
    assert_int_equal(m.run_count, 1);
    mechanism_append(&m, (struct mechanism_run){0.5, 1.5, 7});
    mechanism_append(&m, (struct mechanism_run){0.25, 1.5, 1});
    mechanism_append(&m, (struct mechanism_run){0.5, 1, 1});
    mechanism_append(&m, (struct mechanism_run){0.5, 0.75, 1});
    mechanism_append(&m, (struct mechanism_run){0.625, 0.75, 1});
    assert_int_equal(m.run_count, 6);
    assert_int_equal(m.runs[0].steps, 5);
    assert_int_equal(mechanism_steps(&m), 16);
    mechanism_fini(&m);
}

static void turns_are_part_of_the_text(void **state)
{
    (void)state;
    static const char text[] =
        "{\"kind\":\"fixed_subset\",\"relation\":\"zero_out\",\"runs\":[[1,2.5,1],"
        "[0.5,4.5,3],[1,7.5,2],[0.5,4.5,3],[1,7.5,1],[0.5,4.5,2]],\"turns\":12,"
        "\"prefixes_priced\":true}";
    struct mechanism m, copy = {0};
    assert_int_equal(mechanism_parse(&m, text, NULL), ST_OK);
    assert_int_equal(m.turns, 12);
    mechanism_copy(&copy, &m);
    char *again = mechanism_render(&copy);
    assert_string_equal(again, text);
    free(again);
    mechanism_fini(&m);
    mechanism_fini(&copy);
}

static void a_sequence_says_the_kind_of_each_run(void **state)
{
    (void)state;
    static const char text[] =
        "{\"kind\":\"sequence\",\"relation\":\"zero_out\",\"runs\":[[0.25,2.5,150],[1,"
        "4,"
        "1]],\"kinds\":[\"sampled_gaussian\",\"laplace\"],\"prefixes_priced\":true}";
    static const char *const bad[] = {
        "{\"kind\":\"sequence\",\"relation\":\"zero_out\",\"runs\":[[1,4,1]],"
        "\"prefixes_priced\":true}",
        "{\"kind\":\"sequence\",\"relation\":\"zero_out\",\"runs\":[[1,4,1]],"
        "\"kinds\":[\"laplace\",\"laplace\"],\"prefixes_priced\":true}",
        "{\"kind\":\"sequence\",\"relation\":\"zero_out\",\"runs\":[[1,4,1],[1,2,1]],"
        "\"kinds\":[\"laplace\"],\"prefixes_priced\":true}",
        "{\"kind\":\"sequence\",\"relation\":\"zero_out\",\"runs\":[[1,4,1]],"
        "\"kinds\":[\"sequence\"],\"prefixes_priced\":true}",
        "{\"kind\":\"sequence\",\"relation\":\"zero_out\",\"runs\":[[1,4,1]],"
        "\"kinds\":[\"laplace\"],\"prefixes_priced\":false}",
        "{\"kind\":\"laplace\",\"relation\":\"zero_out\",\"runs\":[[1,4,1]],"
        "\"kinds\":[\"laplace\"],\"prefixes_priced\":true}",
    };
    struct mechanism m = {0}, copy = {0};
    assert_int_equal(mechanism_parse(&m, text, NULL), ST_OK);
    mechanism_copy(&copy, &m);
    mechanism_fini(&m);
    char *again = mechanism_render(&copy);
    assert_string_equal(again, text);
    free(again);
    mechanism_fini(&copy);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(mechanism_parse(&m, bad[i], NULL), ST_INVALID);
}

static void other_text_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "{}",
        "{\"kind\":\"uniform\",\"relation\":\"zero_out\",\"runs\":[[0.5,1,1]],"
        "\"prefixes_priced\":true}",
        "{\"kind\":\"gaussian\",\"relation\":\"zero_out\",\"runs\":[],"
        "\"prefixes_priced\":true}",
        "{\"kind\":\"gaussian\",\"relation\":\"zero_out\",\"runs\":[[1.5,1,1]],"
        "\"prefixes_priced\":true}",
        "{\"kind\":\"gaussian\",\"relation\":\"zero_out\",\"runs\":[[1,nan,1]],"
        "\"prefixes_priced\":true}",
        "{\"kind\":\"gaussian\",\"relation\":\"zero_out\",\"runs\":[[1,-2.5,1]],"
        "\"prefixes_priced\":true}",
        "{\"kind\":\"gaussian\",\"relation\":\"zero_out\",\"runs\":[[1,2.5,0]],"
        "\"prefixes_priced\":true}",
        "{\"kind\":\"gaussian\",\"relation\":\"zero_out\",\"runs\":[[1,2.5,-3]],"
        "\"prefixes_priced\":true}",
        "{\"kind\":\"gaussian\",\"relation\":\"zero_out\",\"runs\":[[1,2.50,1]],"
        "\"prefixes_priced\":true}",
        "{\"kind\":\"gaussian\",\"relation\":\"zero_out\",\"runs\":[[1,2.5,1]],"
        "\"prefixes_priced\":true} ",
        "{\"kind\":\"gaussian\",\"relation\":\"zero_out\",\"runs\":[[1,2.5,1]],"
        "\"turns\":3,\"prefixes_priced\":true}",
        "{\"kind\":\"fixed_subset\",\"relation\":\"zero_out\",\"runs\":[[1,2.5,1]],"
        "\"turns\":1,\"prefixes_priced\":true}",
        "{\"kind\":\"fixed_subset\",\"relation\":\"zero_out\",\"runs\":[[1,2.5,1]],"
        "\"turns\":0,\"prefixes_priced\":true}",
        "{\"kind\":\"fixed_subset\",\"relation\":\"zero_out\",\"runs\":[[0.5,2.5,1]],"
        "\"turns\":2,\"prefixes_priced\":true}",
        "{\"kind\":\"fixed_subset\",\"relation\":\"zero_out\",\"runs\":[[1,2.5,1],"
        "[1,3.5,1]],\"turns\":2,\"prefixes_priced\":true}",
        "{\"kind\":\"fixed_subset\",\"relation\":\"zero_out\",\"runs\":[[1,2.5,1],"
        "[0.5,2.5,3],[1,2.5,1],[0.5,2.5,4]],\"turns\":2,\"prefixes_priced\":true}",
        "{\"kind\":\"fixed_subset\",\"relation\":\"zero_out\",\"runs\":[[1,2.5,1],"
        "[0.5,2.5,3],[1,2.5,1],[0.25,2.5,3]],\"turns\":2,\"prefixes_priced\":true}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct mechanism m;
        struct error error = {0};
        assert_int_equal(mechanism_parse(&m, bad[i], &error), ST_INVALID);
        assert_true(strlen(error.text) > 0);
    }
}

static void a_copy_owns_its_runs(void **state)
{
    (void)state;
    struct mechanism m, copy = {0};
    mechanism_init(&m, MECHANISM_GAUSSIAN, RELATION_REPLACE_ONE,
                   (struct mechanism_run){1.0, 2.385, 7});
    mechanism_copy(&copy, &m);
    m.runs[0].steps = 9;
    assert_int_equal(mechanism_steps(&copy), 7);
    mechanism_fini(&copy);
    mechanism_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rendering_then_parsing_gives_the_same_mechanism),
        cmocka_unit_test(a_filtered_run_has_no_priced_prefixes),
        cmocka_unit_test(an_error_feedback_says_its_bound),
        cmocka_unit_test(appended_steps_join_a_run_that_they_are_like),
        cmocka_unit_test(turns_are_part_of_the_text),
        cmocka_unit_test(a_sequence_says_the_kind_of_each_run),
        cmocka_unit_test(other_text_is_refused),
        cmocka_unit_test(a_copy_owns_its_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
