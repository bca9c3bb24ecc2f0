/* Goal: the loss shown over several epochs holds for any choice made from what was
 * seen. Method: the sums by hand; mechanisms of one bit (bit_fixture.h), random
 * adversaries that spend each epoch to its last bit, and the delta of all outcomes
 * compared with the one shown. The same adversaries play against the tight conversion
 * at the best order, which must fail. */
#include "accountant/pricing/odometer.h"

#include "tests/expect.h"
#include "accountant/pricing/conversion.h"
#include "tests/accountant/bit_fixture.h"

static struct epoch epoch_of(double epsilon, double delta, double order)
{
    struct epoch epoch = {
        .grant = {
            RELATION_ZERO_OUT, epsilon, delta, order, {0, 0}, PRIVACY_UNIT_RECORD, 0}};
    assert_int_equal(filter_of(&epoch.filter, &epoch.grant, NULL), ST_OK);
    return epoch;
}

/* Returns count epochs, all but the last frozen. */
static struct epochs epochs_of(const struct epoch *all, size_t count)
{
    struct epochs epochs = {0};
    for (size_t e = 0; e < count; e++) {
        struct epoch epoch = all[e];
        epoch.frozen = e + 1 < count;
        epochs_append(&epochs, &epoch);
    }
    return epochs;
}

static struct curve gaussian_curve(double mu)
{
    struct curve curve = {0};
    for (size_t i = 0; i < CURVE_ORDERS; i++)
        curve.at[i] = curve_orders[i] * mu * mu / 2;
    return curve;
}

static void one_epoch_promises_what_was_granted(void **state)
{
    (void)state;
    const struct epoch only = epoch_of(2, 1e-5, 0);
    struct epochs epochs = epochs_of(&only, 1);
    struct curve nothing = {0}, little = gaussian_curve(.1), all = gaussian_curve(9);
    struct guarantee guarantee = odometer_guarantee(&epochs);
    assert_true(guarantee.epsilon == 2 && guarantee.delta == 1e-5);
    assert_true(odometer_reading(&epochs, &nothing).epsilon == 0);
    assert_true(odometer_reading(&epochs, &all).epsilon == 2);
    struct guarantee reading = odometer_reading(&epochs, &little);
    assert_true(reading.delta == 1e-5);
    /* The weighted conversion by its formula, at the better order. */
    double least = INFINITY,
           tight = conversion_curve(&little, filter_delta(1e-5), NULL);
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        double a = curve_orders[only.filter.weighted[i]];
        double c = pow(1 - 1 / a, a - 1) / a;
        double weight = only.filter.weights[i] * filter_delta(1e-5);
        least =
            fmin(least, little.at[only.filter.weighted[i]] + log(c / weight) / (a - 1));
    }
    assert_close(reading.epsilon, least, 1e-9);
    assert_true(reading.epsilon > tight);
    epochs_fini(&epochs);
}

static void epochs_of_the_same_terms_pay_for_delta_once(void **state)
{
    (void)state;
    const struct epoch all[] = {epoch_of(2, 1e-5, 10), epoch_of(2, 1e-5, 10),
                                epoch_of(1.5, 1e-5, 10)};
    struct epochs epochs = epochs_of(all, 3);
    struct guarantee guarantee = odometer_guarantee(&epochs);
    assert_true(guarantee.delta == 1e-5);
    assert_close(guarantee.epsilon,
                 2 + all[1].filter.capacity[0] + all[2].filter.capacity[0], 1e-12);
    assert_true(guarantee.epsilon < 4); /* 5.5 at 3e-5 if they were added */
    epochs_fini(&epochs);
}

static void epochs_of_other_terms_are_added(void **state)
{
    (void)state;
    const struct epoch pairs[][2] = {
        {epoch_of(3, 1e-5, 0), epoch_of(1, 1e-5, 0)},   /* different orders */
        {epoch_of(2, 1e-5, 8), epoch_of(2, 1e-5, 10)},  /* different orders */
        {epoch_of(2, 1e-5, 8), epoch_of(2, 1e-6, 8)},   /* different deltas */
        {epoch_of(2, 1e-6, 8), epoch_of(2, 1e-5, 8)},   /* different deltas */
        {epoch_of(20, 1e-5, 4), epoch_of(20, 1e-5, 4)}, /* above LEDGER_EPSILON_MAX */
    };
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        struct epochs epochs = epochs_of(pairs[k], 2);
        struct guarantee guarantee = odometer_guarantee(&epochs);
        const struct grant *one = &pairs[k][0].grant, *two = &pairs[k][1].grant;
        assert_true(guarantee.epsilon == one->epsilon + two->epsilon);
        assert_close(guarantee.delta, one->delta + two->delta, 1e-15);
        struct curve nothing = {0};
        struct guarantee reading = odometer_reading(&epochs, &nothing);
        assert_true(reading.epsilon == one->epsilon);
        assert_true(reading.delta == guarantee.delta);
        epochs_fini(&epochs);
    }
}

/* Epochs that agree with the first are still joined, up to the first epoch that does
 * not. */
static void a_stranger_is_added_to_those_that_were_joined(void **state)
{
    (void)state;
    const struct epoch all[] = {epoch_of(2, 1e-5, 0), epoch_of(2, 1e-5, 0),
                                epoch_of(1, 1e-5, 0), epoch_of(2, 1e-5, 0)};
    struct epochs two = epochs_of(all, 2), four = epochs_of(all, 4);
    struct guarantee pair = odometer_guarantee(&two), most = odometer_guarantee(&four);
    assert_close(most.epsilon, pair.epsilon + 1 + 2, 1e-12);
    assert_close(most.delta, 3e-5, 1e-12);
    epochs_fini(&two);
    epochs_fini(&four);
}

/* The entries of a frozen epoch give only the least that it can have spent. */
static void a_frozen_epoch_counts_whole(void **state)
{
    (void)state;
    struct epoch all[] = {epoch_of(2, 1e-5, 0), epoch_of(2, 1e-5, 0)};
    struct curve nothing = {0}, little = gaussian_curve(.05);
    struct epochs one = epochs_of(all, 1), two = epochs_of(all, 2);
    one.items[0].frozen = true;
    assert_true(odometer_reading(&one, &nothing).epsilon == 2);
    assert_true(odometer_reading(&two, &nothing).epsilon == 2);
    double reading = odometer_reading(&two, &little).epsilon;
    assert_true(reading > 2 && reading < 2.1);
    two.items[1].frozen = true;
    assert_true(odometer_reading(&two, &nothing).epsilon ==
                odometer_guarantee(&two).epsilon);
    epochs_fini(&one);
    epochs_fini(&two);
}

static void a_reading_grows_up_to_the_guarantee(void **state)
{
    (void)state;
    const struct epoch sets[][3] = {
        {epoch_of(2, 1e-5, 0), epoch_of(2, 1e-5, 0), epoch_of(2, 1e-5, 0)},
        {epoch_of(12, .1, 1.25), epoch_of(13, .1, 1.25), epoch_of(1, 1e-6, 0)},
        {epoch_of(8, 1e-7, 0), epoch_of(8, 1e-7, 0), epoch_of(.5, 1e-7, 0)}};
    for (size_t k = 0; k < 3; k++)
        for (size_t count = 1; count <= 3; count++) {
            struct epochs epochs = epochs_of(sets[k], count);
            double last = 0, most = odometer_guarantee(&epochs).epsilon;
            for (double mu = .01; mu < 9; mu *= 1.3) {
                struct curve spent = gaussian_curve(mu);
                double reading = odometer_reading(&epochs, &spent).epsilon;
                assert_true(reading >= last && reading <= most);
                last = reading;
            }
            for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
                /* Used up at one order, unbounded at the other. */
                struct curve spent = {0};
                const struct filter *filter = &sets[k][count - 1].filter;
                for (size_t j = 0; j < CURVE_ORDERS; j++)
                    spent.at[j] = INFINITY;
                if (filter->capacity[i] <= 0)
                    continue;
                spent.at[filter->weighted[i]] = filter->capacity[i];
                double reading = odometer_reading(&epochs, &spent).epsilon;
                assert_true(isfinite(reading) && reading <= most);
            }
            assert_true(last == most);
            epochs_fini(&epochs);
        }
}

static void the_tight_conversion_is_no_odometer(void **state)
{
    (void)state;
    static const double delta = 1e-3;
    static const struct bit first = {.03, .24}, then[] = {{.0058, 2.18}, {.81, 1.80}};
    const struct epoch only = epoch_of(2, delta, 0);
    struct epochs epochs = epochs_of(&only, 1);
    double tight[2] = {0}, weighted[2] = {0}, shown = 0;
    for (int one = 0; one < 2; one++) {
        struct curve spent = bit_curve(first), more = bit_curve(then[one]);
        curve_add(&spent, &more);
        double p1 = first.p, q1 = p1 * exp(-first.y);
        double best = conversion_curve(&spent, delta, NULL);
        /* Not capped by the filter, which would have refused both. */
        struct epoch wide = only;
        wide.grant.epsilon += 5;
        for (size_t i = 0; i < LEDGER_WEIGHTED; i++)
            wide.filter.capacity[i] += 5;
        epochs.items[0] = wide;
        double reading = odometer_reading(&epochs, &spent).epsilon;
        shown = fmax(shown, best);
        for (int two = 0; two < 2; two++) {
            double q2 = then[one].p * exp(-then[one].y);
            double p = (one ? p1 : 1 - p1) * (two ? then[one].p : 1 - then[one].p);
            double q = (one ? q1 : 1 - q1) * (two ? q2 : 1 - q2);
            tight[0] += over(p, q, best);
            tight[1] += over(q, p, best);
            weighted[0] += over(p, q, reading);
            weighted[1] += over(q, p, reading);
        }
    }
    assert_true(shown <= 2);
    assert_true(fmax(tight[0], tight[1]) > 1.8 * delta);
    assert_true(fmax(weighted[0], weighted[1]) <= delta);
    epochs_fini(&epochs);
}

/* An adversary against an odometer: it may spend each epoch to its last bit, and the
 * figure shown at the end is compared with everything that it saw. */
struct game {
    struct dice *dice;
    struct epochs epochs;
    bool tight;      /* shows the tight conversion of the sum */
    double delta[2]; /* of the outcomes so far, in both directions */
};

struct place { /* in a game */
    size_t epoch;
    int left; /* bits of this epoch */
    double p, q;
    struct curve all, spent; /* of all epochs; of this one */
};

static bool fits(const struct game *game, const struct place *at,
                 const struct curve *charge)
{
    static const struct curve nothing = {0};
    return filter_fits(&game->epochs.items[at->epoch].filter, &at->spent, &nothing,
                       charge) == FITS_YES;
}

static struct bit largest_bit(struct game *game, const struct place *at)
{
    struct bit bit = {exp(-7 * roll(game->dice)) * .9, 0};
    double low = 0, high = 6;
    for (int i = 0; i < 26; i++) {
        bit.y = (low + high) / 2;
        struct curve charge = bit_curve(bit);
        if (fits(game, at, &charge))
            low = bit.y;
        else
            high = bit.y;
    }
    bit.y = low;
    return bit;
}

/* Ends a history: spends everything left on one Gaussian, or nothing. */
static void leaf(struct game *game, const struct place *at)
{
    double low = 0, high = roll(game->dice) < .5 ? 0 : 4;
    struct epochs so_far = {.items = game->epochs.items, .count = at->epoch + 1};
    for (int i = 0; i < 26 && high > 0; i++) {
        double mu = (low + high) / 2;
        struct curve charge = gaussian_curve(mu);
        if (fits(game, at, &charge))
            low = mu;
        else
            high = mu;
    }
    struct curve charge = gaussian_curve(low), spent = at->spent, all = at->all;
    curve_add(&spent, &charge);
    curve_add(&all, &charge);
    double shown =
        game->tight ? conversion_curve(
                          &all, filter_delta(game->epochs.items[0].grant.delta), NULL)
                    : odometer_reading(&so_far, &spent).epsilon;
    game->delta[0] += gaussian_over((struct outcome){at->p, at->q}, low, shown);
    game->delta[1] += gaussian_over((struct outcome){at->q, at->p}, low, shown);
}

static void play(struct game *game, const struct place *at)
{
    if (at->left == 0) {
        if (at->epoch + 1 == game->epochs.count) {
            leaf(game, at);
            return;
        }
        struct place next = *at;
        next.epoch++;
        next.left = 1 + (roll(game->dice) < .5);
        next.spent = (struct curve){0};
        play(game, &next);
        return;
    }
    struct bit bit = largest_bit(game, at);
    if (at->left > 1)
        bit.y *= roll(game->dice);
    struct curve charge = bit_curve(bit);
    double q = bit.p * exp(-bit.y);
    struct place one = *at;
    one.left--;
    curve_add(&one.spent, &charge);
    curve_add(&one.all, &charge);
    struct place zero = one;
    one.p *= bit.p;
    one.q *= q;
    zero.p *= 1 - bit.p;
    zero.q *= 1 - q;
    play(game, &one);
    play(game, &zero);
}

/* Returns the worst delta of many random adversaries over all epochs, as a share of the
 * one shown. */
static double worst(const struct epoch *all, size_t count, bool tight, int games)
{
    struct dice dice = {.stream = stream_create(), .key = {7}};
    struct epochs epochs = epochs_of(all, count);
    double most = 0,
           shown = tight ? all[0].grant.delta : odometer_guarantee(&epochs).delta;
    for (int i = 0; i < games; i++) {
        struct game game = {.dice = &dice, .epochs = epochs, .tight = tight};
        struct place start = {.left = 1 + i % 2, .p = 1, .q = 1};
        play(&game, &start);
        most = fmax(most, fmax(game.delta[0], game.delta[1]) / shown);
    }
    epochs_fini(&epochs);
    stream_destroy(dice.stream);
    return most;
}

static void random_adversaries_never_pass_what_is_shown_over_two_epochs(void **state)
{
    (void)state;
    const struct epoch same[] = {epoch_of(2, 1e-3, 0), epoch_of(2, 1e-3, 0)};
    const struct epoch less[] = {epoch_of(2, 1e-3, 6), epoch_of(.9, 1e-3, 6)};
    const struct epoch other[] = {epoch_of(2, 1e-3, 0), epoch_of(1, 1e-4, 0)};
    double joined = worst(same, 2, false, 300);
    print_message("same terms %.3f", joined);
    double smaller = worst(less, 2, false, 200), added = worst(other, 2, false, 200);
    print_message(", a smaller one %.3f, other terms %.3f of delta\n", smaller, added);
    assert_true(joined <= 1 && smaller <= 1 && added <= 1);
    assert_true(joined > .1); /* the adversaries do try */
}

static void the_same_adversaries_pass_the_tight_conversion(void **state)
{
    (void)state;
    const struct epoch same[] = {epoch_of(2, 1e-3, 0), epoch_of(2, 1e-3, 0)};
    double tight = worst(same, 2, true, 900);
    print_message("%.3f of delta\n", tight);
    assert_true(tight > 1.05);
}

/* --- timelines --- */

static struct timeline timeline_of(const struct epoch *epoch, uint8_t name,
                                   double share)
{
    struct timeline timeline = {.name = {name}, .epoch = epoch->number, .seen = true};
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++)
        timeline.most[i] = share * epoch->filter.capacity[i];
    return timeline;
}

/* Returns the guarantee of one frozen epoch of epsilon 2 at delta 1e-5, and count - 1
 * other timelines. */
static struct guarantee forked(size_t count, double share)
{
    struct epoch epoch = epoch_of(2, 1e-5, 0);
    struct epochs epochs = {0};
    epoch.number = 1;
    epoch.frozen = true;
    epochs_append(&epochs, &epoch);
    for (size_t t = 1; t < count; t++) {
        struct timeline timeline = timeline_of(&epoch, (uint8_t)t, share);
        epochs_add_timeline(&epochs, &timeline);
        epochs_add_timeline(&epochs, &timeline); /* already there */
    }
    struct curve nothing = {0};
    struct guarantee shown = odometer_guarantee(&epochs);
    assert_int_equal(epochs_timelines(&epochs), count);
    assert_true(odometer_reading(&epochs, &nothing).epsilon == shown.epsilon);
    epochs_fini(&epochs);
    return shown;
}

/* The figures of the analysis behind the theorem. */
static void each_timeline_adds_what_its_epoch_had_left(void **state)
{
    (void)state;
    static const struct {
        size_t timelines;
        double share, epsilon;
    } rows[] = {{1, 1, 2},    {2, 1, 3.05},  {3, 1, 4.10},
                {4, 1, 5.15}, {2, .5, 2.53}, {2, 0, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct guarantee shown = forked(rows[i].timelines, rows[i].share);
        assert_true(fabs(shown.epsilon - rows[i].epsilon) < .006);
        assert_true(shown.delta == 1e-5);
    }
}

/* Beyond the epsilon for which the sampler is proved, each timeline pays for delta
 * itself. */
static void timelines_that_pass_the_largest_epsilon_are_added(void **state)
{
    (void)state;
    struct epoch epoch = epoch_of(20, 1e-5, 0);
    struct epochs epochs = {0};
    epoch.frozen = true;
    epochs_append(&epochs, &epoch);
    struct timeline timeline = timeline_of(&epoch, 1, .1);
    epochs_add_timeline(&epochs, &timeline);
    assert_true(odometer_guarantee(&epochs).epsilon == 40);
    assert_close(odometer_guarantee(&epochs).delta, 2e-5, 1e-15);
    epochs_fini(&epochs);
}

static void a_timeline_weighs_in_the_epoch_that_it_left(void **state)
{
    (void)state;
    struct epoch all[] = {epoch_of(2, 1e-5, 0), epoch_of(1, 1e-6, 0)};
    all[0].number = 1;
    all[1].number = 2;
    for (size_t left = 0; left < 2; left++) {
        struct epochs epochs = epochs_of(all, 2);
        struct guarantee before = odometer_guarantee(&epochs);
        struct timeline timeline = timeline_of(&all[left], 1, 1);
        epochs_add_timeline(&epochs, &timeline);
        struct guarantee after = odometer_guarantee(&epochs);
        double added = after.epsilon - before.epsilon;
        if (left == 0) { /* joined with the epoch that it left */
            assert_close(added, fmax(timeline.most[0], timeline.most[1]), 1e-12);
            assert_true(after.delta == before.delta);
        } else { /* other terms: added as that epoch is */
            assert_close(added, 1, 1e-12);
            assert_close(after.delta, before.delta + 1e-6, 1e-15);
        }
        struct curve little = gaussian_curve(.1);
        assert_true(odometer_reading(&epochs, &little).epsilon <= after.epsilon);
        assert_true((odometer_reading(&epochs, &little).epsilon < after.epsilon) ==
                    (left == 0));
        epochs_fini(&epochs);
    }
}

/* A timeline that was not seen counts, but not as a known timeline. */
static void steps_that_may_have_run_twice_are_no_timeline(void **state)
{
    (void)state;
    struct epoch epoch = epoch_of(2, 1e-5, 0);
    struct epochs epochs = {0};
    epoch.frozen = true;
    epochs_append(&epochs, &epoch);
    struct timeline timeline = timeline_of(&epoch, 1, .25);
    timeline.seen = false;
    epochs_add_timeline(&epochs, &timeline);
    assert_int_equal(epochs_timelines(&epochs), 1);
    assert_true(odometer_guarantee(&epochs).epsilon > 2.25);
    epochs_fini(&epochs);
}

/* Both timelines share a prefix, and then each spends the rest of the epoch to its last
 * bit: stages 0, 1 and 2 of a place. */
static void play_fork(struct game *game, const struct place *at, struct curve prefix)
{
    if (at->left == 0 && at->epoch < 2) {
        struct place next = *at;
        if (at->epoch == 0)
            prefix = at->spent;
        next.epoch++;
        next.left = 1;
        next.spent = prefix;
        play_fork(game, &next, prefix);
        return;
    }
    if (at->left == 0) {
        struct epochs epochs = {0};
        struct epoch epoch = game->epochs.items[0];
        struct timeline other = {.name = {1}, .seen = true};
        epoch.frozen = true;
        epochs_append(&epochs, &epoch);
        for (size_t i = 0; i < LEDGER_WEIGHTED; i++)
            other.most[i] =
                fmax(0, epoch.filter.capacity[i] - prefix.at[epoch.filter.weighted[i]]);
        if (!game->tight) /* else the other is forgotten */
            epochs_add_timeline(&epochs, &other);
        double shown = odometer_guarantee(&epochs).epsilon;
        game->delta[0] += over(at->p, at->q, shown);
        game->delta[1] += over(at->q, at->p, shown);
        epochs_fini(&epochs);
        return;
    }
    struct place here = *at;
    here.epoch = 0; /* all stages use this epoch's filter */
    struct bit bit = largest_bit(game, &here);
    if (at->epoch == 0)
        bit.y *= roll(game->dice);
    struct curve charge = bit_curve(bit);
    struct place one = *at;
    one.left--;
    curve_add(&one.spent, &charge);
    struct place zero = one;
    one.p *= bit.p;
    one.q *= bit.p * exp(-bit.y);
    zero.p *= 1 - bit.p;
    zero.q *= 1 - bit.p * exp(-bit.y);
    play_fork(game, &one, prefix);
    play_fork(game, &zero, prefix);
}

static double worst_fork(bool forgotten, int games)
{
    struct dice dice = {.stream = stream_create(), .key = {7}};
    const struct epoch only = epoch_of(2, 1e-3, 0);
    struct epochs epochs = epochs_of(&only, 1);
    double most = 0;
    for (int i = 0; i < games; i++) {
        struct game game = {.dice = &dice, .epochs = epochs, .tight = forgotten};
        struct place start = {.left = i % 3, .p = 1, .q = 1};
        play_fork(&game, &start, (struct curve){0});
        most = fmax(most, fmax(game.delta[0], game.delta[1]) / 1e-3);
    }
    epochs_fini(&epochs);
    stream_destroy(dice.stream);
    return most;
}

static void random_adversaries_never_pass_what_is_shown_over_two_timelines(void **state)
{
    (void)state;
    double counted = worst_fork(false, 1500), forgotten = worst_fork(true, 1500);
    print_message("%.3f of delta; %.1f if the fork is not counted\n", counted,
                  forgotten);
    assert_true(counted <= 1 && forgotten > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_epoch_promises_what_was_granted),
        cmocka_unit_test(epochs_of_the_same_terms_pay_for_delta_once),
        cmocka_unit_test(epochs_of_other_terms_are_added),
        cmocka_unit_test(a_stranger_is_added_to_those_that_were_joined),
        cmocka_unit_test(a_frozen_epoch_counts_whole),
        cmocka_unit_test(a_reading_grows_up_to_the_guarantee),
        cmocka_unit_test(the_tight_conversion_is_no_odometer),
        cmocka_unit_test(random_adversaries_never_pass_what_is_shown_over_two_epochs),
        cmocka_unit_test(the_same_adversaries_pass_the_tight_conversion),
        cmocka_unit_test(each_timeline_adds_what_its_epoch_had_left),
        cmocka_unit_test(timelines_that_pass_the_largest_epsilon_are_added),
        cmocka_unit_test(a_timeline_weighs_in_the_epoch_that_it_left),
        cmocka_unit_test(steps_that_may_have_run_twice_are_no_timeline),
        cmocka_unit_test(
            random_adversaries_never_pass_what_is_shown_over_two_timelines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
