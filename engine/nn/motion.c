#include "engine/nn/motion.h"

#include <math.h>
#include <stdlib.h>

#include "base/check.h"

enum { EXPONENT_MAX = 100 }; /* reciprocals and factors of D stay normal floats */

struct motion {
    const float *parameters, *previous;
    size_t count;
    double length, scale;
    float step[];
};

size_t motion_size(size_t count)
{
    return sizeof(struct motion) + count * sizeof(float);
}

enum status motion_create(struct motion **out, size_t count, struct error *error)
{
    struct motion *motion = calloc(1, motion_size(count));
    if (motion == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory for a second point");
    motion->count = count;
    motion->scale = 1.0;
    *out = motion;
    return ST_OK;
}

void motion_destroy(struct motion *motion)
{
    free(motion);
}

static double nearest_power(double length)
{
    int exponent;
    if (!(length > 0.0) || !isfinite(length))
        return 1.0;
    if (frexp(length, &exponent) < 0x1.6a09e667f3bcdp-1) /* sqrt(1/2) */
        exponent--;
    if (exponent > EXPONENT_MAX)
        exponent = EXPONENT_MAX;
    return ldexp(1.0, exponent < -EXPONENT_MAX ? -EXPONENT_MAX : exponent);
}

void motion_set(struct motion *motion, const float *parameters, const float *previous)
{
    double sum = 0.0;

    for (size_t j = 0; j < motion->count; j++) {
        double step = (double)parameters[j] - (double)previous[j];
        sum += step * step;
    }
    motion->parameters = parameters;
    motion->previous = previous;
    motion->length = sqrt(sum);
    motion->scale = nearest_power(motion->length);
    double inverse = 1.0 / motion->scale;
    for (size_t j = 0; j < motion->count; j++)
        motion->step[j] =
            (float)(((double)parameters[j] - (double)previous[j]) * inverse);
}

double motion_length(const struct motion *motion)
{
    return motion->length;
}

double motion_scale(const struct motion *motion)
{
    return motion->scale;
}

const float *motion_parameters(const struct motion *motion)
{
    CHECK(motion->parameters != NULL);
    return motion->parameters;
}

const float *motion_previous(const struct motion *motion)
{
    CHECK(motion->previous != NULL);
    return motion->previous;
}

const float *motion_step(const struct motion *motion)
{
    return motion->step;
}
