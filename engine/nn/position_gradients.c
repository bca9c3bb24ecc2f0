/* A record's gradient here is b^T a, with a the T rows unfolded from its image and b
 * the gradients at its T outputs. The forms of positions.h differ in how its norm
 * is found:
 *
 *   GRAM         |b^T a|^2 = sum over pairs of rows of (a_t.a_s)(b_t.b_s), in double
 *                (gram_square): T x T products; the matrix itself is never computed
 *   EXPLICIT     the matrix is computed in scratch, measured, and discarded
 *   PER_EXAMPLE  the matrix is computed in per_example, stored and measured there
 *                (per_example_square)
 *   BIAS         there is no matrix, and a is not read
 *
 * A sum adds the float32 matrix, whose entries are chains over the positions, times a
 * clip factor. It reads the stored matrix (position_gradients_sum_per_example), or
 * computes the same chains again over the unfolded rows of several records at a time
 * (position_gradients_sum). So GRAM increases its norm by a bound of the distance
 * between the float32 matrix and the exact one (gram_error, matrix_error), while the
 * other two forms measure the float32 matrix itself. With copies of a channel
 * (replicate) the norm is that of one copy times sqrt(copies). */
#include "engine/nn/position_gradients.h"

#include <math.h>
#include <string.h>
#include <cblas.h>

#include "base/check.h"
#include "engine/gemm/gemm.h"
#include "engine/gemm/gemm_choice.h"
#include "engine/parallel/vector_math.h"

enum {
    SYRK_LEAST = 64, /* from this many rows on it is faster to compute half of the
                        products */
    SUM_ROWS = 256   /* rows unfolded at a time */
};

/* If the spread is at most this, no chain of a matrix leaves the range of float32. */
static const double SPREAD_MAX = 0x1p126;

static size_t image_floats(const struct image *image)
{
    return image->height * image->width * image->channels;
}

static size_t bias_floats(const struct position_layer *layer)
{
    return row_layer_has_bias(&layer->rows) ? layer->rows.outputs : 0;
}

size_t position_gradients_floats(const struct position_layer *layer)
{
    size_t weights = layer->rows.outputs * layer->rows.inputs;
    return bias_floats(layer) + (layer->form == NORM_PER_EXAMPLE ? weights : 0);
}

VECTOR_CLONES
static void add_columns(float *restrict sum, const float *restrict b, size_t rows,
                        size_t width)
{
    for (size_t t = 0; t < rows; t++)
        for (size_t j = 0; j < width; j++)
            sum[j] += b[t * width + j];
}

void position_gradients_bias(const struct position_layer *layer,
                             struct rows per_example, struct rows b)
{
    size_t width = bias_floats(layer);
    for (size_t i = 0; i < b.count && width > 0; i++) {
        float *sum = per_example.data + i * per_example.stride;
        memset(sum, 0, width * sizeof *sum);
        add_columns(sum, b.data + i * b.stride, conv_window_positions(&layer->window),
                    width);
    }
}

void position_gradients_gather(const struct position_layer *layer,
                               struct rows per_example)
{
    size_t width = bias_floats(layer), all = position_gradients_floats(layer);
    for (size_t k = 1; k < per_example.count && all > 0; k++) {
        float *row = per_example.data + k * per_example.stride;
        add_columns(per_example.data, row, 1, width);
        memset(row, 0, all * sizeof *row);
    }
}

static size_t gram_floats(const struct position_layer *layer)
{
    size_t t = positions_of_unit(layer);
    return 2 * (rows_stride(t * layer->rows.inputs) +
                rows_stride(t * layer->rows.outputs) + 2 * rows_stride(t * t));
}

size_t position_gradients_scratch(const struct position_layer *layer)
{
    size_t more = 0;
    switch (layer->form) {
    case NORM_GRAM: more = gram_floats(layer); break;
    case NORM_EXPLICIT:
        more = rows_stride(layer->rows.outputs * layer->rows.inputs);
        break;
    case NORM_PER_EXAMPLE:
    case NORM_BIAS: break;
    }
    return positions_unfolded(layer) + more;
}

/* n u / (1 - n u): the relative error of n roundings. */
static double roundings(double count, double unit)
{
    return count * unit / (1.0 - count * unit);
}

static struct rows record_of(struct rows rows, size_t record)
{
    return (struct rows){rows.data + record * rows.stride, rows.stride, 1};
}

/* For one record, to (span.count, d) = the span's rows of b^T a, or to += these rows if
 * adds. Each entry is a chain over the positions. */
static void add_gradient(const struct position_layer *layer, struct row_span span,
                         float *to, bool adds, const struct position_rows *rows,
                         float *scratch)
{
    size_t inputs = layer->rows.inputs;
    struct position_step step = {0};

    while (positions_next(layer, &step, rows->b)) {
        struct rows u = positions_unfold(layer, rows->a, step, scratch);
        const struct gemm product = {.rows = span.count,
                                     .columns = inputs,
                                     .terms = u.count,
                                     .x = positions_outputs(layer, rows->b, step).data +
                                          span.row,
                                     .x_stride = layer->rows.outputs,
                                     .y = u.data,
                                     .y_stride = u.stride,
                                     .z = to,
                                     .z_stride = inputs,
                                     .start = adds || step.first > 0 ? to : NULL,
                                     .start_stride = inputs};
        gemm_columns_by_columns(gemm_choice_best(), &product);
    }
}

/* Does the same for all records of a unit together. */
static void gradient(const struct position_layer *layer, struct row_span span,
                     float *to, bool adds, const struct position_rows *rows,
                     float *scratch)
{
    for (size_t k = 0; k < rows->a.count; k++) {
        struct position_rows record = {record_of(rows->a, k), record_of(rows->b, k)};
        add_gradient(layer, span, to, adds || k > 0, &record, scratch);
    }
}

static struct row_span all_outputs(const struct position_layer *layer)
{
    return (struct row_span){.row = 0, .count = layer->rows.outputs};
}

VECTOR_CLONES
static void widen(double *restrict to, size_t stride, struct rows from, size_t width)
{
    for (size_t t = 0; t < from.count; t++)
        for (size_t j = 0; j < width; j++)
            to[t * stride + j] = (double)from.data[t * from.stride + j];
}

/* Writes the products of all pairs of rows to at least the upper triangle of to (count,
 * count). */
static void row_products(double *to, const double *rows, size_t count, size_t width)
{
    if (count < SYRK_LEAST)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)count,
                    (blasint)count, (blasint)width, 1.0, rows, (blasint)width, rows,
                    (blasint)width, 0.0, to, (blasint)count);
    else
        cblas_dsyrk(CblasRowMajor, CblasUpper, CblasNoTrans, (blasint)count,
                    (blasint)width, 1.0, rows, (blasint)width, 0.0, to, (blasint)count);
}

VECTOR_CLONES
static double product_sum(const double *a, const double *b, size_t count)
{
    double diagonal = 0.0, upper = 0.0;
    for (size_t t = 0; t < count; t++) {
        const double *a_row = a + t * count, *b_row = b + t * count;
        diagonal += a_row[t] * b_row[t];
        VECTOR_SUM(upper)
        for (size_t s = t + 1; s < count; s++)
            upper += a_row[s] * b_row[s];
    }
    return diagonal + 2.0 * upper;
}

/* |b^T a|^2 as the sum over pairs of rows of (a_t.a_s)(b_t.b_s). */
static double gram_square(const struct position_layer *layer, struct rows a,
                          struct rows b, float *scratch)
{
    size_t one = conv_window_positions(&layer->window), d = layer->rows.inputs,
           p = layer->rows.outputs, t = positions_of_unit(layer);
    double *wide_a = (double *)(void *)(scratch + positions_unfolded(layer));
    double *wide_b = wide_a + rows_stride(t * d),
           *a_products = wide_b + rows_stride(t * p);
    double *b_products = a_products + rows_stride(t * t);

    for (size_t k = 0; k < a.count; k++) {
        struct position_step all = {.record = k, .count = one};
        struct rows in = {b.data + k * b.stride, p, one};
        widen(wide_a + k * one * d, d, positions_unfold(layer, a, all, scratch), d);
        widen(wide_b + k * one * p, p, in, p);
    }
    row_products(a_products, wide_a, t, d);
    row_products(b_products, wide_b, t, p);
    return product_sum(a_products, b_products, t);
}

/* noise.md 2.4, with products in double: nu^2 <= computed + eps_G M^2. */
static double gram_error(const struct position_layer *layer)
{
    double t = (double)positions_of_unit(layer);
    double terms = (double)(layer->rows.inputs + layer->rows.outputs + 4);
    return roundings(terms, 0x1p-53) + t * t * 0x1p-52;
}

/* Returns a bound of the distance between the float32 matrix and b^T a, whose spread is
 * at most M: T roundings of each term, and everything below the normal range, which is
 * written as zero (small_floats.h). */
static double matrix_error(const struct position_layer *layer, double spread)
{
    double t = (double)positions_of_unit(layer);
    double floats = (double)layer->rows.outputs * (double)layer->rows.inputs;
    return roundings(t, 0x1p-24) * spread + t * sqrt(floats) * 0x1p-126;
}

/* Returns the square of the norm of the float32 matrix, or an upper bound of it. A
 * cell's sum computes the rows of this matrix again. The absolute value of an entry is
 * at most M, so none overflows. */
static double matrix_square(const struct position_layer *layer,
                            const struct position_rows *rows, double spread,
                            float *scratch)
{
    float *matrix = scratch + positions_unfolded(layer);

    if (layer->form == NORM_GRAM) {
        if (!(spread <= SPREAD_MAX))
            return (double)INFINITY;
        double square = fmax(0.0, gram_square(layer, rows->a, rows->b, scratch));
        double norm = sqrt(square + gram_error(layer) * spread * spread) +
                      matrix_error(layer, spread);
        return norm * norm;
    }
    gradient(layer, all_outputs(layer), matrix, false, rows, scratch);
    return floats_square(matrix, layer->rows.outputs * layer->rows.inputs);
}

static double per_example_square(const struct position_layer *layer,
                                 const float *per_example)
{
    size_t bias = bias_floats(layer);
    double square =
        floats_square(per_example + bias, layer->rows.outputs * layer->rows.inputs);
    return (double)layer->copies * square + floats_square(per_example, bias);
}

void position_gradients_weight(const struct position_layer *layer, float *per_example,
                               const struct position_rows *rows, float *scratch)
{
    CHECK(layer->form == NORM_PER_EXAMPLE);
    gradient(layer, all_outputs(layer), per_example + bias_floats(layer), false, rows,
             scratch);
}

double position_gradients_measure(const struct position_layer *layer,
                                  const struct position_rows *rows, float *per_example,
                                  float *scratch)
{
    struct rows a = rows->a, b = rows->b;
    size_t bias = bias_floats(layer), t = conv_window_positions(&layer->window);
    double a_square = 0.0, b_square = 0.0;
    double overlap = (double)conv_window_overlap(&layer->window);
    for (size_t k = 0; k < a.count; k++) {
        if (layer->form != NORM_BIAS)
            a_square += overlap * floats_square(a.data + k * a.stride,
                                                image_floats(&layer->window.image));
        b_square += floats_square(b.data + k * b.stride, t * layer->rows.outputs);
    }
    double bias_square = floats_square(per_example, bias);

    if (layer->form == NORM_BIAS)
        return b_square <= NORM_SQUARE_MAX ? bias_square : (double)INFINITY;
    if (!(a_square <= NORM_SQUARE_MAX && b_square <= NORM_SQUARE_MAX &&
          isfinite(bias_square)))
        return (double)INFINITY;
    if (layer->form == NORM_PER_EXAMPLE) {
        position_gradients_weight(layer, per_example, rows, scratch);
        return per_example_square(layer, per_example);
    }
    /* By Cauchy-Schwarz, M = sum_t |a_t||b_t| <= |a||b|. */
    double spread = sqrt(a_square) * sqrt(b_square);
    return (double)layer->copies * matrix_square(layer, rows, spread, scratch) +
           bias_square;
}

static bool is_bounded(struct rows row, size_t width)
{
    return floats_square(row.data, width) <= NORM_SQUARE_MAX;
}

double position_gradients_measure_pair(const struct position_layer *layer,
                                       const struct row_factors *factors,
                                       float *per_example, float *scratch)
{
    const struct row_pair *a = &factors->a, *b = &factors->b;
    size_t in = image_floats(&layer->window.image), bias = bias_floats(layer);
    size_t out = conv_window_positions(&layer->window) * layer->rows.outputs;
    bool stacked = a->difference.data != NULL;

    CHECK(layer->form == NORM_PER_EXAMPLE);
    if (!is_bounded(a->at, in) || !is_bounded(b->difference, out) ||
        (stacked && (!is_bounded(a->difference, in) || !is_bounded(b->at, out))))
        return (double)INFINITY;
    gradient(layer, all_outputs(layer), per_example + bias, false,
             &(struct position_rows){a->at, b->difference}, scratch);
    if (stacked)
        gradient(layer, all_outputs(layer), per_example + bias, true,
                 &(struct position_rows){a->difference, b->at}, scratch);
    double square = per_example_square(layer, per_example);
    return square <= NORM_SQUARE_MAX ? square : (double)INFINITY;
}

/* A stride that is not a power of two: rows a power of two apart would compete for the
 * same cache lines. */
static size_t unfolded_stride(const struct position_layer *layer)
{
    return rows_stride(layer->rows.inputs) + 16;
}

/* Returns how many units have their rows unfolded at a time; 0 if one unit already has
 * too many rows. */
static size_t units_together(const struct position_layer *layer)
{
    return SUM_ROWS / positions_of_unit(layer);
}

struct sum_scratch { /* memory of a sum */
    float *sum;      /* (outputs, d) before it is scattered, or NULL */
    float *matrix;   /* (outputs, d) of one unit, if units are long */
    float *unfolded;
    size_t floats; /* floats of all of it */
};

static struct sum_scratch divide(const struct position_layer *layer, size_t outputs,
                                 float *scratch)
{
    size_t matrix = rows_stride(outputs * layer->rows.inputs);
    bool is_long = units_together(layer) == 0, scatters = positions_gathered(layer) > 0;
    struct sum_scratch s = {.sum = scatters ? scratch : NULL,
                            .matrix = scratch + (scatters ? matrix : 0)};
    s.unfolded = s.matrix + (is_long ? matrix : 0);
    s.floats =
        (scatters ? matrix : 0) + (is_long ? matrix : 0) +
        (is_long ? positions_unfolded(layer) : SUM_ROWS * unfolded_stride(layer));
    return s;
}

size_t position_gradients_sum_scratch(const struct position_layer *layer,
                                      size_t outputs)
{
    return divide(layer, outputs, NULL).floats;
}

static struct position_rows some_of(const struct position_rows *rows, size_t first,
                                    size_t count)
{
    struct position_rows some = *rows;
    some.a.data += first * some.a.stride;
    some.b.data += first * some.b.stride;
    some.a.count = some.b.count = count;
    return some;
}

/* sum = start + the sum over the units of some records. */
static void add_some(const struct position_layer *layer, struct row_span span,
                     float *sum, const float *start,
                     const struct weighed_positions *some, float *unfolded)
{
    size_t t = conv_window_positions(&layer->window), d = layer->rows.inputs;
    size_t unit = positions_of_unit(layer) / t;
    struct rows a = some->rows.a, b = some->rows.b;
    struct rows u = {unfolded, unfolded_stride(layer), t};

    for (size_t k = 0; k < a.count; k++, u.data += t * u.stride)
        conv_window_unfold(&layer->window, u, a.data + k * a.stride, 0);
    const struct gemm product = {.rows = span.count,
                                 .columns = d,
                                 .terms = t,
                                 .x = b.data + span.row,
                                 .x_stride = layer->rows.outputs,
                                 .y = unfolded,
                                 .y_stride = u.stride,
                                 .z = sum,
                                 .z_stride = d,
                                 .start = start,
                                 .start_stride = d};
    gemm_sum_of_units(gemm_choice_best(), &product,
                      (struct gemm_runs){.units = {.count = a.count / unit,
                                                   .weights = some->clip_factors},
                                         .count = unit,
                                         .x_run = b.stride});
}

VECTOR_CLONES
static void add_weighed(float *restrict sum, const float *restrict matrix, float weight,
                        size_t count)
{
    for (size_t j = 0; j < count; j++)
        sum[j] = fmaf(weight, matrix[j], sum[j]);
}

/* Units with more rows than are unfolded at a time are computed one by one. */
static void add_long(const struct position_layer *layer, struct row_span span,
                     float *sum, const struct weighed_positions *all,
                     const struct sum_scratch *s)
{
    size_t d = layer->rows.inputs,
           unit = positions_of_unit(layer) / conv_window_positions(&layer->window);
    for (size_t i = 0; i < all->rows.a.count; i += unit) {
        struct position_rows rows = some_of(&all->rows, i, unit);
        gradient(layer, span, s->matrix, false, &rows, s->unfolded);
        add_weighed(sum, s->matrix, all->clip_factors[i], span.count * d);
    }
}

void position_gradients_sum(const struct position_layer *layer, struct row_span span,
                            float *block, const struct weighed_positions *all,
                            float *scratch)
{
    struct sum_scratch s = divide(layer, span.count, scratch);
    size_t d = layer->rows.inputs, together = units_together(layer);
    size_t records = together * (layer->unit_rows > 1 ? layer->unit_rows : 1);
    size_t count = all->rows.a.count;
    float *sum = s.sum != NULL ? s.sum : block;

    if (together == 0 || count == 0)
        memset(sum, 0, span.count * d * sizeof *sum);
    if (together == 0)
        add_long(layer, span, sum, all, &s);
    for (size_t i = 0; together > 0 && i < count; i += records) {
        size_t left = count - i;
        struct weighed_positions some = {
            some_of(&all->rows, i, left < records ? left : records),
            all->clip_factors + i};
        add_some(layer, span, sum, i > 0 ? sum : NULL, &some, s.unfolded);
    }
    for (size_t o = 0; s.sum != NULL && o < span.count; o++)
        positions_scatter(layer, block + o * positions_row_floats(layer), sum + o * d);
}

void position_gradients_sum_per_example(const struct position_layer *layer,
                                        struct row_span span, float *block,
                                        const struct per_example_gradients *per_example,
                                        float *scratch)
{
    size_t d = layer->rows.inputs, row_floats = positions_row_floats(layer);
    size_t first = bias_floats(layer) + span.row * d;

    per_example_gradients_sum(per_example, (struct row_span){first, span.count * d},
                              block);
    if (positions_gathered(layer) == 0)
        return;
    /* The last row comes first: a row grows over the rows after it, so these are done
     * by then. */
    for (size_t o = span.count; o-- > 0;) {
        memcpy(scratch, block + o * d, d * sizeof *scratch);
        positions_scatter(layer, block + o * row_floats, scratch);
    }
}
