/*
 * profile.h - the exact privacy profile of a Gaussian mechanism, and of any composition
 * of unsampled ones: with mu = sqrt(sum of (sensitivity / noise stddev)^2),
 *   delta(epsilon) = Q(epsilon/mu - mu/2) - exp(epsilon) Q(epsilon/mu + mu/2)
 * where Q is the upper tail of the standard normal (Balle and Wang 2018, Thm. 8). It is
 * Gaussian differential privacy of parameter mu, which composes exactly.
 *
 * mu >= 0; results are rounded up and never NaN. Threads: pure.
 */
#ifndef ACCOUNTANT_PRICING_PROFILE_H
#define ACCOUNTANT_PRICING_PROFILE_H

/* delta at epsilon >= 0. */
double profile_delta(double mu, double epsilon);

/* The least epsilon >= 0 whose profile_delta is at most delta in (0, 1). */
double profile_epsilon(double mu, double delta);

#endif
