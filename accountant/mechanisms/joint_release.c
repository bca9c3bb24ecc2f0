/* A vector of whole numbers over all records with Gaussian noise (Mironov 2017). The
 * noise multiplier is relative to the distance of neighbours' vectors under the
 * relation that holds, so the distance is 1 under both: at order a one release costs
 * 1 / (2 noise_multiplier^2) times a. Counts of a vector's disjoint bins are sqrt 2
 * apart under replace_one, not 2; the code that releases them gives the distance
 * (accounting.md 1.11). */
#include "accountant/mechanisms/gaussian_steps.h"

#include "accountant/mechanisms/round_up.h"

static double distance(const struct mechanism *m, size_t run)
{
    (void)m;
    (void)run;
    return 1;
}

/* The formula of zero_out is that of distance 1. */
static double run_rdp(struct proof_scratch *scratch, const struct mechanism *m,
                      size_t run, uint64_t count, double order)
{
    rdp_set(&scratch->rdp, RELATION_ZERO_OUT, &m->runs[run]);
    return round_up_mul(round_up_count(count), rdp_at(&scratch->rdp, order));
}

static struct privacy_loss_step privacy_loss(const struct mechanism *m, size_t run)
{
    return (struct privacy_loss_step){RELATION_ZERO_OUT, 1,
                                      m->runs[run].noise_multiplier};
}

const struct proof joint_release = {
    .takes_every_record = true,
    .distance = distance,
    .run_rdp = run_rdp,
    .energy = gaussian_steps_energy,
    .privacy_loss = privacy_loss,
};
