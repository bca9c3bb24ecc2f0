/* The ways out of a stepper: sums, counts and norms with noise, averages of public data,
 * and the update of the parameters. */
#include "engine/dp/stepper.h"

#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "engine/dp/stepper_inside.h"

struct release_work {
    struct stepper *stepper;
    struct noise_release release;
};

static void release_member(void *context, unsigned member)
{
    const struct release_work *work = context;
    struct stepper *stepper = work->stepper;
    struct span span = stepper_span(stepper, member);
    int64_t *sum = stepper->reduction.sum + span.first;
    noise_release(stepper->noises[member], stepper->gradient + span.first, sum, span,
                  &work->release);
    memset(sum, 0, span.count * sizeof *sum);
}

void stepper_release(struct stepper *stepper, const struct grid *grid, double divisor)
{
    struct release_work work = {
        .stepper = stepper,
        .release = {.address = {&stepper->noise_key, stepper->query},
                    .grid = grid,
                    .divisor = divisor},
    };
    stepper->query++;
    team_run(stepper->setup.team, release_member, &work);
}

void stepper_release_counts(struct stepper *stepper, const struct grid *grid,
                            double *out)
{
    int64_t counts[HISTOGRAM_BINS_MAX];
    struct noise_release release = {
        .address = {&stepper->noise_key, stepper->query}, .grid = grid, .divisor = 1};
    stepper->query++;
    for (size_t j = 0; j < stepper->bins; j++)
        counts[j] = atomic_load(&stepper->reduction.counts[j]);
    noise_release_counts(stepper->noises[0], out, counts, stepper->bins, &release);
    hash_zero(counts, sizeof counts);
    stepper_clear_counts(stepper);
}

double stepper_release_norm(struct stepper *stepper, const struct norm_grid *norm)
{
    static const struct grid whole = {.scale = 1};
    int64_t steps = norm_measure(norm, stepper->reduction.sum, stepper->dim);
    double released;
    struct noise_release release = {.address = {&stepper->noise_key, stepper->query},
                                    .grid = &whole,
                                    .divisor = norm->scale};
    stepper->query++;
    noise_release_counts(stepper->noises[0], &released, &steps, 1, &release);
    hash_zero(&steps, sizeof steps);
    return released;
}

float *stepper_gradient(struct stepper *stepper)
{
    return stepper->gradient;
}

/* The squares are added in one order whatever the threads. */
double stepper_gradient_square(const struct stepper *stepper)
{
    double total = 0;
    for (size_t first = 0; first < stepper->dim; first += SPAN_STEP) {
        size_t left = stepper->dim - first;
        size_t end = first + (left < SPAN_STEP ? left : SPAN_STEP);
        double part = 0;
        for (size_t j = first; j < end; j++)
            part += (double)stepper->gradient[j] * (double)stepper->gradient[j];
        total += part;
    }
    return total;
}

void stepper_gradient_scale(struct stepper *stepper, double factor)
{
    for (size_t j = 0; j < stepper->dim; j++)
        stepper->gradient[j] = (float)((double)stepper->gradient[j] * factor);
}

struct average_work {
    struct stepper *stepper;
    double unit;
};

static void average_member(void *context, unsigned member)
{
    const struct average_work *work = context;
    struct span span = stepper_span(work->stepper, member);
    int64_t *sum = work->stepper->reduction.sum + span.first;
    float *out = work->stepper->gradient + span.first;
    for (size_t j = 0; j < span.count; j++)
        out[j] = (float)((double)sum[j] * work->unit);
    memset(sum, 0, span.count * sizeof *sum);
}

void stepper_average(struct stepper *stepper, const struct grid *grid, double divisor)
{
    struct average_work work = {.stepper = stepper,
                                .unit = 1 / (grid->scale * divisor)};
    CHECK(stepper->setup.is_public); /* nothing else goes without noise */
    team_run(stepper->setup.team, average_member, &work);
}

static void update_member(void *context, unsigned member)
{
    struct stepper *stepper = context;
    stepper->finite[member] = optimizer_apply(
        stepper->optimizer, stepper->setup.parameters, stepper->gradient,
        stepper_span(stepper, member), stepper->step);
}

enum status stepper_update(struct stepper *stepper, struct error *error)
{
    team_run(stepper->setup.team, update_member, stepper);
    for (unsigned k = 0; k < team_size(stepper->setup.team); k++)
        if (!stepper->finite[k])
            return error_set(error, ST_INTERNAL, "diverged");
    return ST_OK;
}

enum status stepper_descend(struct stepper *stepper, const struct batch_sum *sum,
                            double divisor, struct error *error)
{
    enum status status = stepper_sum(stepper, sum, error);
    if (status != ST_OK)
        return status;
    stepper_release(stepper, sum->grid, divisor);
    return stepper_update(stepper, error);
}
