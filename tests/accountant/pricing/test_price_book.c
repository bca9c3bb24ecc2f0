/* Goal: a price from the book equals the computed price; equal questions are computed
 * once; a caller that may not compute gets an error; and refusals are kept too. Method:
 * mechanisms and terms that differ in one number each. */
#include "accountant/pricing/price_book.h"

#include <string.h>

#include "accountant/pricing/filter.h"
#include "tests/expect.h"

static struct mechanism made(double noise, uint64_t steps)
{
    struct mechanism m = {0};
    mechanism_init(&m, MECHANISM_SAMPLED_GAUSSIAN, RELATION_ZERO_OUT,
                   (struct mechanism_run){0.01, noise, steps});
    m.prefixes_priced = true;
    return m;
}

static void a_price_of_the_book_is_the_one_that_is_computed(void **state)
{
    (void)state;
    struct price_book *book = price_book_create();
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 24; i++) {
            struct mechanism m = made(0.8 + 0.1 * (i % 4), 100 + (uint64_t)(i / 4));
            const struct price_terms terms = {
                .book = book, .by_losses = i % 2 == 1, .delta = i < 12 ? 1e-5 : 1e-6};
            struct curve charge, charge_again;
            struct figure figure, figure_again;
            double noise, noise_again;
            assert_int_equal(price_charge(&charge, &m, &terms, NULL), ST_OK);
            assert_int_equal(
                filter_charge(&charge_again, &m, mechanism_steps(&m), NULL), ST_OK);
            assert_memory_equal(&charge, &charge_again, sizeof charge);
            assert_int_equal(price_figure(&figure, &m, &terms, NULL), ST_OK);
            assert_int_equal(
                (terms.by_losses ? figure_epsilon_pld : figure_epsilon)(
                    &figure_again, &m, mechanism_steps(&m), terms.delta, NULL),
                ST_OK);
            assert_true(figure.epsilon == figure_again.epsilon &&
                        figure.order == figure_again.order);
            assert_int_equal(price_noise(&noise, &m, 0.5 + i, &terms, NULL), ST_OK);
            assert_int_equal((terms.by_losses ? figure_noise_pld : figure_noise)(
                                 &noise_again, &m, 0.5 + i, terms.delta, NULL),
                             ST_OK);
            assert_true(noise == noise_again);
            mechanism_fini(&m);
        }
    /* 24 mechanisms have a charge, a figure and a noise each, computed once. */
    assert_int_equal(price_book_computed(book), 24 + 24 + 24);
    price_book_destroy(book);
}

static void whoever_only_looks_up_computes_nothing(void **state)
{
    (void)state;
    struct curve charge;
    struct mechanism m = made(1.5, 1000);
    struct price_book *book = price_book_create();
    const struct price_terms known = {.book = book, .known_only = true},
                             computes = {.book = book};
    assert_int_equal(price_charge(&charge, &m, &known, NULL), ST_QUEUE_FULL);
    assert_int_equal(price_book_computed(book), 0);
    assert_int_equal(price_charge(&charge, &m, &computes, NULL), ST_OK);
    assert_int_equal(price_charge(&charge, &m, &known, NULL), ST_OK);
    assert_int_equal(price_book_computed(book), 1);
    price_book_destroy(book);
    mechanism_fini(&m);
}

static void what_takes_too_much_work_is_refused_but_can_be_charged(void **state)
{
    (void)state;
    struct curve charge;
    struct figure figure;
    struct mechanism m = made(0.1, 10);
    struct price_book *book = price_book_create();
    const struct price_terms terms = {.book = book, .delta = 1e-5};
    for (int i = 1; i < 30; i++)
        mechanism_append(&m, (struct mechanism_run){0.01, 0.1 + 1e-3 * i, 10});
    struct error error = {0};
    assert_int_equal(price_figure(&figure, &m, &terms, &error), ST_INVALID);
    assert_non_null(strstr(error.text, "too much work"));
    /* A ledger that already has such a job can still be read. */
    assert_int_equal(price_charge(&charge, &m, &terms, NULL), ST_OK);
    price_book_destroy(book);
    mechanism_fini(&m);
}

static void a_refusal_is_kept(void **state)
{
    (void)state;
    double noise;
    struct error first = {0}, again = {0};
    struct mechanism m = made(1.5, UINT64_C(1) << 40);
    struct price_book *book = price_book_create();
    const struct price_terms computes = {.book = book, .delta = 1e-6},
                             known = {.book = book, .known_only = true, .delta = 1e-6};
    assert_int_equal(price_noise(&noise, &m, 1e-9, &computes, &first), ST_INVALID);
    assert_int_equal(price_noise(&noise, &m, 1e-9, &known, &again), ST_INVALID);
    assert_string_equal(first.text, again.text);
    assert_int_equal(price_book_computed(book), 1);
    price_book_destroy(book);
    mechanism_fini(&m);
}

static void what_a_balance_has_left_is_part_of_the_question(void **state)
{
    (void)state;
    double wide, narrow;
    struct balance balance = {.weighted = {8, 4}, .capacity = {1, 1}};
    struct mechanism m = made(1.5, 1000);
    struct price_book *book = price_book_create();
    const struct price_terms terms = {.book = book};
    assert_int_equal(price_noise_for_fraction(&wide, &m, &balance, 0.5, &terms, NULL),
                     ST_OK);
    balance.held.at[8] = balance.held.at[4] = 0.5;
    assert_int_equal(price_noise_for_fraction(&narrow, &m, &balance, 0.5, &terms, NULL),
                     ST_OK);
    assert_true(narrow > wide);
    price_book_destroy(book);
    mechanism_fini(&m);
}

/* However many prices there are, an old one is computed again and is the same. */
static void a_full_book_answers_all_the_same(void **state)
{
    (void)state;
    struct price_book *book = price_book_create();
    const struct price_terms terms = {.book = book};
    struct mechanism first = made(2, 1);
    struct curve charge, again;
    assert_int_equal(price_charge(&charge, &first, &terms, NULL), ST_OK);
    for (uint64_t steps = 2; steps < 2 * PRICE_BOOK_ENTRIES; steps++) {
        struct mechanism m = made(2, steps);
        assert_int_equal(price_charge(&again, &m, &terms, NULL), ST_OK);
        mechanism_fini(&m);
    }
    assert_int_equal(price_charge(&again, &first, &terms, NULL), ST_OK);
    assert_memory_equal(&charge, &again, sizeof charge);
    price_book_destroy(book);
    mechanism_fini(&first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_price_of_the_book_is_the_one_that_is_computed),
        cmocka_unit_test(whoever_only_looks_up_computes_nothing),
        cmocka_unit_test(what_takes_too_much_work_is_refused_but_can_be_charged),
        cmocka_unit_test(a_refusal_is_kept),
        cmocka_unit_test(what_a_balance_has_left_is_part_of_the_question),
        cmocka_unit_test(a_full_book_answers_all_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
