/* The kind zcdp: nothing is known of a step except that it is rho-zCDP (Bun and Steinke
 * 2016, Def. 1.1), which is a divergence of rho a at every order a: that of a Gaussian
 * of noise multiplier 1 / sqrt(2 rho). At twice the distance it is four times rho
 * (their Prop. 1.9, of groups). A Gaussian's profile is no bound for it, so it has
 * none. */
#include <math.h>

#include "accountant/mechanisms/outside.h"
#include "accountant/mechanisms/round_up.h"

static double run_rdp(struct proof_scratch *scratch, const struct mechanism *m,
                      size_t run, uint64_t count, double order)
{
    (void)scratch;
    double ratio =
        round_up_next(proof_distance(m, run) / m->runs[run].noise_multiplier);
    double rho = round_up_mul(ratio, ratio) / 2;
    return round_up_mul(round_up_count(count), round_up_mul(rho, order));
}

/* The quotient and the root are each within half a unit in the last place, so two units
 * lower the result means a rho that is not below the declared one. */
static double noise_of(double rho)
{
    return nextafter(nextafter(sqrt(1 / (2 * rho)), 0), 0);
}

static const struct outside outside = {.parameter = "rho", .noise_of = noise_of};

const struct proof zcdp = {
    .takes_every_record = true,
    .run_rdp = run_rdp,
    .outside = &outside,
};
