/* Goal: the table holds everything about a kind of mechanism: each row prices its steps
 * in one way and promises nothing that contradicts it, and no other source names a
 * kind. A new row of the table is tested here automatically. */
#include "accountant/mechanisms/proof.h"

#include <stdio.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/source_fixture.h"

#define WORDS(constant, name) {#constant, "\"" #name "\""},
static const char *const words[MECHANISM_KINDS][2] = {MECHANISM_TABLE(WORDS)};
#undef WORDS

static void every_kind_is_priced_in_one_way(void **state)
{
    (void)state;
    for (int k = 0; k < MECHANISM_KINDS; k++) {
        const struct proof *proof = proof_of((enum mechanism_kind)k);
        assert_non_null(proof);
        assert_true((proof->run_rdp != NULL) != (proof->path_rdp != NULL));
        assert_true(proof->energy == NULL || proof->pure_epsilon == NULL);
        assert_false(proof->has_rate && proof->takes_every_record);
        for (int j = 0; j < k; j++)
            assert_ptr_not_equal(proof, proof_of((enum mechanism_kind)j));
    }
}

/* Losses compose only over independent steps. A run that chooses its noise has no steps
 * that are fixed beforehand, and each of its steps is of a kind that has a price. */
static void what_a_kind_offers_goes_together(void **state)
{
    (void)state;
    for (int k = 0; k < MECHANISM_KINDS; k++) {
        const struct proof *proof = proof_of((enum mechanism_kind)k);
        if (proof->privacy_loss != NULL)
            assert_true(proof->run_rdp != NULL && proof->least_step == NULL);
        if (proof->least_step == NULL)
            continue;
        assert_true(proof->path_rdp != NULL && proof->energy == NULL);
        assert_non_null(proof_of(proof->step_kind)->run_rdp);
    }
}

static void a_kind_that_is_not_in_the_table_has_no_proof(void **state)
{
    (void)state;
    assert_null(proof_of((enum mechanism_kind)MECHANISM_KINDS));
    assert_null(proof_of((enum mechanism_kind)99));
}

/* Joint releases and discoveries are the exception: their noise multiplier is relative
 * to their own relation. */
static void replacing_is_twice_as_far_for_every_kind(void **state)
{
    (void)state;
    for (int k = 0; k < MECHANISM_KINDS; k++) {
        struct mechanism_run run = {1, 2.385, 7};
        struct mechanism m = {
            .kind = (enum mechanism_kind)k, .run_count = 1, .runs = &run};
        m.relation = RELATION_ZERO_OUT;
        assert_true(proof_distance(&m, 0) == 1);
        m.relation = RELATION_REPLACE_ONE;
        bool own = k == MECHANISM_JOINT_RELEASE || k == MECHANISM_DISCOVERY;
        assert_true(proof_distance(&m, 0) == (own ? 1 : 2));
    }
}

static bool is_letter(char c)
{
    return c == '_' || (c >= 'A' && c <= 'Z');
}

/* Returns whether text has the constant as a whole word, or the name in quotes, as text
 * that is compared. "gaussian" in quotes does not count, because an accountant has that
 * name too. */
static bool names_kind(const char *text, int kind)
{
    const char *constant = words[kind][0], *name = words[kind][1];
    for (const char *at = text; (at = strstr(at, constant)) != NULL; at++)
        if (!is_letter(at[strlen(constant)]))
            return true;
    return strcmp(name, "\"gaussian\"") != 0 && strstr(text, name) != NULL;
}

/* Code that requests a mechanism names its kind: the algorithms, which the patterns
 * below do not cover, and statistics. */
static bool asks_for_one(const char *path)
{
    return strncmp(path, "engine/statistics/", strlen("engine/statistics/")) == 0;
}

static void assert_names_none(const char *path, const char *text)
{
    for (int k = 0; k < MECHANISM_KINDS; k++)
        if (names_kind(text, k) && !asks_for_one(path))
            fail_msg("%s names %s", path, words[k][0]);
}

static void nothing_outside_the_table_names_a_kind(void **state)
{
    (void)state;
    static const char *const patterns[] = {
        "accountant/[!m]*/*.[ch]", "api/*.[ch]",      "api/*/*.[ch]",
        "engine/*.[ch]",           "engine/*/*.[ch]", "service/*/*.[ch]",
        "base/[!m]*.[ch]",         "store/*.[ch]",    "store/*/*.[ch]"};
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++)
        sources_walk(patterns[k], assert_names_none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_priced_in_one_way),
        cmocka_unit_test(what_a_kind_offers_goes_together),
        cmocka_unit_test(a_kind_that_is_not_in_the_table_has_no_proof),
        cmocka_unit_test(replacing_is_twice_as_far_for_every_kind),
        cmocka_unit_test(nothing_outside_the_table_names_a_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
