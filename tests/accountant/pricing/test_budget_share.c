/* Goal: shares add up to 1, never show more than is left, and are those of the order
 * that is used up last. Expected values: charges and capacities are whole numbers of
 * 2^-40 nats, so that shares are ratios of integers, and are compared with them in 128
 * bits. */
#include "accountant/pricing/budget_share.h"

#include "tests/expect.h"

__extension__ typedef __int128 wide;

static uint64_t state_of_random = 20261122;

static uint64_t random_below(uint64_t limit) /* splitmix64 */
{
    uint64_t z = state_of_random += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (z ^ z >> 31) % limit;
}

/* Compares part / whole with share exactly. Returns -1, 0 or 1. */
static int compare(uint64_t part, uint64_t whole, double share)
{
    int exponent;
    double digits = frexp(share, &exponent);
    wide left = part, right = (wide)ldexp(digits, 53) * whole;
    if (part == 0 || share == 0)
        return (part > 0) - (share > 0);
    assert_true(exponent <= 1 && exponent > -20);
    left <<= 53 - exponent;
    return (left > right) - (left < right);
}

struct units { /* at one weighted order */
    uint64_t capacity, committed, held;
};

static struct balance balance_of(const struct units units[LEDGER_WEIGHTED])
{
    struct balance balance = {.curve_delta = 1e-5,
                              .weighted = {curve_order_index(10), curve_order_index(7)},
                              .weights = {0.75, 0.25}};
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        size_t at = balance.weighted[i];
        balance.capacity[i] = (double)units[i].capacity * FILTER_UNIT;
        balance.committed.at[at] = (double)units[i].committed * FILTER_UNIT;
        balance.held.at[at] = (double)units[i].held * FILTER_UNIT;
    }
    return balance;
}

static void shares_are_the_ratios_rounded_to_the_safe_side(void **state)
{
    (void)state;
    for (int i = 0; i < 100000; i++) {
        struct units units[2] = {{0}, {1, 1, 0}};
        units[0].capacity = 1000 + random_below(UINT64_C(1) << 50);
        units[0].committed = random_below(units[0].capacity + 1);
        units[0].held = random_below(units[0].capacity - units[0].committed + 1);
        uint64_t left = units[0].capacity - units[0].committed - units[0].held;
        if (left < units[0].capacity >> 18)
            continue; /* beyond the precision of compare */
        struct balance balance = balance_of(units);
        struct budget_share share = budget_share_of(&balance);
        assert_true(share.order == 10 && share.weight == 0.75);
        if (units[0].committed > units[0].capacity >> 18) {
            assert_true(compare(units[0].committed, units[0].capacity, share.spent) <=
                        0);
            double below = nextafter(share.spent, 0);
            assert_true(compare(units[0].committed, units[0].capacity, below) > 0);
        }
        if (units[0].held > units[0].capacity >> 18) {
            assert_true(compare(units[0].held, units[0].capacity, share.held) <= 0);
            double below = nextafter(share.held, 0);
            assert_true(compare(units[0].held, units[0].capacity, below) > 0);
        }
        assert_true(compare(left, units[0].capacity, share.left) >= 0);
        assert_true(compare(left, units[0].capacity, nextafter(share.left, 2)) < 0);
        double sum = share.spent + share.held + share.left;
        assert_true(fabs(sum - 1) <= 4 * 0x1p-53);
    }
}

static void the_order_is_the_one_at_which_most_is_left(void **state)
{
    (void)state;
    static const struct {
        struct units units[LEDGER_WEIGHTED];
        double order, left;
    } cases[] = {
        {{{80, 60, 0}, {100, 70, 0}}, 7, 0.3},
        {{{800, 600, 0}, {100, 70, 0}}, 7, 0.3},  /* more nats are left at the other */
        {{{100, 10, 60}, {100, 65, 0}}, 7, 0.35}, /* held is not left */
        {{{100, 50, 0}, {200, 100, 0}}, 10, 0.5}, /* if equal, the main one */
        {{{100, 90, 0}, {100, 140, 0}}, 10, 0.1},
        {{{100, 250, 0}, {100, 100, 0}}, 7, 0},
        {{{100, 0, 0}, {100, 0, 0}}, 10, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct balance balance = balance_of(cases[i].units);
        struct budget_share share = budget_share_of(&balance);
        assert_true(share.order == cases[i].order);
        assert_true(share.left <= cases[i].left);
        assert_true(share.left >= cases[i].left - 0x1p-52 && !signbit(share.left));
        budget_spent_of(&balance);
        assert_close(share.left, balance.fraction_remaining, 0x1p-52);
        assert_true(curve_orders[balance.weighted[budget_share_place(&balance)]] ==
                    share.order);
    }
}

static void more_may_be_taken_than_an_order_has(void **state)
{
    (void)state;
    struct balance balance =
        balance_of((struct units[2]){{100, 40, 20}, {100, 150, 50}});
    struct budget_share room = budget_share_at(&balance, 1);
    assert_true(room.order == 7 && room.weight == 0.25);
    assert_true(room.spent == 1.5 && room.held == 0.5 && room.left == -1);
}

static void an_order_at_which_nothing_can_fit_is_never_shown(void **state)
{
    (void)state;
    struct balance balance = balance_of((struct units[2]){{100, 40, 0}, {100, 95, 0}});
    balance.committed.at[balance.weighted[0]] = INFINITY;
    assert_true(budget_share_of(&balance).order == 7);
    assert_true(isinf(budget_share_at(&balance, 0).spent) &&
                isinf(budget_share_at(&balance, 0).held));
    balance = balance_of((struct units[2]){{100, 40, 0}, {100, 95, 0}});
    balance.held.at[balance.weighted[0]] = INFINITY;
    assert_true(budget_share_of(&balance).order == 7);
    balance = balance_of((struct units[2]){{100, 0, 0}, {100, 95, 0}});
    balance.capacity[0] = -0.25;
    assert_true(budget_share_of(&balance).order == 7);
    assert_true(budget_share_at(&balance, 0).left == -(double)INFINITY);
}

static void what_is_asked_is_rounded_up_and_fits_by_the_filter(void **state)
{
    (void)state;
    for (int i = 0; i < 10000; i++) {
        struct units units[2] = {{0}, {1, 1, 0}};
        struct curve charge = {0};
        units[0].capacity = 1000 + random_below(UINT64_C(1) << 50);
        units[0].committed = random_below(units[0].capacity);
        units[0].held = random_below(units[0].capacity - units[0].committed + 1);
        uint64_t room = units[0].capacity - units[0].committed - units[0].held;
        uint64_t asked = room + (uint64_t)(i % 3) + units[0].capacity / 100;
        asked -= i % 2 == 0 ? units[0].capacity / 100 : 0; /* near the room */
        struct balance balance = balance_of(units);
        charge.at[balance.weighted[0]] = (double)asked * FILTER_UNIT;
        struct budget_share_asked found = budget_share_asked(&balance, 0, &charge);
        assert_true(found.fits == (asked <= room));
        if (asked <= units[0].capacity >> 18)
            continue; /* beyond the precision of compare */
        assert_true(compare(asked, units[0].capacity, found.share) <= 0);
        assert_true(compare(asked, units[0].capacity, nextafter(found.share, 0)) > 0);
    }
    struct balance balance = balance_of((struct units[2]){{100, 40, 0}, {100, 95, 0}});
    struct curve endless = {0};
    endless.at[balance.weighted[0]] = INFINITY;
    assert_true(isinf(budget_share_asked(&balance, 0, &endless).share));
    assert_false(budget_share_asked(&balance, 0, &endless).fits);
    assert_true(budget_share_asked(&balance, 1, &endless).fits);
    balance.capacity[1] = -0.25;
    assert_false(budget_share_asked(&balance, 1, &endless).fits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_the_ratios_rounded_to_the_safe_side),
        cmocka_unit_test(the_order_is_the_one_at_which_most_is_left),
        cmocka_unit_test(more_may_be_taken_than_an_order_has),
        cmocka_unit_test(an_order_at_which_nothing_can_fit_is_never_shown),
        cmocka_unit_test(what_is_asked_is_rounded_up_and_fits_by_the_filter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
