/* Sums over all records with Gaussian noise (Mironov 2017): at order a one step costs a
 * (distance / noise multiplier)^2 / 2, and the distance is twice as large under
 * replace_one. */
#include "accountant/mechanisms/gaussian_steps.h"

const struct proof gaussian = {
    .takes_every_record = true,
    .run_rdp = gaussian_steps_rdp,
    .energy = gaussian_steps_energy,
    .privacy_loss = gaussian_steps_loss,
};
