/* For each part, which is a run of equal steps, the tilted measures of both sides are put
 * on a circle, transformed, raised to the power of the steps, and multiplied together
 * (compose); then the product is transformed back. A measure of losses is real, so the
 * two sides are the real and the imaginary part of one complex signal (spectrum.h).
 * Every stage bounds what it may have lost. */
#include "accountant/pricing/loss_composition.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "accountant/numeric/fft.h"
#include "accountant/numeric/spectrum.h"

static void arrays_fini(struct loss_composition *c)
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

void loss_composition_fini(struct loss_composition *c)
{
    for (size_t i = 0; i < c->side_count; i++)
        saddle_destroy(c->sides[i].saddle);
    arrays_fini(c);
    free(c->parts);
}

static bool arrays_init(struct loss_composition *c)
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
static void side_add(const struct loss_composition *c, struct loss_side *side,
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
static void multiply(struct loss_composition *c, double steps, bool first)
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
static void invert(struct loss_composition *c)
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

static bool compose(struct loss_composition *c)
{
    for (size_t i = 0; i < c->side_count; i++) {
        struct loss_side *side = &c->sides[i];
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
                                  LOSS_CELLS_MAX))
            return false;
        for (size_t i = 0; i < c->side_count; i++)
            side_add(c, &c->sides[i], &loss[i], part->steps, circles[i]);
        privacy_loss_fini(&loss[0]);
        privacy_loss_fini(&loss[1]);
        fft_forward(c->fft, c->step_real, c->step_imaginary);
        multiply(c, part->steps, p == 0);
    }
    invert(c);
    return true;
}

/* Returns how much the transform's window may cost at most: delta less the masses at
 * infinity and beyond the window's top place, and less all relative rounding. */
static double side_spare(const struct loss_composition *c, const struct loss_side *side,
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
static void side_answer(const struct loss_composition *c, struct loss_side *side,
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

const struct loss_side *loss_composition_answer(struct loss_composition *c)
{
    const struct loss_side *worse = NULL;
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
