/* Sums over Poisson batches with Gaussian noise (Mironov, Talwar, Zhang 2019), under
 * both relations: add-or-remove-one curves bound zero_out, and the dominating pair of
 * accounting.md 1.4 bounds replace_one. Runs may differ in rate and noise, as long as
 * both were fixed before the first step. */
#include "accountant/mechanisms/gaussian_steps.h"
#include "accountant/mechanisms/outside.h"

static const char *const samplers[] = {"poisson", NULL};
static const struct outside outside = {.parameter = "noise_multiplier",
                                       .samplers = samplers,
                                       .has_rate = true,
                                       .by_addition = true};

const struct proof sampled_gaussian = {
    .has_rate = true,
    .run_rdp = gaussian_steps_rdp,
    .run_terms = gaussian_steps_terms,
    .energy = gaussian_steps_energy,
    .privacy_loss = gaussian_steps_loss,
    .outside = &outside,
};
