/*
 * error_memory_oracle.h - DiceSGD's step with gradients in double, and the kept error
 * on a fine grid, as the engine keeps it: begin, add each record, end. Include after
 * tests/expect.h.
 */
#ifndef TESTS_ENGINE_DP_ERROR_MEMORY_ORACLE_H
#define TESTS_ENGINE_DP_ERROR_MEMORY_ORACLE_H

#include <math.h>
#include <string.h>

#include "engine/dp/error_memory.h"

struct machine {
    double clip, back, batch, scale; /* C1, C2, B, grid steps per unit */
    size_t dim;
    int64_t sum[4], error_memory[4];
    double v[4], mu[4]; /* of the last step */
};

static inline double norm_of(const double *x, size_t dim)
{
    double squares = 0;
    for (size_t j = 0; j < dim; j++)
        squares += x[j] * x[j];
    return sqrt(squares);
}

static inline void machine_error_feedback(struct machine *m)
{
    struct error_memory_squares squares = {0};
    error_memory_measure(&squares, m->error_memory, m->dim);
    double share = error_memory_share(&squares, m->back * m->batch * m->scale);
    error_memory_feedback(m->sum, m->error_memory, m->dim, share);
}

static inline void machine_add(struct machine *m, const double *gradient)
{
    double norm = norm_of(gradient, m->dim);
    double weight = norm > m->clip ? m->clip / norm : 1;
    for (size_t j = 0; j < m->dim; j++) {
        int64_t whole = (int64_t)rint(gradient[j] * m->scale);
        int64_t part = (int64_t)rint(weight * gradient[j] * m->scale);
        m->sum[j] += part;
        m->error_memory[j] += whole - part;
        m->mu[j] += gradient[j] / m->batch;
    }
}

static inline void machine_begin(struct machine *m)
{
    memset(m->sum, 0, sizeof m->sum);
    memset(m->mu, 0, sizeof m->mu);
    machine_error_feedback(m);
}

static inline void machine_end(struct machine *m)
{
    for (size_t j = 0; j < m->dim; j++)
        m->v[j] = (double)m->sum[j] / m->scale / m->batch;
}

static inline double machine_error(const struct machine *m, size_t j)
{
    return (double)m->error_memory[j] / m->scale / m->batch;
}

static inline double machine_error_norm(const struct machine *m)
{
    double squares = 0;
    for (size_t j = 0; j < m->dim; j++)
        squares += machine_error(m, j) * machine_error(m, j);
    return sqrt(squares);
}

#endif
