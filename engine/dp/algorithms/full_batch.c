#include "engine/dp/algorithms/full_batch.h"

#include <math.h>

enum status full_batch_check(const struct algorithm_demand *demand, struct error *error)
{
    if (demand->batch_size != demand->records)
        return error_set_at(error, ST_INVALID, "/batch_size",
                            "%s takes every record in each step: leave batch_size out, "
                            "give %llu, or take dpsgd",
                            demand->spec->algorithm->name,
                            (unsigned long long)demand->records);
    return ST_OK;
}

double full_batch_claim(double epsilon, double delta, double releases, double share)
{
    double order = 1 + ceil(2 * log(1 / delta) / epsilon);
    return sqrt(4 * order * releases / (share * epsilon));
}
