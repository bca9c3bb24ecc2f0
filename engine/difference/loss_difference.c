#include "engine/difference/loss_difference.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "engine/parallel/vector_math.h"

struct softmax_row {
    const float *z, *dz;
    float *db;
    size_t width, top; /* top: of z */
    double scale;
};

static inline double at_new_point(const struct softmax_row *row, size_t j)
{
    return (double)row->z[j] + row->scale * (double)row->dz[j];
}

/* s x_j */
static inline double rise(const struct softmax_row *row, size_t j)
{
    return row->scale * ((double)row->dz[j] - (double)row->dz[row->top]);
}

static inline __attribute__((always_inline)) void
small_step(const struct softmax_row *row, double share)
{
    double mean = 0.0;
    VECTOR_SUM(mean)
    for (size_t j = 0; j < row->width; j++)
        mean += (double)row->db[j] * lanes_expm1(rise(row, j));
    mean *= share;
    share /= (1.0 + mean) * row->scale;
    VECTOR_LOOP
    for (size_t j = 0; j < row->width; j++)
        row->db[j] =
            (float)((double)row->db[j] * share * (lanes_expm1(rise(row, j)) - mean));
}

/* Computes p and p' separately, in double: for steps larger than 1, subtracting them
 * loses no significant digits. */
static inline __attribute__((always_inline)) void
large_step(const struct softmax_row *row, double share)
{
    double greatest = at_new_point(row, 0), sum = 0.0;
    for (size_t j = 1; j < row->width; j++)
        greatest = fmax(greatest, at_new_point(row, j));
    VECTOR_SUM(sum)
    for (size_t j = 0; j < row->width; j++)
        sum += lanes_exp(at_new_point(row, j) - greatest);
    VECTOR_LOOP
    for (size_t j = 0; j < row->width; j++) {
        double before = lanes_exp((double)row->z[j] - (double)row->z[row->top]);
        double after = lanes_exp(at_new_point(row, j) - greatest);
        row->db[j] = (float)((after / sum - before * share) / row->scale);
    }
}

/* During the computation, db holds e^(z'_j - z'_top). */
static inline __attribute__((always_inline)) void softmax_row(struct softmax_row *row)
{
    double sum = 0.0, largest = 0.0;

    for (size_t j = 1; j < row->width; j++)
        if (row->z[j] > row->z[row->top])
            row->top = j;
    VECTOR_LOOP
    for (size_t j = 0; j < row->width; j++)
        row->db[j] = lanes_expf(row->z[j] - row->z[row->top]);
    for (size_t j = 0; j < row->width; j++) {
        double x = fabs(rise(row, j));
        largest = x > largest ? x : largest;
        sum += (double)row->db[j];
    }
    if (largest <= 1.0)
        small_step(row, 1.0 / sum);
    else
        large_step(row, 1.0 / sum);
}

VECTOR_CLONES
static void softmax_rows(const struct loss_pairs *pairs)
{
    for (size_t i = 0; i < pairs->z.count; i++) {
        struct softmax_row row = {.z = pairs->z.data + i * pairs->z.stride,
                                  .dz = pairs->dz.data + i * pairs->dz.stride,
                                  .db = pairs->db.data + i * pairs->db.stride,
                                  .width = pairs->width,
                                  .scale = pairs->scale};
        memset(row.db + row.width, 0, (pairs->db.stride - row.width) * sizeof *row.db);
        softmax_row(&row);
    }
}

/* Replaces step by sigmoid(z + step) - sigmoid(z): the rule of tanh, halved. */
VECTOR_CLONES
static void sigmoid_difference(double *step, const double *z, size_t count)
{
    VECTOR_LOOP
    for (size_t i = 0; i < count; i++) {
        double sign = step[i] < 0.0 ? -1.0 : 1.0;
        double far = 1.0 + lanes_exp(-sign * (z[i] + step[i]));
        double near = 1.0 + lanes_exp(sign * z[i]);
        step[i] = -sign * lanes_expm1(-sign * step[i]) / far / near;
    }
}

static double cut_at(double delta, double over)
{
    return over > delta ? delta : over < -delta ? -delta : over;
}

/* Replaces step by the step of the residual after both residuals are clipped to delta;
 * z is the previous residual. */
static void huber_difference(double delta, double *step, const double *z, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool inside = fabs(z[i]) <= delta && fabs(z[i] + step[i]) <= delta;
        if (!inside)
            step[i] = cut_at(delta, z[i] + step[i]) - cut_at(delta, z[i]);
    }
}

static void one_output(enum loss loss, const struct loss_pairs *pairs)
{
    size_t count = pairs->z.count;
    double *z = pairs->scratch, *step = z + count;

    for (size_t i = 0; i < count; i++) {
        z[i] = (double)pairs->z.data[i * pairs->z.stride];
        if (loss == LOSS_HUBER)
            z[i] -= (double)pairs->values[i];
        step[i] = pairs->scale * (double)pairs->dz.data[i * pairs->dz.stride];
    }
    if (loss == LOSS_LOGISTIC)
        sigmoid_difference(step, z, count);
    if (loss == LOSS_HUBER)
        huber_difference(pairs->huber_delta, step, z, count);
    for (size_t i = 0; i < count; i++) {
        float *db = pairs->db.data + i * pairs->db.stride;
        memset(db, 0, pairs->db.stride * sizeof *db);
        db[0] = (float)(step[i] / pairs->scale);
    }
}

void loss_difference(enum loss loss, const struct loss_pairs *pairs)
{
    if (loss == LOSS_SOFTMAX_CROSS_ENTROPY)
        softmax_rows(pairs);
    else
        one_output(loss, pairs);
}
