/* The kinds adam and adam_bc (optimizer.h): m and s are their state. The usual constants
 * are those of Kingma & Ba 2015, Algorithm 1. A floor between 0.1 and 1 changes little if
 * the rate suits it (tests/papers/optimizers.py measures it). */
#include <math.h>

#include "engine/dp/optimizer_kind.h"
#include "engine/parallel/vector_math.h"

static size_t state_vectors(const struct optimizer_spec *spec)
{
    (void)spec;
    return 2;
}

struct adam {              /* one step over a span */
    float *first, *second; /* moments, moved */
    float rate, beta1, beta2, epsilon;
    float second_unbias; /* 1 / (1 - beta2^t); that of m is in rate */
    float noise, floor;  /* subtracted from the unbiased s, and its least value then */
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
        float square = s[j] * f.second_unbias - f.noise;
        square = square < f.floor ? f.floor : square; /* NaN stays */
        p[j] -= f.rate * m[j] / (sqrtf(square) + f.epsilon);
    }
}

static void move(const struct optimizer_step *step)
{
    const struct optimizer_spec *spec = step->spec;
    double noise = spec->kind == OPTIMIZER_ADAM_BC ? step->noise : 0;
    double t = (double)step->step + 1;
    double rate = step->rate / (1 - pow(spec->beta1, t));
    const struct adam adam = {.first = step->first,
                              .second = step->second,
                              .rate = (float)rate,
                              .beta1 = (float)spec->beta1,
                              .beta2 = (float)spec->beta2,
                              .epsilon = (float)spec->epsilon,
                              .second_unbias = (float)(1 / (1 - pow(spec->beta2, t))),
                              .noise = (float)noise,
                              .floor = (float)(spec->floor * noise)};
    apply_adam(step->parameters, &adam, step->gradient, step->count);
}

const struct optimizer_row optimizer_adam = {
    .name = "adam",
    .learning_rate = 0.001,
    .members = {{"beta1", offsetof(struct optimizer_spec, beta1), 0.9, true},
                {"beta2", offsetof(struct optimizer_spec, beta2), 0.999, true},
                {"epsilon", offsetof(struct optimizer_spec, epsilon), 1e-8, false}},
    .state_vectors = state_vectors,
    .move = move,
};

const struct optimizer_row optimizer_adam_bc = {
    .name = "adam_bc",
    .learning_rate = 0.001,
    .members = {{"beta1", offsetof(struct optimizer_spec, beta1), 0.9, true},
                {"beta2", offsetof(struct optimizer_spec, beta2), 0.999, true},
                {"epsilon", offsetof(struct optimizer_spec, epsilon), 1e-8, false},
                {"floor", offsetof(struct optimizer_spec, floor), 0.5, false}},
    .state_vectors = state_vectors,
    .move = move,
};
