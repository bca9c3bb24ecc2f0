/* Both answers add up epochs. Those that share orders, weights and delta are joined: of
 * all but one the capacity counts, and of one its epsilon, chosen to make the sum
 * largest. The others add their epsilon and delta. A reading replaces the share of the
 * open epoch by what it has spent. */
#include "accountant/pricing/odometer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/mechanisms/round_up.h"
#include "base/check.h"

/* Returns the most that an epoch that ended within its filter counts, at the lower
 * order. The bound of the higher order holds there too, so it is the larger
 * capacity. */
static double whole(const struct epoch *epoch)
{
    double most = epoch->filter.capacity[0];
    for (size_t i = 1; i < LEDGER_WEIGHTED; i++)
        most = fmax(most, epoch->filter.capacity[i]);
    return most;
}

static double most_of(const struct timeline *timeline)
{
    double most = timeline->most[0];
    for (size_t i = 1; i < LEDGER_WEIGHTED; i++)
        most = fmax(most, timeline->most[i]);
    return most;
}

/* max over j of epsilon_j + the sum of the other epochs' capacities; 0 of no epochs. */
static double joined_epsilon(const struct epoch *epochs, size_t count)
{
    double most = 0;
    for (size_t j = 0; j < count; j++) {
        double sum = epochs[j].grant.epsilon;
        for (size_t e = 0; e < count; e++)
            if (e != j)
                sum = round_up_add(sum, whole(&epochs[e]));
        most = fmax(most, sum);
    }
    return most;
}

static bool same_terms(const struct epoch *a, const struct epoch *b)
{
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++)
        if (a->filter.weighted[i] != b->filter.weighted[i] ||
            a->filter.weights[i] != b->filter.weights[i])
            return false;
    return a->grant.delta == b->grant.delta &&
           a->grant.discovery_delta == b->grant.discovery_delta;
}

/* Returns how many epochs are converted together, which only their grants decide. At
 * least the first is. */
static size_t joined_count(const struct epochs *epochs)
{
    size_t count = 1;
    while (count < epochs->count &&
           same_terms(&epochs->items[0], &epochs->items[count]) &&
           joined_epsilon(epochs->items, count + 1) <= LEDGER_EPSILON_MAX)
        count++;
    return count;
}

/* Adds to sum what the other timelines may have spent. Which of them are joined depends
 * on the grants and on the forks only, so their epochs count whole in the test. */
static void add_timelines(struct guarantee *sum, const struct epochs *epochs,
                          size_t joined)
{
    double bound = joined_epsilon(epochs->items, joined);
    for (size_t t = 0; t < epochs->timeline_count; t++) {
        const struct timeline *timeline = &epochs->timelines[t];
        const struct epoch *left = epochs_find(epochs, timeline->epoch);
        CHECK(left != NULL);
        bound = round_up_add(bound, whole(left));
        if (left < epochs->items + joined && bound <= LEDGER_EPSILON_MAX) {
            sum->epsilon = round_up_add(sum->epsilon, most_of(timeline));
            sum->delta = round_up_add(sum->delta, left->grant.discovery_delta);
            continue;
        }
        sum->epsilon = round_up_add(sum->epsilon, left->grant.epsilon);
        sum->delta = round_up_add(sum->delta, left->grant.delta);
    }
}

struct guarantee odometer_guarantee(const struct epochs *epochs)
{
    CHECK(epochs->count > 0);
    size_t joined = joined_count(epochs);
    struct guarantee sum = {joined_epsilon(epochs->items, joined),
                            epochs->items[0].grant.delta};
    for (size_t e = 1; e < joined; e++)
        sum.delta = round_up_add(sum.delta, epochs->items[e].grant.discovery_delta);
    add_timelines(&sum, epochs, joined);
    for (size_t e = joined; e < epochs->count; e++) {
        sum.epsilon = round_up_add(sum.epsilon, epochs->items[e].grant.epsilon);
        sum.delta = round_up_add(sum.delta, epochs->items[e].grant.delta);
    }
    sum.delta = fmin(1, sum.delta);
    return sum;
}

/* An epoch that is not joined has the weighted conversion: S(a) + epsilon - B(a) at the
 * better of the two orders. */
static double alone(const struct epoch *epoch, const struct curve *spent)
{
    double least = epoch->grant.epsilon;
    bool any = false;
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        double charge = spent->at[epoch->filter.weighted[i]];
        double rest = round_up_next(epoch->grant.epsilon - epoch->filter.capacity[i]);
        any = any || charge > 0;
        least = fmin(least, round_up_add(charge, fmax(0, rest)));
    }
    return any ? least : 0;
}

/* Returns what the open epoch adds to joined ones that count whole. */
static double added(const struct epoch *first, const struct curve *spent)
{
    const size_t *weighted = first->filter.weighted;
    size_t high = curve_orders[weighted[0]] > curve_orders[weighted[1]] ? 0 : 1;
    double at_high = spent->at[weighted[high]];
    double at_low = fmin(at_high, spent->at[weighted[1 - high]]);
    double dearer = round_up_next(whole(first) - first->filter.capacity[1 - high]);
    return fmax(at_low, fmin(at_high, round_up_add(at_low, fmax(0, dearer))));
}

static double read_last(const struct epochs *epochs, const struct curve *spent)
{
    size_t joined = joined_count(epochs), closed = epochs->count - 1;
    const struct epoch *last = &epochs->items[closed];
    double epsilon = joined_epsilon(epochs->items, joined < closed ? joined : closed);
    struct guarantee others = {0, 0};
    add_timelines(&others, epochs, joined);
    epsilon = round_up_add(epsilon, others.epsilon);
    if (closed > 0 && joined == epochs->count)
        return round_up_add(epsilon, added(epochs->items, spent));
    for (size_t e = joined; e < closed; e++)
        epsilon = round_up_add(epsilon, epochs->items[e].grant.epsilon);
    return round_up_add(epsilon, alone(last, spent));
}

struct guarantee odometer_reading(const struct epochs *epochs,
                                  const struct curve *spent)
{
    struct guarantee reading = odometer_guarantee(epochs);
    const struct epoch *last = &epochs->items[epochs->count - 1];
    bool counts_whole = last->frozen;
    for (size_t t = 0; t < epochs->timeline_count; t++)
        counts_whole = counts_whole || epochs->timelines[t].epoch == last->number;
    if (!counts_whole)
        reading.epsilon = fmin(reading.epsilon, read_last(epochs, spent));
    return reading;
}

void epochs_append(struct epochs *epochs, const struct epoch *epoch)
{
    epochs->items =
        reallocarray(epochs->items, epochs->count + 1, sizeof *epochs->items);
    CHECK(epochs->items != NULL);
    epochs->items[epochs->count++] = *epoch;
}

void epochs_add_timeline(struct epochs *epochs, const struct timeline *timeline)
{
    for (size_t t = 0; t < epochs->timeline_count; t++)
        if (epochs->timelines[t].epoch == timeline->epoch &&
            memcmp(epochs->timelines[t].name, timeline->name, SHA256_SIZE) == 0)
            return;
    epochs->timelines = reallocarray(epochs->timelines, epochs->timeline_count + 1,
                                     sizeof *epochs->timelines);
    CHECK(epochs->timelines != NULL);
    epochs->timelines[epochs->timeline_count++] = *timeline;
}

size_t epochs_timelines(const struct epochs *epochs)
{
    size_t count = 1;
    for (size_t t = 0; t < epochs->timeline_count; t++) {
        const struct timeline *timeline = &epochs->timelines[t];
        bool counted = !timeline->seen;
        for (size_t u = 0; u < t && !counted; u++)
            counted =
                epochs->timelines[u].seen &&
                memcmp(epochs->timelines[u].name, timeline->name, SHA256_SIZE) == 0;
        count += !counted;
    }
    return count;
}

struct epochs epochs_copy(const struct epochs *epochs)
{
    struct epochs copy = {0};
    for (size_t e = 0; e < epochs->count; e++)
        epochs_append(&copy, &epochs->items[e]);
    for (size_t t = 0; t < epochs->timeline_count; t++)
        epochs_add_timeline(&copy, &epochs->timelines[t]);
    return copy;
}

struct epoch *epochs_find(const struct epochs *epochs, uint64_t number)
{
    for (size_t i = 0; i < epochs->count; i++)
        if (epochs->items[i].number == number)
            return &epochs->items[i];
    return NULL;
}

void epochs_fini(struct epochs *epochs)
{
    free(epochs->items);
    free(epochs->timelines);
    *epochs = (struct epochs){0};
}
