/*
 * calibration.h - the least noise, the most steps and the highest rate that still fit.
 *
 * The caller's function of a mechanism decides what fits; it must never turn from
 * fitting to not fitting when noise grows or steps and rate fall. The function itself
 * has returned for every answer that it fits, so the search never overspends.
 *
 * Threads: pure.
 */
#ifndef ACCOUNTANT_PRICING_CALIBRATION_H
#define ACCOUNTANT_PRICING_CALIBRATION_H

#include <stdbool.h>

#include "base/mechanism.h"

/* <= 0 if m fits; its size only guides the search. Infinities are allowed, NaN is
 * not. */
typedef double calibration_excess(void *context, const struct mechanism *m);

struct calibration {
    calibration_excess *excess;
    void *context;
};

/* The least noise multiplier of the first run, to 1e-6 relative, at which from fits,
 * with the multipliers of all runs scaled by one factor and all in [RDP_NOISE_MIN,
 * RDP_NOISE_MAX]. Returns false and leaves *noise if there is none. */
bool calibration_noise(double *noise, const struct mechanism *from,
                       struct calibration c);

/* Like calibration_noise, with a search that begins at near, which is likely to fit
 * and little above the answer: for costs that are slow to compute if there is little
 * noise. */
bool calibration_noise_near(double *noise, double near, const struct mechanism *from,
                            struct calibration c);

/* Returns the least noise multiplier of the first run, to 1e-4 relative, at which from
 * fits: for costs so slow to compute that few can be. At the multiplier fitting it
 * fits, with this excess; near is likely to be close to the answer. */
double calibration_noise_below(double fitting, double excess, double near,
                               const struct mechanism *from, struct calibration c);

/* The most steps, below 2^62, of the only run of from that fit; 0 if not even one. */
uint64_t calibration_steps(const struct mechanism *from, struct calibration c);

/* The highest sampling rate of all runs of from, to 1e-6 relative, at which it fits; 0
 * if not even at 1e-12. */
double calibration_rate(const struct mechanism *from, struct calibration c);

/* to = from with its multipliers scaled until the first run's is noise. to must have
 * been copied from from. */
void calibration_scale(struct mechanism *to, const struct mechanism *from,
                       double noise);

#endif
