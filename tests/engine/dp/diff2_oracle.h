/*
 * diff2_oracle.h - DIFF2 in double, straight from the pseudocode of papers/diff2.md 1.1
 * to 1.6, for any loss whose gradient the caller can compute per record: the engine is
 * compared with it. test_diff2_toy.c compares it with the paper's specification.
 */
#ifndef TESTS_ENGINE_DP_DIFF2_ORACLE_H
#define TESTS_ENGINE_DP_DIFF2_ORACLE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { REFERENCE_DIM_MAX = 128 };

struct reference {
    /* out (dim) = the gradient of record at x (dim) */
    void (*gradient)(const void *context, size_t record, const double *x, double *out);
    const void *context;
    /* Draws a standard normal; NULL: no noise. */
    double (*normal)(void *generator);
    void *generator;
    size_t dim, clients;
    const size_t *starts; /* (clients + 1) client p's: [starts[p], starts[p+1]) */
    double clip_norm, difference_clip; /* C1, C2 */
    double sigma1, sigma2;             /* on the mean, relative to the clip norm */
    double rate;                       /* eta */
    size_t interval;                   /* T */
    /* The members below are state; initially x = x_0 and zeros. */
    size_t round;   /* rounds done */
    size_t clipped; /* records clipped in the last round */
    double x[REFERENCE_DIM_MAX], before[REFERENCE_DIM_MAX], value[REFERENCE_DIM_MAX];
};

static inline double reference_norm(const double *v, size_t dim)
{
    double square = 0;
    for (size_t j = 0; j < dim; j++)
        square += v[j] * v[j];
    return sqrt(square);
}

/* ClippedMean over the records of a client, of gradients or of their differences. */
static inline void reference_mean(struct reference *r, size_t client, double clip_norm,
                                  bool restart, double *mean)
{
    double g[REFERENCE_DIM_MAX], other[REFERENCE_DIM_MAX];
    double count = (double)(r->starts[client + 1] - r->starts[client]);
    memset(mean, 0, r->dim * sizeof *mean);
    for (size_t i = r->starts[client]; i < r->starts[client + 1]; i++) {
        r->gradient(r->context, i, r->x, g);
        if (!restart) {
            r->gradient(r->context, i, r->before, other);
            for (size_t j = 0; j < r->dim; j++)
                g[j] -= other[j];
        }
        double norm = reference_norm(g, r->dim);
        double share = norm > clip_norm ? clip_norm / norm : 1;
        r->clipped += norm > clip_norm;
        for (size_t j = 0; j < r->dim; j++)
            mean[j] += share * g[j];
    }
    for (size_t j = 0; j < r->dim; j++)
        mean[j] /= count;
}

static inline void reference_round(struct reference *r)
{
    bool restart = r->round % r->interval == 0;
    double moved[REFERENCE_DIM_MAX], mean[REFERENCE_DIM_MAX],
        all[REFERENCE_DIM_MAX] = {0};
    for (size_t j = 0; j < r->dim; j++)
        moved[j] = r->x[j] - r->before[j];
    double clip_norm =
        restart ? r->clip_norm : r->difference_clip * reference_norm(moved, r->dim);
    double noise = (restart ? r->sigma1 : r->sigma2) * clip_norm;
    r->clipped = 0;
    for (size_t p = 0; p < r->clients; p++) {
        reference_mean(r, p, clip_norm, restart, mean);
        for (size_t j = 0; j < r->dim; j++)
            all[j] += mean[j] / (double)r->clients;
    }
    for (size_t j = 0; j < r->dim; j++) {
        double xi = r->normal != NULL ? noise * r->normal(r->generator) : 0;
        r->value[j] = (restart ? 0 : r->value[j]) + all[j] + xi;
        r->before[j] = r->x[j];
        r->x[j] -= r->rate * r->value[j];
    }
    r->round++;
}

#endif
