/*
 * record_oracle.h - the oracle's results for the records of a random batch, and the
 * distance of the workspace's sums from them. Include after random_batch_fixture.h.
 */
#ifndef TESTS_ENGINE_NN_RECORD_ORACLE_H
#define TESTS_ENGINE_NN_RECORD_ORACLE_H

#include "tests/engine/nn/network_oracle.h"

static inline double norm_of(const double *x, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* |scale a - b|, with b in the order of a file. */
static inline double distance(const struct batch *batch, const float *a, double scale,
                              const double *b)
{
    double *apart = calloc(batch->parameters, sizeof *apart);
    batch_as_file(batch, apart, a);
    for (size_t i = 0; i < batch->parameters; i++)
        apart[i] = scale * apart[i] - b[i];
    double length = norm_of(apart, batch->parameters);
    free(apart);
    return length;
}

static inline struct oracle_record record_of(const struct batch *batch, size_t i)
{
    return (struct oracle_record){.features = batch->x + i * batch->features,
                                  .feature_count = batch->features,
                                  .class_index = batch->classes[i],
                                  .value = (double)batch->values[i],
                                  .drop_key = batch->drop_key,
                                  .index = batch_index(i)};
}

/* Returns the loss of record i at parameters; out (parameters) = its gradient there, in
 * the order of a file. */
static inline double record_gradient(const struct batch *batch, const float *parameters,
                                     size_t i, double *out)
{
    double *wide = calloc(batch->parameters, sizeof *wide);
    struct oracle_record record = record_of(batch, i);
    batch_as_file(batch, wide, parameters);
    double loss = oracle_evaluate(&batch->model, wide, &record, out, NULL);
    free(wide);
    return loss;
}

/* Compares slope with the fourth-order central difference at coordinate j of theta.
 * Returns the smallest error of four steps. */
static inline double slope_error(const struct batch *batch, double *theta,
                                 const struct oracle_record *record, size_t j,
                                 double slope)
{
    double best = INFINITY, keep = theta[j];
    for (double h = 1e-2; h > 5e-6; h /= 10.0) {
        static const double at[] = {-2.0, -1.0, 1.0, 2.0},
                            by[] = {1.0, -8.0, 8.0, -1.0};
        double sum = 0.0;
        for (int k = 0; k < 4; k++) {
            theta[j] = keep + at[k] * h;
            sum += by[k] * oracle_evaluate(&batch->model, theta, record, NULL, NULL);
        }
        best = fmin(best, fabs(sum / (12.0 * h) - slope));
    }
    theta[j] = keep;
    return best;
}

/* Checks that the oracle's gradients are the derivatives of its losses, for the first
 * records at some coordinates. */
static inline void expect_derivatives(const struct batch *batch, size_t records,
                                      size_t coordinates)
{
    double *theta = calloc(batch->parameters, sizeof *theta);
    double *gradient = calloc(batch->parameters, sizeof *gradient);
    batch_as_file(batch, theta, batch->theta);
    for (size_t i = 0; i < records; i++) {
        struct oracle_record record = record_of(batch, i);
        oracle_evaluate(&batch->model, theta, &record, gradient, NULL);
        double scale = norm_of(gradient, batch->parameters);
        for (size_t j = 0; j < batch->parameters;
             j += 1 + batch->parameters / coordinates)
            assert_true(slope_error(batch, theta, &record, j, gradient[j]) <=
                        1e-7 * (scale + 1e-3));
    }
    free(gradient);
    free(theta);
}

#endif
