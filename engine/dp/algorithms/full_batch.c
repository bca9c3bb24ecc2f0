#include "engine/dp/algorithms/full_batch.h"

#include <math.h>

enum status full_batch_check(const struct algorithm_inputs *inputs, struct error *error)
{
    if (inputs->batch_size != inputs->records)
        return error_set_at(error, ST_INVALID, "/batch_size",
                            "%s takes every record in each step: leave batch_size out, "
                            "give %llu, or take dpsgd",
                            inputs->spec->algorithm->name,
                            (unsigned long long)inputs->records);
    return ST_OK;
}

double full_batch_claim(double epsilon, double delta, double releases, double share)
{
    double order = 1 + ceil(2 * log(1 / delta) / epsilon);
    return sqrt(4 * order * releases / (share * epsilon));
}
