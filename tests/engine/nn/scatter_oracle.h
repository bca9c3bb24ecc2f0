/*
 * scatter_oracle.h - the scattering transform from its definition, in double: Morlet
 * wavelets sampled pixel by pixel, and convolutions as sums over all pixels of the
 * torus. No Fourier transform is used, and no code of engine/nn.
 */
#ifndef TESTS_ENGINE_NN_SCATTER_ORACLE_H
#define TESTS_ENGINE_NN_SCATTER_ORACLE_H

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SCATTER_ORACLE_MAPS = 81,
    SCATTER_ORACLE_SIDE_MAX = 40,
    SCATTER_ORACLE_KEPT = 64
};

struct scatter_oracle { /* for one size of image; filters are periodic */
    size_t height, width;
    double complex *wavelets[2][8]; /* (height, width) */
    double *low;                    /* (height, width) */
    double
        *kept[SCATTER_ORACLE_KEPT]; /* the latest images, each followed by its maps */
    size_t runs;
};

/* A Gaussian times a wave of frequency xi along theta, at a pixel: sigma wide along
 * theta, sigma / slant across. */
static inline double complex scatter_oracle_wave(double y, double x, double sigma,
                                                 double slant, double theta, double xi)
{
    double along = y * cos(theta) + x * sin(theta);
    double across = x * cos(theta) - y * sin(theta);
    double size =
        (along * along + slant * slant * across * across) / (2 * sigma * sigma);
    double envelope = exp(-size) * slant / (2 * M_PI * sigma * sigma);
    return CMPLX(envelope * cos(xi * along), envelope * sin(xi * along));
}

static inline void scatter_oracle_fill(struct scatter_oracle *o, double complex *to,
                                       const double shape[4])
{
    for (size_t y = 0; y < o->height; y++)
        for (size_t x = 0; x < o->width; x++) {
            double complex sum = 0;
            for (int v = -3; v <= 3; v++)
                for (int u = -3; u <= 3; u++)
                    sum += scatter_oracle_wave((double)y + v * (double)o->height,
                                               (double)x + u * (double)o->width,
                                               shape[0], shape[1], shape[2], shape[3]);
            to[y * o->width + x] = sum;
        }
}

/* The wave minus a multiple of its envelope, so that all values sum to zero. */
static inline void scatter_oracle_morlet(struct scatter_oracle *o, double complex *to,
                                         double sigma, double theta, double xi)
{
    size_t size = o->height * o->width;
    double complex *envelope = calloc(size, sizeof *envelope), sum = 0, whole = 0;
    scatter_oracle_fill(o, to, (double[]){sigma, 0.5, theta, xi});
    scatter_oracle_fill(o, envelope, (double[]){sigma, 0.5, theta, 0});
    for (size_t t = 0; t < size; t++)
        sum += to[t], whole += envelope[t];
    for (size_t t = 0; t < size; t++)
        to[t] -= sum / whole * envelope[t];
    free(envelope);
}

static inline void scatter_oracle_init(struct scatter_oracle *o, size_t height,
                                       size_t width)
{
    size_t size = (height + 8) * (width + 8);
    double complex *low = calloc(size, sizeof *low);
    *o = (struct scatter_oracle){.height = height + 8, .width = width + 8};
    for (int j = 0; j < 2; j++)
        for (int l = 0; l < 8; l++) {
            o->wavelets[j][l] = calloc(size, sizeof **o->wavelets[j]);
            scatter_oracle_morlet(o, o->wavelets[j][l], j == 0 ? 0.8 : 1.6,
                                  (3 - l) * M_PI / 8, (j == 0 ? 0.75 : 0.375) * M_PI);
        }
    o->low = calloc(size, sizeof *o->low);
    scatter_oracle_fill(o, low, (double[]){1.6, 1, 0, 0});
    for (size_t t = 0; t < size; t++)
        o->low[t] = creal(low[t]);
    free(low);
}

static inline void scatter_oracle_fini(struct scatter_oracle *o)
{
    for (int k = 0; k < 16; k++)
        free(o->wavelets[k / 8][k % 8]);
    for (size_t k = 0; k < SCATTER_ORACLE_KEPT; k++)
        free(o->kept[k]);
    free(o->low);
}

/* |x * filter| at pixels whose two coordinates are multiples of step; zero
 * elsewhere. */
static inline void scatter_oracle_modulus(const struct scatter_oracle *o, double *to,
                                          const double *from,
                                          const double complex *filter, size_t step)
{
    size_t h = o->height, w = o->width;
    for (size_t t = 0; t < h * w; t++)
        to[t] = 0;
    for (size_t y = 0; y < h; y += step)
        for (size_t x = 0; x < w; x += step) {
            double complex sum = 0;
            for (size_t a = 0; a < h; a++)
                for (size_t b = 0; b < w; b++)
                    sum +=
                        from[a * w + b] * filter[(y + h - a) % h * w + (x + w - b) % w];
            to[y * w + x] = cabs(sum);
        }
}

/* The low pass at every fourth pixel except the first and the last of a row or column.
 * If the image has only every step-th pixel, each is weighted by step^2. */
static inline void scatter_oracle_smooth(const struct scatter_oracle *o, double **to,
                                         const double *from, size_t step)
{
    size_t h = o->height, w = o->width;
    for (size_t y = 4; y < h - 4; y += 4)
        for (size_t x = 4; x < w - 4; x += 4) {
            double sum = 0;
            for (size_t a = 0; a < h; a += step)
                for (size_t b = 0; b < w; b += step)
                    sum +=
                        from[a * w + b] * o->low[(y + h - a) % h * w + (x + w - b) % w];
            *(*to)++ = sum * (double)(step * step);
        }
}

/* maps (81, (height - 8) / 4, (width - 8) / 4) of a channel that is x without its
 * margin. */
static inline void scatter_oracle_run(const struct scatter_oracle *o, double *maps,
                                      const double *x)
{
    size_t h = o->height, w = o->width, inner_h = h - 8, inner_w = w - 8;
    double *image = calloc(h * w, sizeof *image), *one = calloc(h * w, sizeof *one);
    double *two = calloc(h * w, sizeof *two), *second;
    for (size_t y = 0; y < h; y++)
        for (size_t i = 0; i < w; i++) {
            size_t ry = y < 4 ? 4 - y : y < 4 + inner_h ? y - 4 : 2 * inner_h + 2 - y;
            size_t rx = i < 4 ? 4 - i : i < 4 + inner_w ? i - 4 : 2 * inner_w + 2 - i;
            image[y * w + i] = x[ry * inner_w + rx];
        }
    scatter_oracle_smooth(o, &maps, image, 1);
    second = maps + 16 * (inner_h / 4) * (inner_w / 4);
    for (int l = 0; l < 8; l++) {
        scatter_oracle_modulus(o, one, image, o->wavelets[0][l], 1);
        scatter_oracle_smooth(o, &maps, one, 1);
        for (int m = 0; m < 8; m++) {
            scatter_oracle_modulus(o, two, one, o->wavelets[1][m], 2);
            scatter_oracle_smooth(o, &second, two, 2);
        }
    }
    for (int l = 0; l < 8; l++) {
        scatter_oracle_modulus(o, one, image, o->wavelets[1][l], 2);
        scatter_oracle_smooth(o, &maps, one, 2);
    }
    free(image);
    free(one);
    free(two);
}

/* As scatter_oracle_run, but computes the maps of each of the latest images once: a
 * derivative by differences evaluates the same record for each coordinate, and the
 * layers below a scattering have no parameters. */
static inline void scatter_oracle_maps(struct scatter_oracle *o, double *maps,
                                       const double *x)
{
    size_t inner_h = o->height - 8, inner_w = o->width - 8, pixels = inner_h * inner_w;
    size_t size = SCATTER_ORACLE_MAPS * (inner_h / 4) * (inner_w / 4);
    for (size_t k = 0; k < SCATTER_ORACLE_KEPT && o->kept[k] != NULL; k++)
        if (memcmp(o->kept[k], x, pixels * sizeof *x) == 0) {
            memcpy(maps, o->kept[k] + pixels, size * sizeof *maps);
            return;
        }
    scatter_oracle_run(o, maps, x);
    double **kept = &o->kept[o->runs++ % SCATTER_ORACLE_KEPT];
    free(*kept);
    *kept = calloc(pixels + size, sizeof **kept);
    memcpy(*kept, x, pixels * sizeof *x);
    memcpy(*kept + pixels, maps, size * sizeof *maps);
}

#endif
