/* Spectra are stored transposed, with frequencies of the columns' axis as rows. The
 * transform of an image is then a transform of the columns, a transposition, and again
 * a transform of the columns. The convolution with a wavelet is a product of spectra.
 * For output at every second pixel the inverse transform folds this product, which
 * gives the same values as dropping pixels afterwards. */
#include "engine/nn/layers/scattering.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "engine/nn/layers/fourier.h"
#include "engine/nn/rows.h"
#include "engine/parallel/vector_math.h"

/* Images at every pixel, and at every second one. */
struct level {
    size_t height, width;
    struct fourier *down, *across; /* of these lengths */
    float *rows;    /* (out_height, height): the low pass along a column */
    float *columns; /* (width, stride of out_width): along a row */
};

/* Each wavelet (directions, width, stride of height), divided by the number of pixels.
 * The thread that transforms the first image fills them. Most networks are compiled
 * only to compute their cost, or wait in a queue, and memory that was never written
 * takes no room. */
struct wavelets {
    float *of[WAVELET_SCALES];
    pthread_mutex_t lock; /* held while they are filled */
    atomic_bool filled;   /* once true, nothing changes */
};

struct scattering {
    size_t height, width, out_height, out_width;
    struct level levels[WAVELET_SCALES];
    struct wavelets *wavelets;
};

/* (height, width) of an image, or (width, height) of a spectrum. */
static size_t plane_size(const struct level *level)
{
    size_t image = level->height * fourier_stride(level->width);
    size_t turned = level->width * fourier_stride(level->height);
    return image > turned ? image : turned;
}

/* ---- tables ---- */

static float *floats(size_t count)
{
    return calloc(count, sizeof(float));
}

/* The layout of the weights of phi, from each of length pixels to each of count
 * outputs. Outputs are step pixels apart; output_stride and pixel_stride are the floats
 * between the weights of neighbouring outputs and pixels. */
struct low_pass {
    size_t length, count, step, output_stride, pixel_stride;
};

static void fill_low_pass(float *weights, struct low_pass pass)
{
    size_t spacing = SCATTERING_STEP / pass.step; /* distance in pixels of the image */
    for (size_t o = 0; o < pass.count; o++)
        for (size_t a = 0; a < pass.length; a++) {
            size_t at = (o + 1) * pass.step;
            size_t apart = at > a ? at - a : a - at;
            double value = (double)spacing *
                           wavelet_low_pass(apart * spacing, pass.length * spacing);
            weights[o * pass.output_stride + a * pass.pixel_stride] = (float)value;
        }
}

static void make_level(struct level *level, const struct scattering *s, size_t scale)
{
    size_t between = (size_t)1 << scale, stride = fourier_stride(s->out_width);
    level->height = (s->height + 2 * SCATTERING_STEP) / between;
    level->width = (s->width + 2 * SCATTERING_STEP) / between;
    level->down = fourier_create(level->height);
    level->across = fourier_create(level->width);
    level->rows = floats(s->out_height * level->height);
    level->columns = floats(level->width * stride);
    size_t step = SCATTERING_STEP / between;
    if (level->rows != NULL)
        fill_low_pass(level->rows, (struct low_pass){level->height, s->out_height, step,
                                                     level->height, 1});
    if (level->columns != NULL)
        fill_low_pass(level->columns,
                      (struct low_pass){level->width, s->out_width, step, 1, stride});
}

static bool is_whole(const struct level *level)
{
    return level->down != NULL && level->across != NULL && level->rows != NULL &&
           level->columns != NULL;
}

static void fill_wavelet(float *to, const struct level *level, struct wavelet wavelet)
{
    size_t height = level->height, width = level->width;
    size_t stride = fourier_stride(height);
    double pixels = (double)(height * width);
    const struct wavelet_spectrum spectrum =
        wavelet_spectrum_of(wavelet, (struct torus){height, width});
    for (size_t x = 0; x < width; x++)
        for (size_t y = 0; y < height; y++)
            to[x * stride + y] = (float)(wavelet_spectrum_at(&spectrum, y, x) / pixels);
}

static size_t wavelet_size(const struct level *level)
{
    return level->width * fourier_stride(level->height);
}

static void fill_wavelets(struct wavelets *wavelets, const struct level *level)
{
    size_t size = wavelet_size(level);
    pthread_mutex_lock(&wavelets->lock);
    if (!atomic_load_explicit(&wavelets->filled, memory_order_relaxed))
        for (size_t k = 0; k < WAVELET_SCALES; k++)
            for (size_t l = 0; l < WAVELET_DIRECTIONS; l++)
                fill_wavelet(wavelets->of[k] + l * size, level, (struct wavelet){k, l});
    atomic_store_explicit(&wavelets->filled, true, memory_order_release);
    pthread_mutex_unlock(&wavelets->lock);
}

static void destroy_wavelets(struct wavelets *wavelets)
{
    if (wavelets == NULL)
        return;
    for (size_t k = 0; k < WAVELET_SCALES; k++)
        free(wavelets->of[k]);
    pthread_mutex_destroy(&wavelets->lock);
    free(wavelets);
}

/* NULL: no memory. */
static struct wavelets *create_wavelets(const struct level *level)
{
    struct wavelets *wavelets = calloc(1, sizeof *wavelets);
    bool whole = wavelets != NULL;
    if (!whole)
        return NULL;
    pthread_mutex_init(&wavelets->lock, NULL);
    for (size_t k = 0; k < WAVELET_SCALES; k++) {
        wavelets->of[k] = floats(WAVELET_DIRECTIONS * wavelet_size(level));
        whole = whole && wavelets->of[k] != NULL;
    }
    if (whole)
        return wavelets;
    destroy_wavelets(wavelets);
    return NULL;
}

struct scattering *scattering_create(size_t height, size_t width)
{
    struct scattering *s = calloc(1, sizeof *s);
    bool whole = s != NULL;
    if (!whole)
        return NULL;
    s->height = height;
    s->width = width;
    s->out_height = height / SCATTERING_STEP;
    s->out_width = width / SCATTERING_STEP;
    for (size_t k = 0; k < WAVELET_SCALES; k++) {
        make_level(&s->levels[k], s, k);
        whole = whole && is_whole(&s->levels[k]);
    }
    s->wavelets = create_wavelets(&s->levels[0]);
    if (whole && s->wavelets != NULL)
        return s;
    scattering_destroy(s);
    return NULL;
}

void scattering_destroy(struct scattering *scattering)
{
    if (scattering == NULL)
        return;
    for (size_t k = 0; k < WAVELET_SCALES; k++) {
        struct level *level = &scattering->levels[k];
        fourier_destroy(level->down);
        fourier_destroy(level->across);
        free(level->rows);
        free(level->columns);
    }
    destroy_wavelets(scattering->wavelets);
    free(scattering);
}

size_t scattering_positions(const struct scattering *scattering)
{
    return scattering->out_height * scattering->out_width;
}

/* A complex multiplication and addition are eight operations. */
static double transform_flops(const struct level *level)
{
    double pixels = (double)(level->height * level->width);
    return 8.0 * pixels *
           (double)(fourier_terms(level->down) + fourier_terms(level->across));
}

double scattering_flops(const struct scattering *scattering)
{
    const double directions = WAVELET_DIRECTIONS;
    return (1 + 2 * directions) * transform_flops(&scattering->levels[0]) +
           (directions + directions * directions) *
               transform_flops(&scattering->levels[1]);
}

/* ---- the transform of a channel ---- */

struct work {
    const struct scattering *s;
    float *map;                      /* the map between two filters */
    struct planes image, modulus;    /* spectra of the channel, and of a modulus */
    struct planes one, other, spare; /* scratch of the transforms */
};

enum { PLANES = 11 };

static size_t room(const struct scattering *s)
{
    return rows_stride(plane_size(&s->levels[0]));
}

size_t scattering_scratch(const struct scattering *scattering)
{
    return PLANES * room(scattering);
}

static struct planes planes_at(float **scratch, size_t size)
{
    struct planes planes = {*scratch, *scratch + size};
    *scratch += 2 * size;
    return planes;
}

static struct work work_in(const struct scattering *s, float *scratch)
{
    size_t size = room(s);
    struct work work = {.s = s, .map = scratch};
    scratch += size;
    work.image = planes_at(&scratch, size);
    work.modulus = planes_at(&scratch, size);
    work.one = planes_at(&scratch, size);
    work.other = planes_at(&scratch, size);
    work.spare = planes_at(&scratch, size);
    return work;
}

/* to (columns, stride of rows) = from (rows, stride of columns), transposed; the
 * padding is zero. */
static void turn(float *to, const float *from, size_t rows, size_t columns)
{
    size_t to_stride = fourier_stride(rows), stride = fourier_stride(columns);
    for (size_t x = 0; x < columns; x++) {
        for (size_t y = 0; y < rows; y++)
            to[x * to_stride + y] = from[y * stride + x];
        for (size_t y = rows; y < to_stride; y++)
            to[x * to_stride + y] = 0.0F;
    }
}

static void turn_planes(struct planes to, struct planes from, size_t rows,
                        size_t columns)
{
    turn(to.re, from.re, rows, columns);
    turn(to.im, from.im, rows, columns);
}

/* Transforms work->map, an image at every pixel. */
static void transform(const struct work *work, struct planes spectrum)
{
    const struct level *level = &work->s->levels[0];
    struct planes from = {work->map, work->spare.im};
    struct planes scratch = work->other;
    memset(from.im, 0, room(work->s) * sizeof *from.im);
    fourier_columns(level->down, work->one, from, fourier_stride(level->width),
                    scratch);
    turn_planes(work->other, work->one, level->height, level->width);
    fourier_columns(level->across, spectrum, work->other, fourier_stride(level->height),
                    work->one);
}

/* to (height, stride) = spectrum x wavelet, folded by between along rows and
 * columns. */
VECTOR_CLONES
static void filter(float *restrict to, const float *restrict spectrum,
                   const float *restrict wavelet, const struct level *level,
                   size_t between)
{
    size_t rows = level->width, columns = level->height;
    size_t to_stride = fourier_stride(columns);
    size_t stride = fourier_stride(columns * between);
    memset(to, 0, rows * to_stride * sizeof *to);
    for (size_t x = 0; x < rows * between; x++)
        for (size_t part = 0; part < between; part++) {
            float *sum = to + x % rows * to_stride;
            size_t at = x * stride + part * columns;
            for (size_t y = 0; y < columns; y++)
                sum[y] += spectrum[at + y] * wavelet[at + y];
        }
}

VECTOR_CLONES
static void take_modulus(float *restrict to, struct planes from, size_t count)
{
    for (size_t j = 0; j < count; j++)
        to[j] = sqrtf(from.re[j] * from.re[j] + from.im[j] * from.im[j]);
}

/* work->map = |x * psi| at every pixel or every second one; spectrum is that of x. Real
 * and imaginary parts are exchanged in the input, which makes the transforms inverse
 * ones. They need no exchange in the output, because the modulus is the same. */
static void convolve(const struct work *work, struct planes spectrum,
                     const float *wavelet, size_t scale)
{
    const struct level *level = &work->s->levels[scale];
    size_t between = (size_t)1 << scale;
    size_t turned = fourier_stride(level->height),
           stride = fourier_stride(level->width);
    filter(work->one.im, spectrum.re, wavelet, level, between);
    filter(work->one.re, spectrum.im, wavelet, level, between);
    fourier_columns(level->across, work->other, work->one, turned, work->spare);
    turn_planes(work->one, work->other, level->width, level->height);
    fourier_columns(level->down, work->other, work->one, stride, work->spare);
    take_modulus(work->map, work->other, level->height * stride);
}

struct factor {
    const float *floats; /* (rows, stride) */
    size_t rows, columns, stride;
};

/* to (left.rows, right.stride) = left x right. */
VECTOR_CLONES
static void multiply(float *restrict to, struct factor left, struct factor right)
{
    for (size_t i = 0; i < left.rows; i++)
        for (size_t c = 0; c < right.stride; c += FOURIER_LANES) {
            float sum[FOURIER_LANES] = {0};
            for (size_t j = 0; j < left.columns; j++) {
                const float *x = right.floats + j * right.stride + c;
                float weight = left.floats[i * left.stride + j];
                for (size_t l = 0; l < FOURIER_LANES; l++)
                    sum[l] += weight * x[l];
            }
            memcpy(to + i * right.stride + c, sum, sizeof sum);
        }
}

/* Writes the next map = work->map * phi. */
static void smooth(const struct work *work, size_t scale, float **maps)
{
    const struct scattering *s = work->s;
    const struct level *level = &s->levels[scale];
    size_t stride = fourier_stride(level->width), out = fourier_stride(s->out_width);
    float *across = work->one.re, *both = work->one.im;
    multiply(across,
             (struct factor){level->rows, s->out_height, level->height, level->height},
             (struct factor){work->map, level->height, level->width, stride});
    multiply(both, (struct factor){across, s->out_height, level->width, stride},
             (struct factor){level->columns, level->width, s->out_width, out});
    for (size_t y = 0; y < s->out_height; y++, *maps += s->out_width)
        memcpy(*maps, both + y * out, s->out_width * sizeof **maps);
}

/* Returns the pixel at place `at` of a side that is extended by reflection. */
static size_t reflected(size_t at, size_t side)
{
    if (at < SCATTERING_STEP)
        return SCATTERING_STEP - at;
    at -= SCATTERING_STEP;
    return at < side ? at : 2 * (side - 1) - at;
}

static void continue_image(const struct work *work, struct scattering_channel channel)
{
    const struct scattering *s = work->s;
    const struct level *level = &s->levels[0];
    size_t stride = fourier_stride(level->width);
    memset(work->map, 0, level->height * stride * sizeof *work->map);
    for (size_t y = 0; y < level->height; y++)
        for (size_t x = 0; x < level->width; x++) {
            size_t t = reflected(y, s->height) * s->width + reflected(x, s->width);
            work->map[y * stride + x] =
                channel.first[t * channel.step] - channel.centre;
        }
}

static const float *wavelet_of(const struct scattering *s, size_t scale, size_t l)
{
    return s->wavelets->of[scale] + l * wavelet_size(&s->levels[0]);
}

void scattering_run(const struct scattering *scattering, float *maps,
                    struct scattering_channel channel, float *scratch)
{
    const struct work work = work_in(scattering, scratch);
    size_t positions = scattering_positions(scattering);
    float *first = maps + positions, *second;
    if (!atomic_load_explicit(&scattering->wavelets->filled, memory_order_acquire))
        fill_wavelets(scattering->wavelets, &scattering->levels[0]);
    continue_image(&work, channel);
    transform(&work, work.image);
    smooth(&work, 0, &maps);
    second = first + 2 * WAVELET_DIRECTIONS * positions;
    for (size_t l = 0; l < WAVELET_DIRECTIONS; l++) {
        convolve(&work, work.image, wavelet_of(scattering, 0, l), 0);
        smooth(&work, 0, &first);
        transform(&work, work.modulus);
        for (size_t m = 0; m < WAVELET_DIRECTIONS; m++) {
            convolve(&work, work.modulus, wavelet_of(scattering, 1, m), 1);
            smooth(&work, 1, &second);
        }
    }
    for (size_t l = 0; l < WAVELET_DIRECTIONS; l++) {
        convolve(&work, work.image, wavelet_of(scattering, 1, l), 1);
        smooth(&work, 1, &first);
    }
}
