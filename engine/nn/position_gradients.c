/* A record's gradient here is b^T a, with a the T rows unfolded from its image and b the
 * gradients at its T outputs. The three forms of positions.h differ in how its norm is
 * found:
 *
 *   GRAM         |b^T a|^2 = sum over pairs of rows of (a_t.a_s)(b_t.b_s), in double
 *                (gram_square): T x T products, and the matrix itself is never made
 *   EXPLICIT     the matrix is made in scratch, measured, and thrown away
 *   PER_EXAMPLE  the matrix is made where it is stored, and measured there
 *                (per_example_norm)
 *
 * Each norm is rounded up by a bound of the errors on the way (gram_error, roundings),
 * and for the first two by what rounding w b entry by entry may add. With copies of a
 * channel (replicate) the norm is that of one copy times sqrt(copies).
 *
 * Sums over records are products in double over the unfolded rows of several records at a
 * time, rounded to float once (position_gradients_sum); under PER_EXAMPLE they are sums
 * of the stored gradients times their clip factors (position_gradients_sum_per_example). */
#include "engine/nn/position_gradients.h"

#include <math.h>
#include <string.h>
#include <cblas.h>

#include "base/check.h"
#include "engine/parallel/vector_math.h"
#include "engine/product/product.h"
#include "engine/product/product_choice.h"

enum {
    SYRK_LEAST = 64, /* so many rows, or more, are faster by half of their products */
    SUM_ROWS = 512   /* rows unfolded at a time */
};

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
        add_columns(sum, b.data + i * b.stride, window_positions(&layer->window),
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
    case NORM_PER_EXAMPLE: break;
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

/* For one record, to (outputs, d) = b^T a, or that added to it: chains over the positions. */
static void add_gradient(const struct position_layer *layer, float *to, bool adds,
                         const struct position_rows *rows, float *scratch)
{
    size_t inputs = layer->rows.inputs, outputs = layer->rows.outputs;
    struct position_step step = {0};

    while (positions_next(layer, &step, rows->b)) {
        struct rows u = positions_unfold(layer, rows->a, step, scratch);
        const struct product product = {
            .rows = outputs,
            .columns = inputs,
            .terms = u.count,
            .x = positions_outputs(layer, rows->b, step).data,
            .x_stride = outputs,
            .y = u.data,
            .y_stride = u.stride,
            .z = to,
            .z_stride = inputs,
            .start = adds || step.first > 0 ? to : NULL,
            .start_stride = inputs};
        product_columns_by_columns(product_choice_best(), &product);
    }
}

/* The same for a unit's records together. */
static void gradient(const struct position_layer *layer, float *to, bool adds,
                     const struct position_rows *rows, float *scratch)
{
    for (size_t k = 0; k < rows->a.count; k++) {
        struct position_rows record = {record_of(rows->a, k), record_of(rows->b, k)};
        add_gradient(layer, to, adds || k > 0, &record, scratch);
    }
}

VECTOR_CLONES
static void widen(double *restrict to, size_t stride, struct rows from, size_t width)
{
    for (size_t t = 0; t < from.count; t++)
        for (size_t j = 0; j < width; j++)
            to[t * stride + j] = (double)from.data[t * from.stride + j];
}

/* Writes at least the upper triangle of to (count, count): the products of rows. */
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
    size_t one = window_positions(&layer->window), d = layer->rows.inputs,
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

/* An upper bound of the norm of the exact b^T a, whose spread is at most M. */
static double exact_norm(const struct position_layer *layer, struct rows a,
                         struct rows b, double spread, float *scratch)
{
    size_t floats = layer->rows.outputs * layer->rows.inputs;
    float *explicit_gradient = scratch + positions_unfolded(layer);
    double square;

    if (layer->form == NORM_GRAM) {
        square = fmax(0.0, gram_square(layer, a, b, scratch));
        return sqrt(square + gram_error(layer) * spread * spread);
    }
    gradient(layer, explicit_gradient, false, &(struct position_rows){a, b}, scratch);
    square = floats_square(explicit_gradient, floats);
    return sqrt(square) + roundings((double)positions_of_unit(layer), 0x1p-24) * spread;
}

/* A stored gradient is one row a record, so M = nu. */
static struct position_norm per_example_norm(const struct position_layer *layer,
                                             const float *per_example)
{
    size_t bias = bias_floats(layer);
    double square =
        floats_square(per_example + bias, layer->rows.outputs * layer->rows.inputs);
    square = (double)layer->copies * square + floats_square(per_example, bias);
    return (struct position_norm){square, square};
}

void position_gradients_weight(const struct position_layer *layer, float *per_example,
                               const struct position_rows *rows, float *scratch)
{
    CHECK(layer->form == NORM_PER_EXAMPLE);
    gradient(layer, per_example + bias_floats(layer), false, rows, scratch);
}

struct position_norm position_gradients_measure(const struct position_layer *layer,
                                                struct rows a, struct rows b,
                                                float *per_example, float *scratch)
{
    size_t bias = bias_floats(layer), t = window_positions(&layer->window);
    double copies = (double)layer->copies, a_square = 0.0, b_square = 0.0;
    double overlap = (double)window_overlap(&layer->window);
    for (size_t k = 0; k < a.count; k++) {
        a_square += overlap * floats_square(a.data + k * a.stride,
                                            image_floats(&layer->window.image));
        b_square += floats_square(b.data + k * b.stride, t * layer->rows.outputs);
    }
    double bias_square = floats_square(per_example, bias), norm;

    if (!(a_square <= NORM_SQUARE_MAX && b_square <= NORM_SQUARE_MAX &&
          isfinite(bias_square)))
        return (struct position_norm){(double)INFINITY, (double)INFINITY};
    if (layer->form == NORM_PER_EXAMPLE) {
        position_gradients_weight(layer, per_example, &(struct position_rows){a, b},
                                  scratch);
        return per_example_norm(layer, per_example);
    }
    /* By Cauchy and Schwarz M = sum_t |a_t||b_t| <= |a||b|. Rounding w b entry by entry
     * may add 2^-24 M to the norm, where one row a record leaves 2^-24 of the norm; what
     * clipping cut off is rounded a second time (clip_rest). */
    double spread = sqrt(copies * a_square * b_square);
    norm = sqrt(copies) * exact_norm(layer, a, b, spread / sqrt(copies), scratch) +
           0x1p-23 * spread;
    return (struct position_norm){norm * norm + bias_square,
                                  spread * spread + bias_square};
}

static bool is_bounded(struct rows row, size_t width)
{
    return floats_square(row.data, width) <= NORM_SQUARE_MAX;
}

struct position_norm position_gradients_measure_pair(const struct position_layer *layer,
                                                     const struct row_factors *factors,
                                                     float *per_example, float *scratch)
{
    const struct row_pair *a = &factors->a, *b = &factors->b;
    size_t in = image_floats(&layer->window.image), bias = bias_floats(layer);
    size_t out = window_positions(&layer->window) * layer->rows.outputs;
    bool stacked = a->difference.data != NULL;
    struct position_norm norm;

    CHECK(layer->form == NORM_PER_EXAMPLE);
    if (!is_bounded(a->at, in) || !is_bounded(b->difference, out) ||
        (stacked && (!is_bounded(a->difference, in) || !is_bounded(b->at, out))))
        return (struct position_norm){(double)INFINITY, (double)INFINITY};
    gradient(layer, per_example + bias, false,
             &(struct position_rows){a->at, b->difference}, scratch);
    if (stacked)
        gradient(layer, per_example + bias, true,
                 &(struct position_rows){a->difference, b->at}, scratch);
    norm = per_example_norm(layer, per_example);
    if (!(norm.square <= NORM_SQUARE_MAX))
        return (struct position_norm){(double)INFINITY, (double)INFINITY};
    return norm;
}

VECTOR_CLONES
static void narrow(float *restrict to, const double *restrict from, size_t count)
{
    for (size_t j = 0; j < count; j++)
        to[j] = (float)from[j];
}

struct sum_scratch { /* where a sum in double works */
    float *unfolded, *row;
    double *a, *b, *sum;
    size_t floats; /* how many all of it takes */
};

static size_t sum_rows(const struct position_layer *layer)
{
    size_t t = window_positions(&layer->window);
    return t < SUM_ROWS ? SUM_ROWS / t * t : SUM_ROWS;
}

static struct sum_scratch divide(const struct position_layer *layer, size_t outputs,
                                 float *scratch)
{
    size_t width = rows_stride(layer->rows.inputs), rows = sum_rows(layer);
    struct sum_scratch s = {.unfolded = scratch};
    s.row = s.unfolded + rows * width;
    s.a = (double *)(void *)(s.row + width);
    s.b = s.a + rows * width;
    s.sum = s.b + rows * rows_stride(outputs);
    s.floats = 3 * rows * width + width + 2 * (rows + width) * rows_stride(outputs);
    return s;
}

size_t position_gradients_sum_scratch(const struct position_layer *layer,
                                      size_t outputs)
{
    return divide(layer, outputs, NULL).floats;
}

void position_gradients_sum(const struct position_layer *layer, struct row_span span,
                            float *block, const struct position_rows *rows,
                            float *scratch)
{
    struct rows a = rows->a, b = rows->b;
    size_t t = window_positions(&layer->window), d = layer->rows.inputs,
           stride = rows_stride(d);
    size_t records = t < SUM_ROWS ? SUM_ROWS / t : 1;
    size_t b_stride = rows_stride(span.count), outputs = layer->rows.outputs;
    struct sum_scratch s = divide(layer, span.count, scratch);
    double beta = 0.0;

    memset(s.sum, 0, span.count * stride * sizeof *s.sum);
    for (size_t i = 0; i < a.count; i += records)
        for (size_t first = 0; first < t; first += sum_rows(layer), beta = 1.0) {
            size_t some = a.count - i < records ? a.count - i : records, height = 0;
            size_t count = t - first < sum_rows(layer) ? t - first : sum_rows(layer);
            for (size_t k = i; k < i + some; k++, height += count) {
                struct position_step step = {k, first, count};
                struct rows u = positions_unfold(layer, a, step, s.unfolded);
                struct rows in = {b.data + k * b.stride + first * outputs + span.row,
                                  outputs, count};
                widen(s.a + height * stride, stride, u, d);
                widen(s.b + height * b_stride, b_stride, in, span.count);
            }
            cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)span.count,
                        (blasint)d, (blasint)height, 1.0, s.b, (blasint)b_stride, s.a,
                        (blasint)stride, beta, s.sum, (blasint)stride);
        }
    for (size_t o = 0; o < span.count; o++) {
        narrow(s.row, s.sum + o * stride, d);
        positions_scatter(layer, block + o * positions_row_floats(layer), s.row);
    }
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
    /* The last row goes first, as a row grows only over those behind it. */
    for (size_t o = span.count; o-- > 0;) {
        memcpy(scratch, block + o * d, d * sizeof *scratch);
        positions_scatter(layer, block + o * row_floats, scratch);
    }
}
