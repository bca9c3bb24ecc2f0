#include "engine/dp/algorithm.h"

#include <math.h>
#include <string.h>

#include "base/check.h"

void algorithm_spec_init(struct algorithm_spec *spec, const struct algorithm *algorithm)
{
    CHECK(algorithm->parameter_count <= ALGORITHM_PARAMETERS_MAX);
    *spec = (struct algorithm_spec){.algorithm = algorithm};
    for (size_t k = 0; k < algorithm->parameter_count; k++)
        spec->values[k] = algorithm->parameters[k].optional
                              ? (double)NAN
                              : algorithm->parameters[k].fallback;
}

double algorithm_value(const struct algorithm_spec *spec, const char *name)
{
    size_t k = 0;
    while (k < spec->algorithm->parameter_count &&
           strcmp(spec->algorithm->parameters[k].name, name) != 0)
        k++;
    CHECK(k < spec->algorithm->parameter_count);
    return spec->values[k];
}

bool algorithm_applies(const struct algorithm_spec *spec,
                       const struct algorithm_parameter *parameter)
{
    return parameter->only_with == NULL ||
           (size_t)algorithm_value(spec, parameter->only_with) == parameter->only_value;
}

const struct noise_plan *algorithm_noise(const struct algorithm *algorithm,
                                         const void *state)
{
    if (!algorithm->is_private)
        return NULL;
    return (const struct noise_plan *)((const char *)state + algorithm->noise_at);
}

bool algorithm_takes_single_cells(const struct algorithm *algorithm)
{
    return algorithm->is_private && !algorithm->uses_differences &&
           !algorithm->uses_histograms && !algorithm->reads_inputs;
}

double algorithm_rate(const struct algorithm_inputs *inputs)
{
    return (double)inputs->batch_size / (double)inputs->records;
}

enum status algorithm_check_unit(const struct algorithm *algorithm,
                                 enum privacy_unit unit, struct error *error)
{
    if (unit == PRIVACY_UNIT_RECORD || algorithm->records_only == NULL)
        return ST_OK;
    return error_set_at(error, ST_UNIT_UNSUPPORTED, "/algorithm/name",
                        "%s does not take persons: %s", algorithm->name,
                        algorithm->records_only);
}

enum status algorithm_check_views(const struct algorithm *algorithm,
                                  struct error *error)
{
    if (!algorithm->is_private)
        return error_set_at(error, ST_INVALID, "/augmentation",
                            "%s takes records as they are: leave it out, or take an "
                            "algorithm that is private",
                            algorithm->name);
    if (algorithm->records_only != NULL)
        return error_set_at(error, ST_INVALID, "/augmentation",
                            "%s takes no views of a record: %s", algorithm->name,
                            algorithm->records_only);
    return ST_OK;
}

enum status algorithm_check_ranks(const struct algorithm *algorithm,
                                  const struct noise_plan *noise, unsigned ranks,
                                  struct error *error)
{
    if (ranks == 1)
        return ST_OK;
    if (algorithm->one_rank_only != NULL)
        return error_set_at(error, ST_ONE_RANK_ONLY, "/ranks",
                            "%s runs in one process: %s", algorithm->name,
                            algorithm->one_rank_only);
    if (ranks > noise->grid.cells)
        return error_set_at(error, ST_INVALID, "/ranks",
                            "each rank takes whole cells of records, and batches of "
                            "this size have %llu: give at most so many ranks",
                            (unsigned long long)noise->grid.cells);
    return ST_OK;
}
