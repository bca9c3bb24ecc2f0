#include "engine/difference/parameter_step.h"

#include <math.h>
#include <stdlib.h>

#include "base/check.h"

enum { EXPONENT_MAX = 100 }; /* reciprocals and factors of D stay normal floats */

struct parameter_step {
    const float *parameters, *previous;
    size_t count;
    double length, scale;
    float scaled[];
};

size_t parameter_step_size(size_t count)
{
    return sizeof(struct parameter_step) + count * sizeof(float);
}

enum status parameter_step_create(struct parameter_step **out, size_t count,
                                  struct error *error)
{
    struct parameter_step *step = calloc(1, parameter_step_size(count));
    if (step == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory for a second point");
    step->count = count;
    step->scale = 1.0;
    *out = step;
    return ST_OK;
}

void parameter_step_destroy(struct parameter_step *step)
{
    free(step);
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

void parameter_step_set(struct parameter_step *step, const float *parameters,
                        const float *previous)
{
    double sum = 0.0;

    for (size_t j = 0; j < step->count; j++) {
        double moved = (double)parameters[j] - (double)previous[j];
        sum += moved * moved;
    }
    step->parameters = parameters;
    step->previous = previous;
    step->length = sqrt(sum);
    step->scale = nearest_power(step->length);
    double inverse = 1.0 / step->scale;
    for (size_t j = 0; j < step->count; j++)
        step->scaled[j] =
            (float)(((double)parameters[j] - (double)previous[j]) * inverse);
}

double parameter_step_length(const struct parameter_step *step)
{
    return step->length;
}

double parameter_step_scale(const struct parameter_step *step)
{
    return step->scale;
}

const float *parameter_step_parameters(const struct parameter_step *step)
{
    CHECK(step->parameters != NULL);
    return step->parameters;
}

const float *parameter_step_previous(const struct parameter_step *step)
{
    CHECK(step->previous != NULL);
    return step->previous;
}

const float *parameter_step_scaled(const struct parameter_step *step)
{
    return step->scaled;
}
