/* The ways out of a training: sums, counts and norms with noise, averages of public data,
 * and the update of the parameters. */
#include "engine/dp/training.h"

#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "engine/dp/training_inside.h"

struct release_work {
    struct training *training;
    struct noise_release release;
};

static void release_member(void *context, unsigned member)
{
    const struct release_work *work = context;
    struct training *training = work->training;
    struct span span = training_span(training, member);
    int64_t *sum = training->sum.sum + span.first;
    noise_release(training->noises[member], training->gradient + span.first, sum, span,
                  &work->release);
    memset(sum, 0, span.count * sizeof *sum);
}

void training_release(struct training *training, const struct grid *grid,
                      double divisor)
{
    struct release_work work = {
        .training = training,
        .release = {.address = {&training->noise_key, training->query},
                    .grid = grid,
                    .divisor = divisor},
    };
    training->query++;
    team_run(training->setup.team, release_member, &work);
}

void training_release_counts(struct training *training, const struct grid *grid,
                             double *out)
{
    int64_t counts[HISTOGRAM_BINS_MAX];
    struct noise_release release = {
        .address = {&training->noise_key, training->query}, .grid = grid, .divisor = 1};
    training->query++;
    for (size_t j = 0; j < training->bins; j++)
        counts[j] = atomic_load(&training->sum.counts[j]);
    noise_release_counts(training->noises[0], out, counts, training->bins, &release);
    hash_zero(counts, sizeof counts);
    training_clear_counts(training);
}

double training_release_norm(struct training *training, const struct norm_grid *norm)
{
    static const struct grid whole = {.scale = 1};
    int64_t steps = norm_measure(norm, training->sum.sum, training->dim);
    double released;
    struct noise_release release = {.address = {&training->noise_key, training->query},
                                    .grid = &whole,
                                    .divisor = norm->scale};
    training->query++;
    noise_release_counts(training->noises[0], &released, &steps, 1, &release);
    hash_zero(&steps, sizeof steps);
    return released;
}

float *training_gradient(struct training *training)
{
    return training->gradient;
}

/* The squares are added in one order whatever the threads. */
double training_gradient_square(const struct training *training)
{
    double total = 0;
    for (size_t first = 0; first < training->dim; first += SPAN_STEP) {
        size_t left = training->dim - first;
        size_t end = first + (left < SPAN_STEP ? left : SPAN_STEP);
        double part = 0;
        for (size_t j = first; j < end; j++)
            part += (double)training->gradient[j] * (double)training->gradient[j];
        total += part;
    }
    return total;
}

void training_gradient_scale(struct training *training, double factor)
{
    for (size_t j = 0; j < training->dim; j++)
        training->gradient[j] = (float)((double)training->gradient[j] * factor);
}

struct average_work {
    struct training *training;
    double unit;
};

static void average_member(void *context, unsigned member)
{
    const struct average_work *work = context;
    struct span span = training_span(work->training, member);
    int64_t *sum = work->training->sum.sum + span.first;
    float *out = work->training->gradient + span.first;
    for (size_t j = 0; j < span.count; j++)
        out[j] = (float)((double)sum[j] * work->unit);
    memset(sum, 0, span.count * sizeof *sum);
}

void training_average(struct training *training, const struct grid *grid,
                      double divisor)
{
    struct average_work work = {.training = training,
                                .unit = 1 / (grid->scale * divisor)};
    CHECK(training->setup.is_public); /* nothing else goes without noise */
    team_run(training->setup.team, average_member, &work);
}

static void update_member(void *context, unsigned member)
{
    struct training *training = context;
    training->finite[member] = optimizer_apply(
        training->optimizer, training->setup.parameters, training->gradient,
        training_span(training, member), training->step);
}

enum status training_update(struct training *training, struct error *error)
{
    team_run(training->setup.team, update_member, training);
    for (unsigned k = 0; k < team_size(training->setup.team); k++)
        if (!training->finite[k])
            return error_set(error, ST_INTERNAL, "diverged");
    return ST_OK;
}

enum status training_descend(struct training *training, const struct pass *pass,
                             double divisor, struct error *error)
{
    enum status status = training_pass(training, pass, error);
    if (status != ST_OK)
        return status;
    training_release(training, pass->grid, divisor);
    return training_update(training, error);
}
