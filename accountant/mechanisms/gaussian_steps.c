#include "accountant/mechanisms/gaussian_steps.h"

#include "accountant/mechanisms/round_up.h"

double gaussian_steps_rdp(struct proof_scratch *scratch, const struct mechanism *m,
                          size_t run, uint64_t count, double order)
{
    struct rdp *rdp = proof_scratch_rdp(scratch, run);
    rdp_set(rdp, m->relation, &m->runs[run]);
    return round_up_mul(round_up_count(count), rdp_at(rdp, order));
}

double gaussian_steps_terms(const struct mechanism *m, size_t run)
{
    return rdp_terms(m->relation, &m->runs[run]);
}

double gaussian_steps_energy(const struct mechanism *m, uint64_t steps)
{
    double sum = 0;
    for (size_t i = 0; i < m->run_count && steps > 0; i++) {
        uint64_t count = steps < m->runs[i].steps ? steps : m->runs[i].steps;
        double ratio =
            round_up_next(proof_distance(m, i) / m->runs[i].noise_multiplier);
        double energy = round_up_mul(round_up_count(count), round_up_mul(ratio, ratio));
        sum = round_up_add(sum, energy);
        steps -= count;
    }
    return sum;
}

struct privacy_loss_step gaussian_steps_loss(const struct mechanism *m, size_t run)
{
    return (struct privacy_loss_step){m->relation, m->runs[run].sampling_rate,
                                      m->runs[run].noise_multiplier};
}
