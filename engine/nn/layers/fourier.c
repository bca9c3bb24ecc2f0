#include "engine/nn/layers/fourier.h"

#include <math.h>
#include <stdlib.h>

#include "engine/parallel/vector_math.h"

struct term {
    float re, im;
};

/* Input n = second n1 + n2, output k = k1 + first k2. The first stage sums over n1, for
 * each n2 and k1, the second over n2. */
struct fourier {
    size_t first, second;
    struct term *inner; /* (second n2, first k1, first n1) */
    struct term *outer; /* (second k2, second n2) */
};

static size_t divisor_of(size_t length)
{
    size_t best = 1;
    for (size_t d = 2; d * d <= length; d++)
        if (length % d == 0)
            best = d;
    return best;
}

static struct term root(size_t power, size_t length)
{
    double angle = -2.0 * M_PI * (double)(power % length) / (double)length;
    return (struct term){(float)cos(angle), (float)sin(angle)};
}

struct fourier *fourier_create(size_t length)
{
    struct fourier *fourier = calloc(1, sizeof *fourier);
    if (fourier == NULL)
        return NULL;
    size_t a = divisor_of(length), b = length / a;
    fourier->first = a;
    fourier->second = b;
    fourier->inner = calloc(b * a * a, sizeof *fourier->inner);
    fourier->outer = calloc(b * b, sizeof *fourier->outer);
    if (fourier->inner == NULL || fourier->outer == NULL) {
        fourier_destroy(fourier);
        return NULL;
    }
    for (size_t n2 = 0; n2 < b; n2++)
        for (size_t k1 = 0; k1 < a; k1++)
            for (size_t n1 = 0; n1 < a; n1++)
                fourier->inner[(n2 * a + k1) * a + n1] =
                    root(k1 * (b * n1 + n2), length);
    for (size_t k2 = 0; k2 < b; k2++)
        for (size_t n2 = 0; n2 < b; n2++)
            fourier->outer[k2 * b + n2] = root(k2 * n2, b);
    return fourier;
}

void fourier_destroy(struct fourier *fourier)
{
    if (fourier == NULL)
        return;
    free(fourier->inner);
    free(fourier->outer);
    free(fourier);
}

size_t fourier_terms(const struct fourier *fourier)
{
    return fourier->first + fourier->second;
}

struct terms {
    const struct term *list;
    size_t count;
};

/* to (stride) = the sum over j of term j x row j of from, whose rows lie step floats
 * apart. */
VECTOR_CLONES
static void combine(struct planes to, struct planes from, size_t step,
                    struct terms terms, size_t stride)
{
    for (size_t c = 0; c < stride; c += FOURIER_LANES) {
        float re[FOURIER_LANES] = {0}, im[FOURIER_LANES] = {0};
        for (size_t j = 0; j < terms.count; j++) {
            const float *x = from.re + j * step + c, *y = from.im + j * step + c;
            struct term term = terms.list[j];
            for (size_t l = 0; l < FOURIER_LANES; l++) {
                re[l] += x[l] * term.re - y[l] * term.im;
                im[l] += x[l] * term.im + y[l] * term.re;
            }
        }
        for (size_t l = 0; l < FOURIER_LANES; l++) {
            to.re[c + l] = re[l];
            to.im[c + l] = im[l];
        }
    }
}

static struct planes from_row(struct planes planes, size_t row, size_t stride)
{
    return (struct planes){planes.re + row * stride, planes.im + row * stride};
}

void fourier_columns(const struct fourier *fourier, struct planes to,
                     struct planes from, size_t stride, struct planes scratch)
{
    size_t a = fourier->first, b = fourier->second;
    for (size_t n2 = 0; n2 < b; n2++)
        for (size_t k1 = 0; k1 < a; k1++)
            combine(from_row(scratch, k1 * b + n2, stride), from_row(from, n2, stride),
                    b * stride, (struct terms){fourier->inner + (n2 * a + k1) * a, a},
                    stride);
    for (size_t k2 = 0; k2 < b; k2++)
        for (size_t k1 = 0; k1 < a; k1++)
            combine(from_row(to, k1 + a * k2, stride),
                    from_row(scratch, k1 * b, stride), stride,
                    (struct terms){fourier->outer + k2 * b, b}, stride);
}
