/* Goal: in every way of running a private row no record moves what a step releases by
 * more than the charged noise multiplier allows, whatever its gradient is, whatever
 * loss the rules believe it has, and whatever other records are in the batch. Method:
 * pairs of steered jobs on the same records, with and without one record whose gradient
 * is far beyond every clip norm; the difference of their sums, step by step, is the
 * whole effect of that record. */
#include "tests/expect.h"

#include "tests/engine/dp/points_fixture.h"
#include "tests/engine/dp/trace_fixture.h"

enum { RECORDS = 24, FEATURES = 5, STEPS = 24 };
static const double loud = 64; /* times as large as the usual record */

/* |a - b|^2 over the square of the noise. */
static double energy_of(const struct trace_release *a, const struct trace_release *b)
{
    double squares = 0;
    assert_true(a->query == b->query && a->count == b->count);
    for (size_t j = 0; j < a->count; j++)
        squares += pow((double)(a->sum[j] - b->sum[j]) / GRID_NOISE_STDDEV, 2);
    return squares;
}

static double step_energy(const struct trace_step *with,
                          const struct trace_step *without)
{
    double energy = 0;
    assert_int_equal(with->release_count, without->release_count);
    for (size_t r = 0; r < with->release_count; r++)
        energy += energy_of(&with->releases[r], &without->releases[r]);
    return energy;
}

/* Returns, in squared clip norms, what the proof of an error feedback allows a record
 * that was read `used` times in `steps` steps
 * (accountant/mechanisms/error_feedback.h). */
static double feedback_allows(const struct error_feedback *feedback, double used,
                              double steps)
{
    double rest = feedback->rest;
    double m1 = pow(sqrt(used) + 2 * feedback->error_clip * sqrt(steps - 1), 2);
    double m2 = used + pow(used * rest, 2) + 2 * pow(used - 1, 1.5) * rest;
    if (used == 0)
        return 0;
    switch (feedback->bound) {
    case ERROR_FEEDBACK_M1: return m1;
    case ERROR_FEEDBACK_M2:
    case ERROR_FEEDBACK_M3: return fmin(m1, m2);
    case ERROR_FEEDBACK_M2R: break;
    }
    return used * (1 + rest * rest);
}

/* Checks the effect of a record, in squared clip norms: of step k only or, if clipped
 * errors are fed back, of all steps up to k. */
static void assert_allowed(const struct way *way, size_t k, double done, double allowed)
{
    if (done > allowed)
        fail_msg("%s, step %zu: a record moves releases by %.6f of the noise that is "
                 "charged, it may by %.6f",
                 way->name, k + 1, sqrt(done), sqrt(allowed));
}

/* Returns how close to its allowed effect the record came in a step that reads it. */
static double assert_within_reach(const struct way *way, const struct trace *with,
                                  const struct trace *without, size_t record)
{
    const struct mechanism *m = &way->mechanism;
    const struct error_feedback *feedback = &m->error_feedback;
    double nearest = 0, used = 0, path = 0;
    for (size_t k = 0; k < with->step_count; k++) {
        const struct trace_step *step = &with->steps[k];
        double uses = step->uses[record];
        double share =
            step_energy(step, &without->steps[k]) * pow(step->noise_multiplier, 2);
        used += uses;
        path += share;
        if (m->kind != MECHANISM_ERROR_FEEDBACK)
            assert_allowed(way, k, share, uses);
        else
            assert_allowed(way, k, path,
                           feedback_allows(feedback, used, (double)(k + 1)));
        if (feedback->bound == ERROR_FEEDBACK_M2R && feedback->period > 0 &&
            k % feedback->period == 0)
            assert_allowed(way, k, share, uses); /* nothing has been kept */
        nearest = uses > 0 ? fmax(nearest, share) : nearest;
    }
    return sqrt(nearest);
}

/* Returns the record that is read most often; among equals, one that the first period's
 * last step reads: its error would have to last longest. */
static size_t most_used(const struct way *way, const struct trace *trace)
{
    size_t best = 0, most = 0, last = (size_t)way->mechanism.error_feedback.period;
    for (size_t i = 0; i < trace->records; i++) {
        size_t uses = 0;
        for (size_t k = 0; k < trace->step_count; k++) {
            uses += 2U * trace->steps[k].uses[i];
            uses += k + 1 == last ? trace->steps[k].uses[i] : 0;
        }
        best = uses > most ? i : best;
        most = uses > most ? uses : most;
    }
    assert_true(most > 0);
    return best;
}

static size_t record_of(const struct way *way)
{
    const struct trace_setup setup = {.way = way, .salt = 9, .steered = true};
    struct trace *trace = trace_take(&setup);
    size_t record = most_used(way, trace);
    trace_free(trace);
    return record;
}

/* Makes the way's records, one of which is loud and of another class. */
static void make_loud(struct points *points, size_t record, uint32_t class)
{
    points_create(points, RECORDS, FEATURES, 0);
    for (size_t j = 0; j < FEATURES; j++)
        points->x[record * FEATURES + j] *= (float)loud;
    points->of[record] = class;
}

static double check_pair(struct trace_setup setup)
{
    struct trace *with = trace_take(&setup);
    setup.absent = ABSENT_ONE;
    struct trace *without = trace_take(&setup);
    double nearest = assert_within_reach(setup.way, with, without, setup.record);
    trace_free(with);
    trace_free(without);
    return nearest;
}

/* Makes one record loud, with each class in turn: some of these are wrong and give a
 * long gradient. `like` has the rest of the set-up. Returns how close the record
 * came. */
static double check_loud(struct trace_setup like)
{
    double nearest = 0;
    like.salt = 9;
    like.steered = true;
    like.record = record_of(like.way);
    for (uint32_t class = 0; class < POINTS_CLASSES; class ++) {
        struct points points;
        make_loud(&points, like.record, class);
        like.data = &points.data;
        nearest = fmax(nearest, check_pair(like));
        points_destroy(&points);
    }
    return nearest;
}

/* A rule may shorten a record more than it must, but not to nothing. */
static void a_record_reaches_no_further(const struct way *way)
{
    double nearest = check_loud((struct trace_setup){.way = way});
    if (!(nearest > 0.25))
        fail_msg("%s: the loudest record reaches %.3f of what is charged", way->name,
                 nearest);
}

static void check_all(way_check *check)
{
    struct points points;
    points_create(&points, RECORDS, FEATURES, 0);
    struct kit_setup setup = points_setup(&points, 6, STEPS);
    assert_int_equal(ways_each(&setup, check), 0);
    points_destroy(&points);
}

static void no_record_reaches_further_than_is_charged(void **state)
{
    (void)state;
    check_all(a_record_reaches_no_further);
}

/* The rules believe that the record lost nothing, and that its spread, which matters
 * for rounding, is zero, so only the norm shortens it: it must come near what is
 * charged, or it was not loud. */
static void a_lie_reaches_no_further(const struct way *way)
{
    static const double lies[] = {0, 1e-300, (double)NAN, (double)INFINITY};
    double nearest = 0;
    for (size_t k = 0; k < sizeof lies / sizeof *lies; k++)
        nearest = fmax(nearest, check_loud((struct trace_setup){
                                    .way = way, .lies = true, .lie = lies[k]}));
    if (!(nearest > 0.9))
        fail_msg("%s: the loudest record reaches %.3f of what is charged", way->name,
                 nearest);
}

static void nor_where_its_loss_is_misjudged(void **state)
{
    (void)state;
    check_all(a_lie_reaches_no_further);
}

/* Returns how far the effect of a record among others is from its effect without
 * others, in deviations of the noise. */
static double apart(const struct trace_release *with,
                    const struct trace_release *without,
                    const struct trace_release *alone)
{
    double squares = 0;
    for (size_t j = 0; j < with->count; j++) {
        double added = (double)(with->sum[j] - without->sum[j]);
        squares += pow((added - (double)alone->sum[j]) / GRID_NOISE_STDDEV, 2);
    }
    return sqrt(squares);
}

static void a_record_adds_the_same_alone(const struct way *way)
{
    struct points points;
    size_t record = record_of(way);
    struct trace_setup setup = {
        .way = way, .salt = 9, .steered = true, .record = record};
    make_loud(&points, record, 1);
    setup.data = &points.data;
    struct trace *with = trace_take(&setup);
    setup.absent = ABSENT_ONE;
    struct trace *without = trace_take(&setup);
    setup.absent = ABSENT_OTHERS;
    struct trace *alone = trace_take(&setup);
    /* The kept errors of other records decide how much is fed back: only the first sum
     * is the record's own. */
    size_t steps = way->spec.algorithm->uses_error_memory ? 1 : with->step_count;
    for (size_t k = 0; k < steps; k++)
        for (size_t r = 0; r < with->steps[k].release_count; r++) {
            assert_true(r < without->steps[k].release_count &&
                        r < alone->steps[k].release_count);
            const struct trace_release *release = &with->steps[k].releases[r];
            if (release->of_counts)
                continue;
            double far = apart(release, &without->steps[k].releases[r],
                               &alone->steps[k].releases[r]);
            if (far > 1e-4) /* the floats of its cell round differently */
                fail_msg("%s, step %zu: others move what a record adds by %.3g of the "
                         "noise",
                         way->name, k + 1, far);
        }
    trace_free(with);
    trace_free(without);
    trace_free(alone);
    points_destroy(&points);
}

static void what_a_record_adds_hangs_on_no_other(void **state)
{
    (void)state;
    check_all(a_record_adds_the_same_alone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_record_reaches_further_than_is_charged),
        cmocka_unit_test(nor_where_its_loss_is_misjudged),
        cmocka_unit_test(what_a_record_adds_hangs_on_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
