/* Epsilon is computed as follows. A direction of the comparison (removing a record, or
 * adding one) is a side, and both are composed at once:
 *
 *   spacing_guess   chooses the grid: so fine that it adds .15 % to epsilon, as far as
 *                   can be known beforehand from the moments of the losses (saddle.h)
 *   window_place    chooses, for each side, the tilt and the window of losses where
 *                   delta is decided
 *   loss_composition_answer
 *                   composes the losses of all steps on this grid, and walks down from
 *                   the top of the window until delta is used up
 *
 * Every bound on what was lost is added to delta, or to epsilon (README.md has the
 * list). compose_all repeats this on a finer grid or with a milder tilt if the answer
 * shows that the choice was unfit. */
#include "accountant/pricing/pld.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "accountant/mechanisms/round_up.h"
#include "accountant/pricing/cost.h"
#include "accountant/pricing/loss_composition.h"

/* The share of epsilon that the grid may add to it. Connecting dots h apart adds about
 * (s + 1) h^2 / 12 per step at tilt s. */
static const double grid_share = 0.0015;

/* The share of delta that the mass beyond the grid may take, and the tail beyond the
 * window. */
static const double tail_share = 5e-5;

/* The bound beyond the window's end may use this many times the tilt of its middle: the
 * grid's excess grows with the square of the tilt. */
static const double tilt_ratio = 4;

/* The window ends this many deviations below the tilted mean. What is below wraps to
 * places where the tilt makes it small. */
static const double window_below = 9;

enum { WINDOW_MIN = 256, WINDOW_MAX = 1 << 20 };

static bool parts_init(struct loss_composition *c, const struct mechanism *m,
                       uint64_t steps)
{
    double total = round_up_count(steps);
    c->parts = calloc(m->run_count, sizeof *c->parts);
    if (c->parts == NULL)
        return false;
    for (size_t i = 0; i < m->run_count && steps > 0; i++) {
        const struct mechanism_run *run = &m->runs[i];
        uint64_t count = steps < run->steps ? steps : run->steps;
        struct saddle_part *part = &c->parts[c->part_count++];
        part->step = proof_of(m->kind)->privacy_loss(m, i);
        part->range = privacy_loss_range_of(&part->step, tail_share * c->delta / total);
        part->steps = round_up_count(count);
        c->steps += part->steps;
        steps -= count;
    }
    return true;
}

/* Returns whether the rounding of a transform tilted by s is small compared with
 * delta. */
static bool tilt_suffices(double delta, double tilt, struct saddle_moment m)
{
    static const double transform_error = 1e-11, share = 1e-4;
    return exp(m.log - tilt * m.mean) * transform_error <= share * delta;
}

/* Places the window of one side by tilts of at most most, and returns its estimate of
 * epsilon. If the tilt of the estimate lifts rare huge losses, half of it, or a
 * quarter, leaves a narrower law. */
static double side_place(struct loss_side *side, double delta, double most)
{
    double tilt = fmin(saddle_tilt(side->saddle, delta), fmin(most, side->tilt_most));
    double estimate = 0;
    side->bottom = -HUGE_VAL;
    for (int i = 0; i < 8; i++, tilt /= 2) {
        struct saddle_moment m = saddle_moment(side->saddle, tilt);
        double deviation = fmax(sqrt(m.variance), DBL_MIN);
        double bottom = m.mean - window_below * deviation;
        if (i > 0 && !(bottom > side->bottom && tilt_suffices(delta, tilt, m)))
            break;
        side->tilt = tilt;
        side->bottom = bottom;
        estimate = fmax(m.mean, 0.01 * deviation);
        double steepest = fmin(tilt_ratio * (tilt + 1 / deviation), most);
        side->top =
            saddle_top(side->saddle, tail_share * delta, steepest, &side->top_tilt);
        side->bottom = fmin(side->bottom, side->top - deviation);
    }
    return estimate;
}

/* The spacing at which the grid adds its share to epsilon at tilt s. */
static double spacing_for(const struct loss_composition *c, double epsilon, double tilt)
{
    return sqrt(12 * grid_share * epsilon / (c->steps * (tilt + 1)));
}

/* Chooses the spacing by the side that costs more, as far as can be known before. */
static void spacing_guess(struct loss_composition *c)
{
    double epsilon = 0;
    for (size_t i = 0; i < c->side_count; i++) {
        double estimate = side_place(&c->sides[i], c->delta, HUGE_VAL);
        if (estimate <= epsilon)
            continue;
        epsilon = estimate;
        c->wanted = spacing_for(c, epsilon, c->sides[i].tilt);
    }
}

/* Chooses the window. A side whose losses are bounded may have any tilt: it is placed
 * again if that tilt would be distorted by the grid. */
static void window_place(struct loss_composition *c)
{
    double width = 0, most = sqrt(12 / c->steps) / c->wanted;
    for (size_t i = 0; i < c->side_count; i++) {
        side_place(&c->sides[i], c->delta, most);
        width = fmax(width, c->sides[i].top - c->sides[i].bottom);
    }
    c->window = WINDOW_MIN;
    while (c->window < c->window_max && (double)(c->window - 4) * c->wanted < width)
        c->window *= 2;
    c->spacing = width / (double)(c->window - 4);
    for (size_t i = 0; i < c->part_count; i++) {
        const struct saddle_part *part = &c->parts[i];
        double losses = privacy_loss_at(&part->step, part->range.high) -
                        privacy_loss_at(&part->step, part->range.low);
        c->spacing = fmax(c->spacing, losses / (LOSS_CELLS_MAX - 4));
    }
}

/* Nanoseconds of a core that finding the tilts takes for each part, measured. */
static const double effort_part = 1e6;

/* Returns about how many nanoseconds of a core a composition on this grid takes. */
static double effort_of(const struct loss_composition *c)
{
    /* Measured: a cell of a step's measure, and a place of the window for each part. */
    static const double per_cell = 400, per_place = 130;
    double cells = 0;
    for (size_t i = 0; i < c->part_count; i++) {
        const struct saddle_part *part = &c->parts[i];
        cells += (privacy_loss_at(&part->step, part->range.high) -
                  privacy_loss_at(&part->step, part->range.low)) /
                 c->spacing;
    }
    return cells * per_cell +
           (double)c->part_count * ((double)c->window * per_place + effort_part);
}

/* Places the window, with as many places as the effort that is left allows. Returns
 * false if it allows none. */
static bool window_afford(struct loss_composition *c)
{
    window_place(c);
    while (effort_of(c) > c->effort && c->window_max > WINDOW_MIN) {
        c->window_max /= 2;
        window_place(c);
    }
    return effort_of(c) <= c->effort;
}

/* Answers, and does so again on a finer grid or with a milder tilt if the answer shows
 * that the first were unfit. Every answer is a bound, so the least is one. */
static enum status compose_all(double *epsilon, struct loss_composition *c,
                               struct error *error)
{
    static const double too_coarse = 1.7; /* times what is wanted: thrice the share */
    enum { ROUNDS = 4 };
    if ((double)c->part_count * effort_part > c->effort) {
        *epsilon = INFINITY;
        return ST_OK;
    }
    for (size_t i = 0; i < c->side_count; i++) {
        struct loss_side *side = &c->sides[i];
        side->direction = i == 0 ? LOSS_REMOVING : LOSS_ADDING;
        side->tilt_most = HUGE_VAL;
        side->saddle = saddle_create(c->parts, c->part_count, side->direction);
        if (side->saddle == NULL)
            return error_set(error, ST_NO_MEMORY, "no memory to compose losses");
    }
    double least = INFINITY;
    spacing_guess(c);
    for (int i = 0; i < ROUNDS; i++) {
        if (!window_afford(c))
            break;
        c->effort -= effort_of(c);
        const struct loss_side *worse = loss_composition_answer(c);
        if (worse == NULL)
            return error_set(error, ST_NO_MEMORY, "no memory to compose losses");
        least = fmin(least, worse->epsilon);
        if (!(worse->epsilon > 0 && isfinite(worse->epsilon)))
            break;
        if (worse->slope > 0)
            c->wanted = spacing_for(c, worse->epsilon, worse->slope);
        bool finest = c->window == c->window_max;
        if (worse->slope > 0 && (finest || c->spacing <= too_coarse * c->wanted))
            break;
    }
    *epsilon = least;
    return ST_OK;
}

/* Returns whether the total variation by itself, at most the rate at each step, is
 * within delta. */
static bool rates_within(const struct loss_composition *c)
{
    double sum = 0;
    for (size_t i = 0; i < c->part_count; i++)
        sum += c->parts[i].steps * c->parts[i].step.rate;
    return sum * (1 + 1e-9) <= c->delta;
}

enum status pld_epsilon(double *epsilon, const struct mechanism *m, uint64_t steps,
                        double delta, struct error *error)
{
    double effort = INFINITY;
    return pld_epsilon_within(epsilon, &effort, m, steps, delta, error);
}

enum status pld_epsilon_within(double *epsilon, double *effort,
                               const struct mechanism *m, uint64_t steps, double delta,
                               struct error *error)
{
    enum status status = cost_supports(m, error);
    if (status != ST_OK)
        return status;
    if (!(delta > 0 && delta < 1))
        return error_set(error, ST_INVALID, "delta outside (0, 1)");
    if (proof_of(m->kind)->privacy_loss == NULL)
        return error_set(error, ST_INVALID,
                         "only gaussians and sampled ones are composed: use rdp");
    if (steps > mechanism_steps(m))
        return error_set(error, ST_INVALID, "more steps than the mechanism has");
    if (m->run_count > PLD_RUNS_MAX)
        return error_set(error, ST_INVALID, "more than %d runs", PLD_RUNS_MAX);
    if (steps > 0 && !m->prefixes_priced)
        steps = mechanism_steps(m);
    if (steps == 0) {
        *epsilon = 0;
        return ST_OK;
    }
    /* Replacing is its own mirror image: one side is both. */
    struct loss_composition c = {.delta = delta,
                                 .effort = *effort,
                                 .window_max = WINDOW_MAX,
                                 .side_count =
                                     m->relation == RELATION_ZERO_OUT ? 2 : 1};
    if (!parts_init(&c, m, steps))
        status = error_set(error, ST_NO_MEMORY, "no memory to compose losses");
    else if (rates_within(&c))
        *epsilon = 0;
    else
        status = compose_all(epsilon, &c, error);
    *effort = c.effort;
    loss_composition_fini(&c);
    return status;
}
