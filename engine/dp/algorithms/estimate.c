#include "engine/dp/algorithms/estimate.h"

#include <stdlib.h>
#include <string.h>

enum status estimate_init(struct estimate *estimate, size_t dim, struct error *error)
{
    *estimate = (struct estimate){.dim = dim};
    estimate->value = calloc(dim, sizeof *estimate->value);
    estimate->point = calloc(dim, sizeof *estimate->point);
    if (estimate->value != NULL && estimate->point != NULL)
        return ST_OK;
    estimate_fini(estimate);
    return error_set(error, ST_NO_MEMORY, "no memory for %zu parameters", dim);
}

void estimate_fini(struct estimate *estimate)
{
    free(estimate->value);
    free(estimate->point);
    *estimate = (struct estimate){0};
}

void estimate_restart(struct estimate *estimate, const float *release)
{
    for (size_t j = 0; j < estimate->dim; j++)
        estimate->value[j] = (double)release[j];
}

void estimate_add(struct estimate *estimate, const float *release, double scale)
{
    for (size_t j = 0; j < estimate->dim; j++)
        estimate->value[j] += scale * (double)release[j];
}

void estimate_copy(struct estimate *estimate, const struct estimate *from)
{
    memcpy(estimate->value, from->value, estimate->dim * sizeof *estimate->value);
}

void estimate_mark(struct estimate *estimate, float *out, const float *parameters)
{
    for (size_t j = 0; j < estimate->dim; j++)
        out[j] = (float)estimate->value[j];
    memcpy(estimate->point, parameters, estimate->dim * sizeof *estimate->point);
}
