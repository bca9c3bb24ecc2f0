/* The forward transform splits by frequency and leaves its result in bit-reversed
 * order; the inverse one starts from that order. So neither needs a permutation, and
 * products of spectra do not depend on the order. Each level of size m has its factors
 * exp(-2 pi i j / m) in a part of one table. The recursion goes depth first, so that
 * small levels stay in the cache. */
#include "accountant/numeric/fft.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/check.h"

struct fft {
    size_t n;
    double *cosine, *sine; /* level of size m: entries m/2 to m - 1, angle 2 pi j / m */
};

struct fft *fft_create(size_t n)
{
    static const double pi = 3.14159265358979323846;
    CHECK(n >= 1 && n <= (size_t)1 << 30 && (n & (n - 1)) == 0);
    struct fft *fft = calloc(1, sizeof *fft);
    if (fft == NULL)
        return NULL;
    fft->n = n;
    fft->cosine = calloc(n, sizeof *fft->cosine);
    fft->sine = calloc(n, sizeof *fft->sine);
    if (fft->cosine == NULL || fft->sine == NULL) {
        fft_destroy(fft);
        return NULL;
    }
    for (size_t j = 0; j < n / 2; j++) {
        double angle = 2 * pi * (double)j / (double)n;
        fft->cosine[n / 2 + j] = cos(angle);
        fft->sine[n / 2 + j] = sin(angle);
    }
    for (size_t i = n / 2; i-- > 1;) {
        fft->cosine[i] = fft->cosine[2 * i];
        fft->sine[i] = fft->sine[2 * i];
    }
    return fft;
}

void fft_destroy(struct fft *fft)
{
    if (fft == NULL)
        return;
    free(fft->cosine);
    free(fft->sine);
    free(fft);
}

/* Splits n places into the even and the odd frequencies, and each half in turn. */
static void scatter(const struct fft *fft, double *re, double *im, size_t n)
{
    size_t half = n / 2;
    const double *c = fft->cosine + half, *s = fft->sine + half;
    double *restrict ar = re, *restrict ai = im;
    double *restrict br = re + half, *restrict bi = im + half;
    for (size_t j = 0; j < half; j++) {
        double dr = ar[j] - br[j], di = ai[j] - bi[j];
        ar[j] += br[j];
        ai[j] += bi[j];
        br[j] = dr * c[j] + di * s[j];
        bi[j] = di * c[j] - dr * s[j];
    }
    if (half > 1) {
        scatter(fft, re, im, half);
        scatter(fft, re + half, im + half, half);
    }
}

static void gather(const struct fft *fft, double *re, double *im, size_t n)
{
    size_t half = n / 2;
    if (half > 1) {
        gather(fft, re, im, half);
        gather(fft, re + half, im + half, half);
    }
    const double *c = fft->cosine + half, *s = fft->sine + half;
    double *restrict ar = re, *restrict ai = im;
    double *restrict br = re + half, *restrict bi = im + half;
    for (size_t j = 0; j < half; j++) {
        double dr = br[j] * c[j] - bi[j] * s[j], di = bi[j] * c[j] + br[j] * s[j];
        br[j] = ar[j] - dr;
        bi[j] = ai[j] - di;
        ar[j] += dr;
        ai[j] += di;
    }
}

void fft_forward(const struct fft *fft, double *real, double *imaginary)
{
    if (fft->n > 1)
        scatter(fft, real, imaginary, fft->n);
}

void fft_inverse(const struct fft *fft, double *real, double *imaginary)
{
    if (fft->n > 1)
        gather(fft, real, imaginary, fft->n);
}

double fft_error(size_t n)
{
    /* In units of roundoff, DBL_EPSILON / 2, a level has 8 from its factor, sqrt(5)
     * from the product and 2 from two sums; rounded up that is 14. */
    static const double level = 7 * DBL_EPSILON;
    double levels = 0;
    for (; n > 1; n /= 2)
        levels++;
    return level * (levels + 1);
}

size_t fft_mirror(size_t place)
{
    if (place == 0)
        return 0;
    size_t block = 1;
    while (block <= place / 2)
        block *= 2;
    return 3 * block - 1 - place;
}
