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
    float *first;  /* v of sgd with momentum, m of adam; else NULL */
    float *second; /* s of adam; else NULL */
};

const char *optimizer_kind_name(enum optimizer_kind kind)
{
    switch (kind) {
    case OPTIMIZER_SGD: return "sgd";
    case OPTIMIZER_ADAM: return "adam";
    }
    return "";
}

bool optimizer_kind_parse(enum optimizer_kind *kind, const char *text)
{
    static const enum optimizer_kind all[] = {OPTIMIZER_SGD, OPTIMIZER_ADAM};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        if (strcmp(text, optimizer_kind_name(all[k])) == 0) {
            *kind = all[k];
            return true;
        }
    }
    return false;
}

const char *rate_schedule_name(enum rate_schedule schedule)
{
    switch (schedule) {
    case RATE_LINEAR: return "linear";
    case RATE_COSINE: return "cosine";
    }
    return "";
}

bool rate_schedule_parse(enum rate_schedule *schedule, const char *text)
{
    static const enum rate_schedule all[] = {RATE_LINEAR, RATE_COSINE};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        if (strcmp(text, rate_schedule_name(all[k])) == 0) {
            *schedule = all[k];
            return true;
        }
    }
    return false;
}

void optimizer_spec_set_rate(struct optimizer_spec *spec, double learning_rate)
{
    spec->learning_rate = learning_rate;
    spec->learning_rate_final = spec->schedule == RATE_COSINE ? 0 : learning_rate;
}

static size_t state_vectors(const struct optimizer_spec *spec)
{
    switch (spec->kind) {
    case OPTIMIZER_SGD: return spec->momentum != 0 ? 1 : 0;
    case OPTIMIZER_ADAM: return 2;
    }
    return 0;
}

size_t optimizer_size(const struct optimizer_spec *spec, size_t dim)
{
    return state_vectors(spec) * dim * sizeof(float);
}

enum status optimizer_create(struct optimizer **out, const struct optimizer_spec *spec,
                             size_t dim, uint64_t steps, struct error *error)
{
    size_t vectors = state_vectors(spec);
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
static void apply_plain(float *p, const float *g, size_t count, float rate)
{
    for (size_t j = 0; j < count; j++)
        p[j] -= rate * g[j];
}

VECTOR_CLONES
static void apply_momentum(float *p, float *v, const float *g, size_t count,
                           const float factors[2])
{
    float rate = factors[0], momentum = factors[1];
    for (size_t j = 0; j < count; j++) {
        v[j] = momentum * v[j] + g[j];
        p[j] -= rate * v[j];
    }
}

struct adam {              /* one step over a span */
    float *first, *second; /* moments, moved */
    float rate, beta1, beta2, epsilon;
    float second_unbias; /* 1 / (1 - beta2^t); that of m is in rate */
};

VECTOR_CLONES
static void apply_adam(float *restrict p, const struct adam *adam,
                       const float *restrict g, size_t count)
{
    const struct adam f = *adam;
    float *restrict m = f.first, *restrict s = f.second;
    for (size_t j = 0; j < count; j++) {
        m[j] = f.beta1 * m[j] + (1 - f.beta1) * g[j];
        s[j] = f.beta2 * s[j] + (1 - f.beta2) * (g[j] * g[j]);
        p[j] -= f.rate * m[j] / (sqrtf(s[j] * f.second_unbias) + f.epsilon);
    }
}

static struct adam adam_of(const struct optimizer *optimizer, size_t first,
                           uint64_t step)
{
    const struct optimizer_spec *spec = &optimizer->spec;
    double t = (double)step + 1;
    double rate = optimizer_rate(optimizer, step) / (1 - pow(spec->beta1, t));
    return (struct adam){.first = optimizer->first + first,
                         .second = optimizer->second + first,
                         .rate = (float)rate,
                         .beta1 = (float)spec->beta1,
                         .beta2 = (float)spec->beta2,
                         .epsilon = (float)spec->epsilon,
                         .second_unbias = (float)(1 / (1 - pow(spec->beta2, t)))};
}

VECTOR_CLONES
static bool all_finite(const float *p, size_t count)
{
    unsigned bad = 0;
    for (size_t j = 0; j < count; j++)
        bad |= !(fabsf(p[j]) <= FLT_MAX);
    return bad == 0;
}

bool optimizer_apply(struct optimizer *optimizer, float *parameters,
                     const float *gradient, struct span span, uint64_t step)
{
    const struct optimizer_spec *spec = &optimizer->spec;
    float *p = parameters + span.first;
    double rate = optimizer_rate(optimizer, step);
    const float factors[2] = {(float)rate, (float)spec->momentum};
    if (spec->weight_decay != 0)
        shrink(p, span.count, (float)(1 - rate * spec->weight_decay));
    switch (spec->kind) {
    case OPTIMIZER_SGD:
        if (optimizer->first == NULL)
            apply_plain(p, gradient, span.count, factors[0]);
        else
            apply_momentum(p, optimizer->first + span.first, gradient, span.count,
                           factors);
        break;
    case OPTIMIZER_ADAM: {
        struct adam adam = adam_of(optimizer, span.first, step);
        apply_adam(p, &adam, gradient, span.count);
        break;
    }
    }
    return all_finite(p, span.count);
}
