/* Epsilon is computed as follows. A direction of the comparison (removing a record, or
 * adding one) is a side, and both are composed at once:
 *
 *   spacing_guess   chooses the grid: so fine that it adds .15 % to epsilon, as far as
 *                   can be known beforehand from the moments of the losses (saddle.h)
 *   window_place    chooses, for each side, the tilt and the window of losses where
 *                   delta is decided
 *   compose         for each part, which is a run of equal steps, puts both sides'
 *                   tilted measures on a circle, transforms them, raises the spectra to
 *                   the power of the steps, and multiplies them together; then
 *                   transforms back
 *   side_answer     walks down from the top of the window until delta is used up
 *
 * A measure of losses is real, so the two sides are the real and the imaginary part of
 * one complex signal (spectrum.h). Every stage bounds what it may have lost; the
 * bounds are added to delta, or to epsilon (README.md has the list). compose_all
 * repeats this on a finer grid or with a milder tilt if the answer shows that the
 * choice was unfit. */
#include "accountant/pricing/pld.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "accountant/mechanisms/privacy_loss.h"
#include "accountant/mechanisms/round_up.h"
#include "accountant/numeric/fft.h"
#include "accountant/numeric/saddle.h"
#include "accountant/numeric/spectrum.h"
#include "accountant/pricing/cost.h"

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

enum { WINDOW_MIN = 256, WINDOW_MAX = 1 << 20, CELLS_MAX = 1 << 22 };

/* A direction of the comparison. */
struct side {
    enum privacy_loss_direction direction;
    struct saddle *saddle;      /* owned */
    double tilt;                /* of the window */
    double top, bottom;         /* losses at which the window ends */
    double top_tilt, tilt_most; /* of the bound beyond the top; the most there may be */
    double log_moment, log_moment_top; /* of the composed grid measure, at both tilts */
    double infinite, misplaced;        /* summed over steps */
    double rounding;                   /* relative, of the composed tilted measure */
    double error;                      /* absolute, of each place of the transform */
    double epsilon, slope;             /* the answer; -d log delta / d epsilon there */
};

struct composition {
    size_t part_count, side_count;
    struct saddle_part *parts; /* owned */
    struct side sides[2];
    double delta, steps;
    double effort;          /* work that may still be done (pld.h) */
    double wanted, spacing; /* spacing of the grid: the one that accuracy needs, and the
                             * actual one */
    size_t window, window_max; /* places; the most that the effort allows */
    struct fft *fft;
    double *real, *imaginary;           /* (window) composed spectrum, packed; owned */
    double *step_real, *step_imaginary; /* (window) spectrum of one part; owned */
    double *errors[2]; /* (window) bounds on the composed spectrum; owned */
};

static void arrays_fini(struct composition *c)
{
    fft_destroy(c->fft);
    double **arrays[] = {&c->real,           &c->imaginary, &c->step_real,
                         &c->step_imaginary, &c->errors[0], &c->errors[1]};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        free(*arrays[i]);
        *arrays[i] = NULL;
    }
    c->fft = NULL;
}

static void composition_fini(struct composition *c)
{
    for (size_t i = 0; i < c->side_count; i++)
        saddle_destroy(c->sides[i].saddle);
    arrays_fini(c);
    free(c->parts);
}

static bool parts_init(struct composition *c, const struct mechanism *m, uint64_t steps)
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
static double side_place(struct side *side, double delta, double most)
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
static double spacing_for(const struct composition *c, double epsilon, double tilt)
{
    return sqrt(12 * grid_share * epsilon / (c->steps * (tilt + 1)));
}

/* Chooses the spacing by the side that costs more, as far as can be known before. */
static void spacing_guess(struct composition *c)
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
static void window_place(struct composition *c)
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
        c->spacing = fmax(c->spacing, losses / (CELLS_MAX - 4));
    }
}

static bool arrays_init(struct composition *c)
{
    size_t n = c->window;
    c->fft = fft_create(n);
    c->real = calloc(n, sizeof *c->real);
    c->imaginary = calloc(n, sizeof *c->imaginary);
    c->step_real = calloc(n, sizeof *c->step_real);
    c->step_imaginary = calloc(n, sizeof *c->step_imaginary);
    bool ok = c->fft != NULL && c->real != NULL && c->imaginary != NULL &&
              c->step_real != NULL && c->step_imaginary != NULL;
    for (size_t i = 0; i < c->side_count; i++) {
        c->errors[i] = calloc(n, sizeof *c->errors[i]);
        ok = ok && c->errors[i] != NULL;
    }
    return ok;
}

/* The log of the sum of mass exp(tilt l), to a few roundings: the sum is
 * compensated. */
static double loss_moment(const struct privacy_loss *loss, double spacing, double tilt)
{
    double most = -HUGE_VAL, sum = 0, carry = 0;
    for (size_t i = 0; i < loss->count; i++) {
        if (loss->mass[i] > 0)
            most = fmax(most, tilt * ((double)(loss->first + (long)i) * spacing));
    }
    for (size_t i = 0; i < loss->count; i++) {
        double l = (double)(loss->first + (long)i) * spacing;
        double term = loss->mass[i] * exp(tilt * l - most) - carry, next = sum + term;
        carry = (next - sum) - term;
        sum = next;
    }
    return most + log(sum);
}

/* Adds the tilted measure of steps steps to the circle, and its moments and bounds to
 * the side. */
static void side_add(const struct composition *c, struct side *side,
                     const struct privacy_loss *loss, double steps, double *circle)
{
    double log_moment = loss_moment(loss, c->spacing, side->tilt);
    double log_moment_top = loss_moment(loss, c->spacing, side->top_tilt);
    long n = (long)c->window, place = loss->first % n;
    place += place < 0 ? n : 0;
    for (size_t i = 0; i < loss->count; i++) {
        double exponent = side->tilt * ((double)(loss->first + (long)i) * c->spacing);
        circle[place] += loss->mass[i] * exp(exponent - log_moment);
        place = place + 1 == n ? 0 : place + 1;
    }
    double farthest = c->spacing * (fabs((double)loss->first) + (double)loss->count);
    double size = fmax(side->tilt, side->top_tilt) * farthest + fabs(log_moment) +
                  fabs(log_moment_top) + 16;
    side->log_moment += steps * log_moment;
    side->log_moment_top += steps * log_moment_top;
    side->infinite += steps * loss->infinite;
    side->misplaced += steps * loss->misplaced;
    side->rounding += steps * 4 * DBL_EPSILON * size;
}

/* Multiplies the composed spectrum by that of steps steps of one part. */
static void composition_multiply(struct composition *c, double steps, bool first)
{
    /* Both tilted measures have mass 1. */
    double error = 2 * fft_error(c->window) * (1 + 1e-9);
    for (size_t k = 0; k < c->window; k++) {
        size_t minus = fft_mirror(k);
        if (minus < k)
            continue;
        struct spectrum_value composed[2] = {{0}};
        for (size_t i = 0; i < c->side_count; i++) {
            struct spectrum_value v =
                spectrum_unpack(c->step_real, c->step_imaginary, k, minus, i);
            v.error = error;
            composed[i] = spectrum_power(v, steps);
            if (!first) {
                struct spectrum_value before =
                    spectrum_unpack(c->real, c->imaginary, k, minus, i);
                before.error = c->errors[i][k];
                composed[i] = spectrum_product(before, composed[i]);
            }
        }
        double size = spectrum_size(composed[0]) + spectrum_size(composed[1]);
        for (size_t i = 0; i < c->side_count; i++) {
            double packing = 4 * DBL_EPSILON * size; /* there and back */
            c->errors[i][k] = c->errors[i][minus] = composed[i].error + packing;
        }
        spectrum_pack(c->real, c->imaginary, k, minus, composed);
    }
}

/* Transforms back from the spectrum, and bounds the error of every place. */
static void composition_invert(struct composition *c)
{
    double n = (double)c->window, size = 0;
    for (size_t k = 0; k < c->window; k++)
        size += sqrt(c->real[k] * c->real[k] + c->imaginary[k] * c->imaginary[k]);
    for (size_t i = 0; i < c->side_count; i++) {
        double error = 0;
        for (size_t k = 0; k < c->window; k++)
            error += c->errors[i][k];
        c->sides[i].error = (error + size * fft_error(c->window)) / n * (1 + 1e-9);
    }
    fft_inverse(c->fft, c->real, c->imaginary);
}

static bool compose(struct composition *c)
{
    for (size_t i = 0; i < c->side_count; i++) {
        struct side *side = &c->sides[i];
        side->log_moment = side->log_moment_top = 0;
        side->infinite = side->misplaced = side->rounding = 0;
    }
    for (size_t p = 0; p < c->part_count; p++) {
        double *circles[2] = {c->step_real, c->step_imaginary};
        for (size_t j = 0; j < c->window; j++)
            c->step_real[j] = c->step_imaginary[j] = 0;
        const struct saddle_part *part = &c->parts[p];
        struct privacy_loss loss[2];
        if (!privacy_loss_measure(loss, &part->step, part->range, c->spacing,
                                  CELLS_MAX))
            return false;
        for (size_t i = 0; i < c->side_count; i++)
            side_add(c, &c->sides[i], &loss[i], part->steps, circles[i]);
        privacy_loss_fini(&loss[0]);
        privacy_loss_fini(&loss[1]);
        fft_forward(c->fft, c->step_real, c->step_imaginary);
        composition_multiply(c, part->steps, p == 0);
    }
    composition_invert(c);
    return true;
}

/* Returns how much the transform's window may cost at most: delta less the masses at
 * infinity and beyond the window's top place, and less all relative rounding. */
static double side_spare(const struct composition *c, const struct side *side,
                         double top)
{
    double exponent = side->log_moment_top - side->top_tilt * (top + 1) * c->spacing;
    double lost = (exp(exponent + side->rounding) + side->infinite) * (1 + 1e-9);
    return (c->delta - lost) / exp(side->rounding) * (1 - 1e-12);
}

/* Finds the least epsilon at which the side's delta, with all its bounds, is at most
 * delta. It goes from the top of the window down by D(l - h) = e^-h D(l) + (1 - e^-h)
 * W(above l - h); between places D is linear in e^epsilon. Infinity if the bounds by
 * themselves exceed delta. */
static void side_answer(const struct composition *c, struct side *side,
                        const double *circle)
{
    static const double up = 1 + 4 * DBL_EPSILON;
    double h = c->spacing, keep = exp(-h), rest = -expm1(-h), n = (double)c->window;
    double top = floor(side->top / h), spare = side_spare(c, side, top);
    double mass = 0, above = 0;
    side->epsilon = INFINITY;
    side->slope = 0;
    if (!(spare > 0))
        return;
    for (double place = top; place > top - n; place--) {
        double l = place * h, exponent = side->log_moment - side->tilt * l;
        double size = 4 + fabs(side->log_moment) + fabs(side->tilt * l);
        long index = (long)fmod(place, n);
        index += index < 0 ? (long)c->window : 0;
        double value = fmax(0, circle[index] / n) + side->error;
        mass = (mass + value * exp(exponent + 4 * DBL_EPSILON * size)) * up;
        double next = (keep * above + rest * mass) * up;
        if (isnan(next))
            return;
        if (next > spare) {
            /* above <= spare < next, at l and at l - h. */
            double share = (next - spare) / (next - above);
            double epsilon = l - h + log1p(share * expm1(h)) + side->misplaced;
            side->epsilon = fmax(0, epsilon + 8 * DBL_EPSILON * (fabs(l) + h));
            side->slope = fmax(0, (mass - next) / next);
            return;
        }
        above = next;
    }
    /* Even the bottom of the window costs no more than delta:
     * a milder tilt looks lower. */
    side->epsilon = fmax(0, (top - n) * h + side->misplaced);
    side->tilt_most = side->tilt / 4;
}

/* Nanoseconds of a core that finding the tilts takes for each part, measured. */
static const double effort_part = 1e6;

/* Returns about how many nanoseconds of a core a composition on this grid takes. */
static double effort_of(const struct composition *c)
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
static bool window_afford(struct composition *c)
{
    window_place(c);
    while (effort_of(c) > c->effort && c->window_max > WINDOW_MIN) {
        c->window_max /= 2;
        window_place(c);
    }
    return effort_of(c) <= c->effort;
}

/* Computes one answer on the grid that was placed: that of the side that costs more.
 * NULL without memory. */
static const struct side *answer(struct composition *c)
{
    const struct side *worse = NULL;
    if (arrays_init(c) && compose(c)) {
        const double *circles[2] = {c->real, c->imaginary};
        worse = &c->sides[0];
        for (size_t i = 0; i < c->side_count; i++) {
            side_answer(c, &c->sides[i], circles[i]);
            if (c->sides[i].epsilon > worse->epsilon)
                worse = &c->sides[i];
        }
    }
    arrays_fini(c);
    return worse;
}

/* Answers, and does so again on a finer grid or with a milder tilt if the answer shows
 * that the first were unfit. Every answer is a bound, so the least is one. */
static enum status compose_all(double *epsilon, struct composition *c,
                               struct error *error)
{
    static const double too_coarse = 1.7; /* times what is wanted: thrice the share */
    enum { ROUNDS = 4 };
    if ((double)c->part_count * effort_part > c->effort) {
        *epsilon = INFINITY;
        return ST_OK;
    }
    for (size_t i = 0; i < c->side_count; i++) {
        struct side *side = &c->sides[i];
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
        const struct side *worse = answer(c);
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
static bool rates_within(const struct composition *c)
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
    struct composition c = {.delta = delta,
                            .effort = *effort,
                            .window_max = WINDOW_MAX,
                            .side_count = m->relation == RELATION_ZERO_OUT ? 2 : 1};
    if (!parts_init(&c, m, steps))
        status = error_set(error, ST_NO_MEMORY, "no memory to compose losses");
    else if (rates_within(&c))
        *epsilon = 0;
    else
        status = compose_all(epsilon, &c, error);
    *effort = c.effort;
    composition_fini(&c);
    return status;
}
