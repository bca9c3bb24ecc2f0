#include "engine/nn/spectral.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <cblas.h>

#include "base/check.h"

enum { SQUARINGS = 7, PANEL = 256 };

static const double slack = 1 + 1e-9;

struct spectral {
    size_t side;
    double *panel;  /* (side, PANEL) columns of W or W^T in double */
    double *gram;   /* (side, side) */
    double *square; /* (side, side) */
};

enum status spectral_create(struct spectral **out, size_t side, struct error *error)
{
    struct spectral *spectral = calloc(1, sizeof *spectral);
    CHECK(spectral != NULL && side > 0 && side <= SPECTRAL_SIDE_MAX);
    spectral->side = side;
    spectral->panel = calloc(side * PANEL, sizeof *spectral->panel);
    spectral->gram = calloc(side * side, sizeof *spectral->gram);
    spectral->square = calloc(side * side, sizeof *spectral->square);
    if (spectral->panel == NULL || spectral->gram == NULL || spectral->square == NULL) {
        spectral_destroy(spectral);
        return error_set(error, ST_NO_MEMORY, "no memory for spectral norms");
    }
    *out = spectral;
    return ST_OK;
}

void spectral_destroy(struct spectral *spectral)
{
    if (spectral == NULL)
        return;
    free(spectral->panel);
    free(spectral->gram);
    free(spectral->square);
    free(spectral);
}

size_t spectral_size(const struct spectral *spectral)
{
    if (spectral == NULL)
        return 0;
    return spectral->side * (PANEL + 2 * spectral->side) * sizeof(double);
}

static double loose_bound(const float *w, struct weight_shape shape)
{
    double squares = 0, row_most = 0, column_most = 0;
    for (size_t i = 0; i < shape.rows; i++) {
        double row = 0;
        for (size_t j = 0; j < shape.columns; j++) {
            double x = (double)w[i * shape.columns + j];
            squares += x * x;
            row += fabs(x);
        }
        row_most = fmax(row_most, row);
    }
    for (size_t j = 0; j < shape.columns; j++) {
        double column = 0;
        for (size_t i = 0; i < shape.rows; i++)
            column += fabs((double)w[i * shape.columns + j]);
        column_most = fmax(column_most, column);
    }
    if (!isfinite(squares)) /* fmin and fmax would ignore a NaN */
        return (double)INFINITY;
    return fmin(sqrt(squares), sqrt(row_most * column_most)) * slack;
}

/* Element (i, k) of the matrix with the smaller side first. */
static double entry(const float *w, struct weight_shape shape, size_t i, size_t k)
{
    bool wide = shape.rows <= shape.columns;
    return (double)(wide ? w[i * shape.columns + k] : w[k * shape.columns + i]);
}

/* gram (r, r) = W W^T, or W^T W if that is smaller. */
static void fill_gram(struct spectral *spectral, const float *w,
                      struct weight_shape shape)
{
    bool wide = shape.rows <= shape.columns;
    size_t r = wide ? shape.rows : shape.columns,
           depth = wide ? shape.columns : shape.rows;
    for (size_t first = 0; first < depth; first += PANEL) {
        size_t count = depth - first < PANEL ? depth - first : PANEL;
        for (size_t i = 0; i < r; i++)
            for (size_t k = 0; k < count; k++)
                spectral->panel[i * PANEL + k] = entry(w, shape, i, first + k);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)r, (blasint)r,
                    (blasint)count, 1.0, spectral->panel, PANEL, spectral->panel, PANEL,
                    first == 0 ? 0.0 : 1.0, spectral->gram, (blasint)r);
    }
}

static double trace(const double *matrix, size_t r)
{
    double sum = 0;
    for (size_t i = 0; i < r; i++)
        sum += matrix[i * (r + 1)];
    return sum;
}

static void divide(double *matrix, size_t count, double by)
{
    for (size_t i = 0; i < count; i++)
        matrix[i] /= by;
}

/* tr(G^e)^(1/e) >= the largest eigenvalue of G, which is |W|^2; e = 2^7. Every square
 * is divided by its trace; log_sum collects the logarithms of the traces. */
static double trace_power(struct spectral *spectral, size_t r)
{
    double *m = spectral->gram, *next = spectral->square;
    double s = trace(m, r), log_sum = log(s), exponent = 1;
    if (s == 0)
        return 0;
    divide(m, r * r, s);
    for (int p = 0; p < SQUARINGS; p++) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)r, (blasint)r,
                    (blasint)r, 1.0, m, (blasint)r, m, (blasint)r, 0.0, next,
                    (blasint)r);
        double *other = m;
        m = next;
        next = other;
        exponent *= 2;
        s = trace(m, r);
        divide(m, r * r, s);
        log_sum += log(s) / exponent;
    }
    return exp(log_sum / 2) * slack;
}

double spectral_bound(struct spectral *spectral, const float *w,
                      struct weight_shape shape)
{
    double loose = loose_bound(w, shape);
    size_t r = shape.rows <= shape.columns ? shape.rows : shape.columns;
    if (r > spectral->side || !isfinite(loose) || loose == 0)
        return loose;
    fill_gram(spectral, w, shape);
    return fmin(loose, trace_power(spectral, r));
}
