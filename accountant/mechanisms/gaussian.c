/* Sums over all records with Gaussian noise (Mironov 2017): at order a one step costs a
 * (distance / noise multiplier)^2 / 2, and the distance is twice as large under
 * replace_one. */
#include "accountant/mechanisms/gaussian_steps.h"
#include "accountant/mechanisms/outside.h"

/* If batches are shuffled or fixed, a step is one use of each record: given which batch
 * it is in, its record moves one of the sums, and the others follow from the rest. */
static const char *const samplers[] = {"none", "shuffled", "fixed_batches", NULL};
static const struct outside outside = {.parameter = "noise_multiplier",
                                       .samplers = samplers};

const struct proof gaussian = {
    .takes_every_record = true,
    .run_rdp = gaussian_steps_rdp,
    .energy = gaussian_steps_energy,
    .privacy_loss = gaussian_steps_loss,
    .outside = &outside,
};
