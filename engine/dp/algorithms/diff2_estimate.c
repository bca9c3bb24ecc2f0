#include "engine/dp/algorithms/diff2_estimate.h"

#include <stdlib.h>
#include <string.h>

enum status diff2_estimate_init(struct diff2_estimate *estimate, size_t dim,
                                struct error *error)
{
    *estimate = (struct diff2_estimate){.dim = dim};
    estimate->value = calloc(dim, sizeof *estimate->value);
    estimate->point = calloc(dim, sizeof *estimate->point);
    if (estimate->value != NULL && estimate->point != NULL)
        return ST_OK;
    diff2_estimate_fini(estimate);
    return error_set(error, ST_NO_MEMORY, "no memory for %zu parameters", dim);
}

void diff2_estimate_fini(struct diff2_estimate *estimate)
{
    free(estimate->value);
    free(estimate->point);
    *estimate = (struct diff2_estimate){0};
}

size_t diff2_estimate_size(const struct diff2_estimate *estimate)
{
    return estimate->dim * (sizeof *estimate->value + sizeof *estimate->point);
}

void diff2_estimate_restart(struct diff2_estimate *estimate, const float *release)
{
    for (size_t j = 0; j < estimate->dim; j++)
        estimate->value[j] = (double)release[j];
}

void diff2_estimate_add(struct diff2_estimate *estimate, const float *release,
                        double scale)
{
    for (size_t j = 0; j < estimate->dim; j++)
        estimate->value[j] += scale * (double)release[j];
}

void diff2_estimate_copy(struct diff2_estimate *estimate,
                         const struct diff2_estimate *from)
{
    memcpy(estimate->value, from->value, estimate->dim * sizeof *estimate->value);
}

void diff2_estimate_mark(struct diff2_estimate *estimate, float *out,
                         const float *parameters)
{
    for (size_t j = 0; j < estimate->dim; j++)
        out[j] = (float)estimate->value[j];
    memcpy(estimate->point, parameters, estimate->dim * sizeof *estimate->point);
}
