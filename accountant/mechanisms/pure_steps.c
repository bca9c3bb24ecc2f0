#include "accountant/mechanisms/pure_steps.h"

#include "accountant/mechanisms/round_up.h"

double pure_steps_epsilon(const struct mechanism *m, uint64_t steps)
{
    double sum = 0;
    for (size_t i = 0; i < m->run_count && steps > 0; i++) {
        uint64_t count = steps < m->runs[i].steps ? steps : m->runs[i].steps;
        double one = round_up_next(proof_distance(m, i) / m->runs[i].noise_multiplier);
        sum = round_up_add(sum, round_up_mul(round_up_count(count), one));
        steps -= count;
    }
    return sum;
}
