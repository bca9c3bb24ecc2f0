#include "engine/nn/layers/wavelet.h"

#include <math.h>

/* Kymatio's constants: the deviation of scale 0, and the ratio of an envelope's width
 * across its direction to the width along it. */
static const double deviation = 0.8, width_across = 2.0;

/* Whole turns on either side; terms beyond them are below e^-57 of the greatest. */
enum { TURNS = 2 };

/* From here on e^-x is lost when added to 1 in float. */
static const double exponent_max = 100.0;

struct point { /* along the direction, and across it */
    double along, across;
};

static struct point turned(const struct wavelet_spectrum *spectrum, double y, double x)
{
    double sine = spectrum->sine, cosine = spectrum->cosine;
    return (struct point){y * cosine + x * sine, x * cosine - y * sine};
}

/* The spectrum of an envelope at frequency p from its middle. */
static double envelope(struct point p, double along)
{
    double across = along * width_across;
    double exponent = 0.5 * (p.along * p.along * along * along +
                             p.across * p.across * across * across);
    return exponent > exponent_max ? 0.0 : exp(-exponent);
}

/* The spectrum, summed over the shifts by whole turns, of an envelope that is moved by
 * xi along theta. */
static double folded(const struct wavelet_spectrum *spectrum, double y, double x,
                     double xi)
{
    double sum = 0.0;
    for (int v = -TURNS; v <= TURNS; v++)
        for (int u = -TURNS; u <= TURNS; u++) {
            struct point p = turned(spectrum, y + 2 * M_PI * v, x + 2 * M_PI * u);
            p.along -= xi;
            sum += envelope(p, spectrum->along);
        }
    return sum;
}

struct wavelet_spectrum wavelet_spectrum_of(struct wavelet wavelet, struct torus torus)
{
    double factor = (double)((size_t)1 << wavelet.scale);
    double theta = (3.0 - (double)wavelet.direction) * M_PI / WAVELET_DIRECTIONS;
    struct wavelet_spectrum spectrum = {.torus = torus,
                                        .sine = sin(theta),
                                        .cosine = cos(theta),
                                        .along = deviation * factor,
                                        .xi = 0.75 * M_PI / factor};
    spectrum.less = folded(&spectrum, 0, 0, spectrum.xi) / folded(&spectrum, 0, 0, 0.0);
    return spectrum;
}

double wavelet_spectrum_at(const struct wavelet_spectrum *spectrum, size_t y, size_t x)
{
    double fy = 2 * M_PI * (double)y / (double)spectrum->torus.height;
    double fx = 2 * M_PI * (double)x / (double)spectrum->torus.width;
    if (fy > M_PI)
        fy -= 2 * M_PI;
    if (fx > M_PI)
        fx -= 2 * M_PI;
    return folded(spectrum, fy, fx, spectrum->xi) -
           spectrum->less * folded(spectrum, fy, fx, 0.0);
}

double wavelet_low_pass(size_t distance, size_t length)
{
    double sum = 0.0, along = 2.0 * deviation;
    for (int turn = -2; turn <= 2; turn++) {
        double x = (double)distance + turn * (double)length;
        sum += exp(-x * x / (2 * along * along)) / (sqrt(2 * M_PI) * along);
    }
    return sum;
}
