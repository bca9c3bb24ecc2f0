/* Goal: the intervals contain the true value 95 times in 100, with noise and without;
 * and without noise the figures are the textbook's. Method: models whose true quality
 * is known are measured many times on new samples with new noise; the bound on how
 * often an interval may miss follows from the number of trials. */
#include "engine/quality/quality_figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "engine/quality/quality_count.h"
#include "tests/expect.h"

enum { TRIALS = 1500, RECORDS = 2000, COUNTS_MAX = 160 };

static double uniform(void)
{
    static struct stream *stream;
    static const uint8_t key[STREAM_KEY_SIZE] = {5};
    static uint64_t words[8], drawn;
    if (stream == NULL)
        stream = stream_create();
    if (drawn % 8 == 0)
        stream_read(stream, words, sizeof words,
                    &(struct stream_position){key, 0, drawn / 8});
    return ((double)(words[drawn++ % 8] >> 11) + .5) * 0x1p-53;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* Adds noise of the plan's deviation, as a release does. */
static void release(const struct quality_plan *plan, const int64_t *counts,
                    double *released)
{
    for (size_t j = 0; j < quality_counts(plan); j++)
        released[j] =
            (double)counts[j] / QUALITY_ONE + normal() * quality_deviation(plan);
}

/* The least number of hits in n trials with a chance of 95 % each: 5 deviations below
 * the mean. An interval that is too wide is not wrong, so there is no upper bound,
 * except for the intervals that are exact up to the steps of the binomial law. */
static double least(double trials)
{
    return .95 * trials - 5 * sqrt(trials * .95 * .05);
}
static double most(double trials)
{
    return .95 * trials + 5 * sqrt(trials * .95 * .05);
}

struct coverage {
    double known, held;
};

static void note(struct coverage *coverage, const struct quality_interval *interval,
                 double truth)
{
    assert_true(!interval->is_known || (interval->low <= interval->value &&
                                        interval->value <= interval->high));
    coverage->known += interval->is_known;
    coverage->held +=
        interval->is_known && interval->low <= truth && truth <= interval->high;
}

/* Scores of the records of class 1 have density 2 p, of class 0 2 (1 - p); 3 of 10
 * records are of class 1. So the chance of class 1 at score p is .3 p / (.3 p + .7 (1 -
 * p)), the area under the curve is 5/6, and the accuracy at threshold 1/2 is .75. */
static const double share_one = .3, hit = .75, area = 5.0 / 6;

static void add_scored(const struct quality_plan *plan, int64_t *counts)
{
    bool one = uniform() < share_one;
    double score = one ? sqrt(uniform()) : 1 - sqrt(uniform());
    quality_count_class(&(struct quality_tally){plan, counts, QUALITY_ONE}, one,
                        (const double[]){1 - score, score}, score > .5);
}

/* Returns the area of the binned scores: within a bin ties count half. */
static double binned_area(void)
{
    double sum = 0, below = 0;
    for (size_t b = 0; b < QUALITY_BINS; b++) {
        double low = (double)b / QUALITY_BINS, high = ((double)b + 1) / QUALITY_BINS;
        double one = high * high - low * low;
        double none = (1 - low) * (1 - low) - (1 - high) * (1 - high);
        sum += one * (below + none / 2);
        below += none;
    }
    return sum;
}

static void expect_two_classes(double noise_multiplier, uint32_t relation)
{
    const struct quality_plan plan = {.classes = 2,
                                      .records = RECORDS,
                                      .relation = (enum relation)relation,
                                      .noise_multiplier = noise_multiplier};
    struct coverage accuracy = {0}, auc = {0}, precision = {0}, recall = {0}, f1 = {0},
                    bin = {0}, cut_precision = {0}, cut_recall = {0}, selected = {0};
    double right = hit, taken = share_one * hit + (1 - share_one) * (1 - hit);
    double true_precision = share_one * hit / taken;
    double true_f1 = 2 * share_one * hit / (taken + share_one);
    double low = 14.0 / QUALITY_BINS, high = 15.0 / QUALITY_BINS;
    double one = .3 * (high * high - low * low);
    double none = .7 * ((1 - low) * (1 - low) - (1 - high) * (1 - high));
    double above = .3 * (1 - low * low), below = .7 * (1 - low) * (1 - low);
    assert_close(binned_area(), area, 2e-3);
    for (int i = 0; i < TRIALS; i++) {
        int64_t counts[COUNTS_MAX] = {0};
        double released[COUNTS_MAX];
        struct quality_figures figures;
        for (size_t k = 0; k < RECORDS; k++)
            add_scored(&plan, counts);
        release(&plan, counts, released);
        quality_figures_of(&figures, &plan, released);
        note(&accuracy, &figures.accuracy, right);
        note(&auc, &figures.auc, binned_area());
        note(&precision, &figures.of_class[1].precision, true_precision);
        note(&recall, &figures.of_class[1].recall, hit);
        note(&f1, &figures.of_class[1].f1, true_f1);
        note(&bin, &figures.bins[14].share, one / (one + none));
        const struct quality_threshold *cut = &figures.thresholds[14];
        note(&cut_precision, &cut->precision, above / (above + below));
        note(&cut_recall, &cut->recall, above / .3);
        note(&selected, &cut->selected, above + below);
        const struct quality_interval *all = &figures.thresholds[0].recall;
        assert_true(!all->is_known || all->value == 1);
    }
    assert_true(accuracy.known == TRIALS && accuracy.held >= least(TRIALS));
    assert_true(accuracy.held <= most(TRIALS));
    assert_true(auc.known > .9 * TRIALS && auc.held >= least(auc.known));
    assert_true(precision.held >= least(precision.known));
    assert_true(recall.known == TRIALS && recall.held >= least(TRIALS));
    assert_true(recall.held <= most(TRIALS));
    assert_true(f1.held >= least(f1.known));
    assert_true(bin.held >= least(bin.known) * .99); /* a bin of some 100 records */
    assert_true(cut_precision.held >= least(cut_precision.known));
    assert_true(cut_recall.held >= least(cut_recall.known));
    if (noise_multiplier < 10)
        assert_true(cut_precision.known == TRIALS && cut_recall.known == TRIALS);
    assert_true(selected.known == TRIALS && selected.held >= least(TRIALS));
}

static void intervals_hold_the_quality_of_two_classes(void **state)
{
    (void)state;
    expect_two_classes(1e-6, RELATION_ZERO_OUT); /* only sampling error */
    expect_two_classes(5, RELATION_ZERO_OUT);
    expect_two_classes(20, RELATION_REPLACE_ONE); /* mostly noise */
}

/* Ten classes; four of five records are classified correctly, the others as the next
 * class. */
static void intervals_hold_the_quality_of_many_classes(void **state)
{
    (void)state;
    const struct quality_plan plan = {
        .classes = 10, .records = RECORDS, .noise_multiplier = 8};
    struct coverage accuracy = {0}, recall = {0}, precision = {0};
    for (int i = 0; i < TRIALS; i++) {
        int64_t counts[COUNTS_MAX] = {0};
        double released[COUNTS_MAX], probabilities[10] = {0};
        struct quality_figures figures;
        for (size_t k = 0; k < RECORDS; k++) {
            uint32_t truth = (uint32_t)(uniform() * 10);
            quality_count_class(&(struct quality_tally){&plan, counts, QUALITY_ONE},
                                truth, probabilities,
                                uniform() < .8 ? truth : (truth + 1) % 10);
        }
        release(&plan, counts, released);
        quality_figures_of(&figures, &plan, released);
        note(&accuracy, &figures.accuracy, .8);
        note(&recall, &figures.of_class[3].recall, .8);
        note(&precision, &figures.of_class[3].precision, .8);
        assert_false(figures.auc.is_known);
    }
    assert_true(accuracy.known == TRIALS && accuracy.held >= least(TRIALS) &&
                accuracy.held <= most(TRIALS));
    assert_true(recall.known > .9 * TRIALS && recall.held >= least(recall.known));
    assert_true(precision.held >= least(precision.known));
}

/* y is uniform in [-1, 1] and errors are normal, of deviation .2: clipping them at 1 has
 * a negligible effect. */
static void intervals_hold_the_quality_of_a_regression(void **state)
{
    (void)state;
    static const double noises[] = {1e-6, 5, 30};
    for (size_t n = 0; n < 3; n++) {
        const struct quality_plan plan = {
            .error_clip = 1, .records = RECORDS, .noise_multiplier = noises[n]};
        struct coverage rmse = {0}, r_squared = {0};
        for (int i = 0; i < TRIALS; i++) {
            int64_t counts[COUNTS_MAX] = {0};
            double released[COUNTS_MAX];
            struct quality_figures figures;
            for (size_t k = 0; k < RECORDS; k++) {
                double y = 2 * uniform() - 1;
                quality_count_value(&(struct quality_tally){&plan, counts, QUALITY_ONE},
                                    y, y + .2 * normal());
            }
            release(&plan, counts, released);
            quality_figures_of(&figures, &plan, released);
            note(&rmse, &figures.rmse, .2);
            note(&r_squared, &figures.r_squared, 1 - .04 * 3);
        }
        assert_true(rmse.known == TRIALS && rmse.held >= least(TRIALS));
        assert_true(r_squared.known > .9 * TRIALS &&
                    r_squared.held >= least(r_squared.known));
    }
}

static void without_noise_the_intervals_are_wilsons(void **state)
{
    (void)state;
    /* 82 of 100: (p + z^2/2n -+ z sqrt(p (1 - p)/n + z^2/4n^2)) / (1 + z^2/n). */
    double p = .82, n = 100, z2 = QUALITY_Z * QUALITY_Z;
    double middle = (p + z2 / (2 * n)) / (1 + z2 / n);
    double reach = QUALITY_Z * sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n);
    struct quality_interval of = quality_share_of((struct noisy_count){82, 0}, 100);
    assert_close(of.low, middle - reach, 1e-12);
    assert_close(of.high, middle + reach, 1e-12);
    assert_true(of.is_known && of.value == .82);
    struct quality_interval same =
        quality_share((struct noisy_count){82, 0}, (struct noisy_count){18, 0});
    assert_close(same.low, of.low, 1e-12);
    assert_close(same.high, of.high, 1e-12);
}

static void what_the_noise_leaves_undecided_says_so(void **state)
{
    (void)state;
    struct quality_interval all = quality_share_of((struct noisy_count){50, 1e6}, 100);
    assert_true(all.is_known && all.low == 0 && all.high == 1);
    assert_false(
        quality_share((struct noisy_count){3, 100}, (struct noisy_count){4, 100})
            .is_known);
    assert_false(quality_share((struct noisy_count){-3, 1}, (struct noisy_count){-4, 1})
                     .is_known);
    struct quality_interval over = quality_share_of((struct noisy_count){120, 9}, 100);
    assert_true(over.value == 1 && over.high == 1 && over.low > .9);
    struct quality_interval under = quality_share_of((struct noisy_count){-20, 9}, 100);
    assert_true(under.value == 0 && under.low == 0 && under.high < .1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_hold_the_quality_of_two_classes),
        cmocka_unit_test(intervals_hold_the_quality_of_many_classes),
        cmocka_unit_test(intervals_hold_the_quality_of_a_regression),
        cmocka_unit_test(without_noise_the_intervals_are_wilsons),
        cmocka_unit_test(what_the_noise_leaves_undecided_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
