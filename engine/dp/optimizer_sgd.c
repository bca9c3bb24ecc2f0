/* The kind sgd, with or without momentum (optimizer.h): v is its state. */
#include "engine/dp/optimizer_kind.h"
#include "engine/parallel/vector_math.h"

static size_t state_vectors(const struct optimizer_spec *spec)
{
    return spec->momentum != 0 ? 1 : 0;
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

static void move(const struct optimizer_step *step)
{
    const float factors[2] = {(float)step->rate, (float)step->spec->momentum};
    if (step->first == NULL)
        apply_plain(step->parameters, step->gradient, step->count, factors[0]);
    else
        apply_momentum(step->parameters, step->first, step->gradient, step->count,
                       factors);
}

const struct optimizer_row optimizer_sgd = {
    .name = "sgd",
    .members = {{"momentum", offsetof(struct optimizer_spec, momentum), 0, true}},
    .state_vectors = state_vectors,
    .move = move,
};
