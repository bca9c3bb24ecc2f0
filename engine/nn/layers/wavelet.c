#include "engine/nn/layers/wavelet.h"

#include <math.h>

/* Kymatio's: the deviation of scale 0, and how many times as wide an envelope is across
 * its direction. */
static const double deviation = 0.8, width_across = 2.0;

/* Whole turns on either side: what stands beyond is under e^-57 of the greatest. */
enum { TURNS = 2 };

/* e^-x is 0 in float beside 1 from here on. */
static const double exponent_max = 100.0;

struct point { /* along the direction, and across it */
    double along, across;
};

static struct point turned(double y, double x, double theta)
{
    return (struct point){y * cos(theta) + x * sin(theta),
                          x * cos(theta) - y * sin(theta)};
}

/* The spectrum of an envelope at frequency p from its middle. */
static double envelope(struct point p, double along)
{
    double across = along * width_across;
    double exponent = 0.5 * (p.along * p.along * along * along +
                             p.across * p.across * across * across);
    return exponent > exponent_max ? 0.0 : exp(-exponent);
}

/* The folded spectrum of an envelope that is moved by xi along theta. */
static double folded(double y, double x, double theta, double along, double xi)
{
    double sum = 0.0;
    for (int v = -TURNS; v <= TURNS; v++)
        for (int u = -TURNS; u <= TURNS; u++) {
            struct point p = turned(y + 2 * M_PI * v, x + 2 * M_PI * u, theta);
            p.along -= xi;
            sum += envelope(p, along);
        }
    return sum;
}

double wavelet_spectrum(struct wavelet wavelet, struct torus torus, size_t y, size_t x)
{
    double factor = (double)((size_t)1 << wavelet.scale);
    double theta = (3.0 - (double)wavelet.direction) * M_PI / WAVELET_DIRECTIONS;
    double along = deviation * factor, xi = 0.75 * M_PI / factor;
    double fy = 2 * M_PI * (double)y / (double)torus.height;
    double fx = 2 * M_PI * (double)x / (double)torus.width;
    if (fy > M_PI)
        fy -= 2 * M_PI;
    if (fx > M_PI)
        fx -= 2 * M_PI;
    double less = folded(0, 0, theta, along, xi) / folded(0, 0, theta, along, 0.0);
    return folded(fy, fx, theta, along, xi) - less * folded(fy, fx, theta, along, 0.0);
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
