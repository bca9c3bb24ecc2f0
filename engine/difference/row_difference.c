#include "engine/difference/row_difference.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "engine/parallel/vector_math.h"

static bool is_zero(struct rows rows)
{
    return rows.data == NULL;
}

void row_difference_forward(const struct row_layer *layer,
                            const struct row_points *points, struct rows dz,
                            const struct row_pair *a)
{
    struct row_layer bare = *layer;

    if (is_zero(a->difference)) {
        row_layer_forward(layer, points->step, dz, a->at);
        return;
    }
    bare.bias = SIZE_MAX;
    row_layer_forward(&bare, points->parameters, dz, a->difference);
    row_layer_add_forward(layer, points->step, dz, a->at);
    if (row_layer_has_bias(layer))
        rows_add(dz, points->step + layer->bias, layer->outputs);
}

void row_difference_backward(const struct row_layer *layer,
                             const struct row_points *points, struct rows below,
                             const struct row_pair *b)
{
    row_layer_backward(layer, points->parameters, below, b->difference);
    row_layer_add_backward(layer, points->step, below, b->at);
}

VECTOR_CLONES
static double floats_product(const float *x, const float *y, size_t count)
{
    double sum = 0.0;
    VECTOR_SUM(sum)
    for (size_t j = 0; j < count; j++)
        sum += (double)x[j] * (double)y[j];
    return sum;
}

/* |x|^2, |dx|^2 and x.dx of one record; the padding of a row is zero. */
struct pair_products {
    double at, difference, mixed;
};

static struct pair_products products(const struct row_pair *pair, size_t record)
{
    const float *at = pair->at.data + record * pair->at.stride;
    const float *difference = pair->difference.data + record * pair->difference.stride;
    size_t stride = pair->at.stride;
    return (struct pair_products){.at = floats_square(at, stride),
                                  .difference = floats_square(difference, stride),
                                  .mixed = floats_product(at, difference, stride)};
}

static bool bounded(const struct pair_products *p)
{
    return p->at <= NORM_SQUARE_MAX && p->difference <= NORM_SQUARE_MAX;
}

struct bound { /* squared */
    double norm, spread;
};

/* |b x da + db x a'|^2 = |b|^2 |da|^2 + |db|^2 |a'|^2 + 2 (b.db)(a'.da)
 * The last term may cancel the others, so eps_G M^2 is added for the rounding of the sums
 * in double (noise.md 2.4, T = 2).
 * Rounding w b and w db entry by entry may add 2^-24 M to the norm. */
static struct bound bound_of(const struct row_layer *layer,
                             const struct pair_products *a,
                             const struct pair_products *b)
{
    double bias = row_layer_has_bias(layer) ? b->difference : 0.0;
    double room = (double)(layer->inputs + layer->outputs + 8) * 0x1p-52;
    double first = b->at * a->difference, second = b->difference * a->at;
    double spread = sqrt(first) + sqrt(second);
    double square = fmax(0.0, first + second + 2.0 * b->mixed * a->mixed);
    double norm = sqrt(square + room * spread * spread) + 0x1p-24 * spread;

    if (!bounded(a) || !bounded(b))
        return (struct bound){(double)INFINITY, (double)INFINITY};
    return (struct bound){norm * norm + bias, spread * spread + bias};
}

void row_difference_measure(const struct row_layer *layer, const struct row_measure *to,
                            const struct row_factors *factors)
{
    size_t rows = factors->a.at.count;

    if (is_zero(factors->a.difference)) { /* one row a record: M = nu */
        double *a = to->scratch, *b = to->scratch + rows;
        rows_square(a, factors->a.at);
        rows_square(b, factors->b.difference);
        memset(to->squares, 0, rows * sizeof *to->squares);
        row_layer_measure(layer, to->squares, (struct row_squares){a, b, rows});
        memcpy(to->spreads, to->squares, rows * sizeof *to->spreads);
        return;
    }
    for (size_t i = 0; i < rows; i++) {
        struct pair_products a = products(&factors->a, i);
        struct pair_products b = products(&factors->b, i);
        struct bound bound = bound_of(layer, &a, &b);
        to->squares[i] = bound.norm;
        to->spreads[i] = bound.spread;
    }
}

void row_difference_sum(const struct row_layer *layer, struct row_span span,
                        float *block, const struct row_factors *factors)
{
    row_layer_sum(layer, span, block, factors->a.at, factors->b.difference);
    if (!is_zero(factors->a.difference))
        row_layer_add_sum(layer, span, block, factors->a.difference, factors->b.at);
}
