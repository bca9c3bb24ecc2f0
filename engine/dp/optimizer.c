#include "engine/dp/optimizer.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/parallel/vector_math.h"

struct optimizer {
    struct optimizer_spec spec;
    uint64_t steps;
    float *first, *second; /* (dim) state; NULL: the kind has none, or one */
    uint64_t step;         /* the one that has begun */
    double noise;          /* beta2's sum of the steps' variances */
};

const char *const rate_schedule_names[] = {
    [RATE_LINEAR] = "linear", [RATE_COSINE] = "cosine", NULL};

void optimizer_spec_set_rate(struct optimizer_spec *spec, double learning_rate)
{
    spec->learning_rate = learning_rate;
    spec->learning_rate_final = spec->schedule == RATE_COSINE ? 0 : learning_rate;
}

size_t optimizer_size(const struct optimizer_spec *spec, size_t dim)
{
    return optimizer_row(spec->kind)->state_vectors(spec) * dim * sizeof(float);
}

enum status optimizer_create(struct optimizer **out, const struct optimizer_spec *spec,
                             size_t dim, uint64_t steps, struct error *error)
{
    size_t vectors = optimizer_row(spec->kind)->state_vectors(spec);
    struct optimizer *optimizer = calloc(1, sizeof *optimizer);
    CHECK(optimizer != NULL && dim > 0 && steps > 0);
    optimizer->spec = *spec;
    optimizer->steps = steps;
    if (vectors > 0)
        optimizer->first = calloc(dim, sizeof *optimizer->first);
    if (vectors > 1)
        optimizer->second = calloc(dim, sizeof *optimizer->second);
    if ((vectors > 0 && optimizer->first == NULL) ||
        (vectors > 1 && optimizer->second == NULL)) {
        optimizer_destroy(optimizer);
        return error_set(error, ST_NO_MEMORY, "no memory for the optimizer's state");
    }
    *out = optimizer;
    return ST_OK;
}

void optimizer_destroy(struct optimizer *optimizer)
{
    if (optimizer == NULL)
        return;
    free(optimizer->first);
    free(optimizer->second);
    free(optimizer);
}

double optimizer_rate(const struct optimizer *optimizer, uint64_t step)
{
    static const double pi = 3.14159265358979323846;
    const struct optimizer_spec *spec = &optimizer->spec;
    double first = spec->learning_rate, last = spec->learning_rate_final;
    uint64_t most = optimizer->steps - 1;
    uint64_t warm = (uint64_t)(spec->warmup * (double)optimizer->steps);
    uint64_t way = warm < most ? most - warm : 0;
    if (step < warm)
        return first * (double)(step + 1) / (double)(warm + 1);
    double gone = way > 0 ? (double)(step - warm) / (double)way : 0;
    switch (spec->schedule) {
    case RATE_LINEAR: break;
    case RATE_COSINE: return last + (first - last) * (1 + cos(pi * gone)) / 2;
    }
    return first + (last - first) * gone;
}

VECTOR_CLONES
static void shrink(float *p, size_t count, float kept)
{
    for (size_t j = 0; j < count; j++)
        p[j] *= kept;
}

VECTOR_CLONES
static bool all_finite(const float *p, size_t count)
{
    unsigned bad = 0;
    for (size_t j = 0; j < count; j++)
        bad |= !(fabsf(p[j]) <= FLT_MAX);
    return bad == 0;
}

void optimizer_begin_step(struct optimizer *optimizer, uint64_t step,
                          double noise_variance)
{
    double kept = optimizer->spec.beta2;
    optimizer->step = step;
    optimizer->noise = kept * optimizer->noise + (1 - kept) * noise_variance;
}

/* An average whose decay rate was kept, after the step, without its bias towards 0. */
static double unbiased(double average, double kept, uint64_t step)
{
    return average / (1 - pow(kept, (double)step + 1));
}

bool optimizer_apply(struct optimizer *optimizer, float *parameters,
                     const float *gradient, struct span span)
{
    const struct optimizer_spec *spec = &optimizer->spec;
    float *p = parameters + span.first;
    double rate = optimizer_rate(optimizer, optimizer->step);
    if (spec->weight_decay != 0)
        shrink(p, span.count, (float)(1 - rate * spec->weight_decay));
    optimizer_row(spec->kind)
        ->move(&(struct optimizer_step){
            .spec = spec,
            .rate = rate,
            .step = optimizer->step,
            .noise = unbiased(optimizer->noise, spec->beta2, optimizer->step),
            .first = optimizer->first != NULL ? optimizer->first + span.first : NULL,
            .second = optimizer->second != NULL ? optimizer->second + span.first : NULL,
            .parameters = p,
            .gradient = gradient,
            .count = span.count});
    return all_finite(p, span.count);
}
