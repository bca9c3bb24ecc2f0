/* A question about a job is answered in one of three ways, and the least answer counts:
 *
 *   plain    what is known of its kind of mechanism without Renyi divergence: an exact
 *            profile, or a pure epsilon
 *   Renyi    the best real order of its divergence, converted
 *   losses   its composed privacy losses, for certificates (figure_..._pld)
 *
 * The inverse questions (how much noise, how many steps, which rate) search with the
 * answer itself: calibration calls a function named _excess to get how far a mechanism
 * is from fitting. */
#include "accountant/pricing/figures.h"

#include <math.h>
#include <stdbool.h>

#include "accountant/mechanisms/round_up.h"
#include "accountant/pricing/calibration.h"
#include "accountant/pricing/conversion.h"
#include "accountant/pricing/cost.h"
#include "accountant/pricing/order.h"
#include "accountant/pricing/pld.h"
#include "accountant/pricing/profile.h"
#include "base/check.h"

/* A mechanism being priced, and the question it is priced for. */
struct price {
    const struct mechanism *m;
    uint64_t steps;
    double delta;       /* what the question allows, less the noise's share */
    double epsilon;     /* what may be spent */
    double effort;      /* what composing losses may still take (pld.h) */
    double last_effort; /* what the last composition took */
    double terms;       /* that the search has taken so far */
    double terms_max;   /* of one order, for noise that may be tried */
    double order;       /* the best order of the mechanism before; 0: none is known */
    enum status status; /* of the first composition that failed */
    struct error error; /* its reason */
    struct proof_scratch scratch;
};

enum status figure_check_delta(double delta, struct error *error)
{
    if (!(delta > 2 * LEDGER_NOISE_DELTA && delta < 1))
        return error_set(error, ST_INVALID, "delta outside (2^-39, 1)");
    return ST_OK;
}

static enum status target_check(const struct mechanism *m, double epsilon, double delta,
                                struct error *error)
{
    enum status status = cost_supports(m, error);
    if (status == ST_OK && !(epsilon > 0 && isfinite(epsilon)))
        status = error_set(error, ST_INVALID, "epsilon is a finite number above 0");
    return status == ST_OK ? figure_check_delta(delta, error) : status;
}

/* Returns whether the profile without sampling is the mechanism's own, and so exact. */
static bool unsampled(const struct mechanism *m)
{
    if (proof_of(m->kind)->energy == NULL)
        return false;
    for (size_t i = 0; i < m->run_count; i++) {
        if (m->runs[i].sampling_rate != 1)
            return false;
    }
    return true;
}

/* The mu of the profile without sampling, rounded up. */
static double profile_mu(const struct mechanism *m, uint64_t steps)
{
    return round_up_next(sqrt(proof_of(m->kind)->energy(m, steps)));
}

/* These compute epsilon at delta, and delta at epsilon, without Renyi divergence. */
static double plain_epsilon(const struct mechanism *m, uint64_t steps, double delta)
{
    const struct proof *proof = proof_of(m->kind);
    if (proof->energy != NULL)
        return profile_epsilon(profile_mu(m, steps), delta);
    return proof->pure_epsilon != NULL ? proof->pure_epsilon(m, steps)
                                       : (double)INFINITY;
}

static double plain_delta(const struct mechanism *m, uint64_t steps, double epsilon)
{
    const struct proof *proof = proof_of(m->kind);
    if (proof->energy != NULL)
        return profile_delta(profile_mu(m, steps), epsilon);
    return proof->pure_epsilon != NULL && epsilon >= proof->pure_epsilon(m, steps) ? 0
                                                                                   : 1;
}

static double epsilon_at(void *context, double order)
{
    struct price *p = context;
    p->terms += cost_terms(p->m);
    double rdp = cost_of(&p->scratch, p->m, p->steps, order);
    return conversion_epsilon(rdp, order, p->delta);
}

/* Sampling only lowers the profile (it mixes the second distribution into the first,
 * and the profile is convex), so the unsampled one bounds every rate and is exact at
 * 1. */
static struct figure figure_of(struct price *p)
{
    if (p->steps == 0)
        return (struct figure){0};
    if (!p->m->prefixes_priced)
        p->steps = mechanism_steps(p->m);
    struct figure figure = {plain_epsilon(p->m, p->steps, p->delta), 0};
    if (unsampled(p->m))
        return figure;
    struct order_choice best = order_best(epsilon_at, p);
    if (best.value < figure.epsilon)
        figure = (struct figure){best.value, best.order};
    /* The search follows the conversion, whose valley may be far from the orders at
     * which the total variation shows that epsilon is 0. */
    if (figure.epsilon > 0 && epsilon_at(p, CONVERSION_ORDER_MIN) == 0)
        figure = (struct figure){0, CONVERSION_ORDER_MIN};
    return figure;
}

enum status figure_epsilon(struct figure *figure, const struct mechanism *m,
                           uint64_t steps, double delta, struct error *error)
{
    enum status status = cost_supports(m, error);
    if (status == ST_OK)
        status = figure_check_delta(delta, error);
    if (status != ST_OK)
        return status;
    if (steps > mechanism_steps(m))
        return error_set(error, ST_INVALID, "more steps than the mechanism has");
    struct price p = {.m = m, .steps = steps, .delta = delta - LEDGER_NOISE_DELTA};
    proof_scratch_init(&p.scratch, m->run_count);
    *figure = figure_of(&p);
    proof_scratch_fini(&p.scratch);
    return ST_OK;
}

/* The log of delta as it is converted at order. It is convex in the order, as (a - 1)
 * epsilon is (order.h). */
static double delta_log_at(void *context, double order)
{
    struct price *p = context;
    double beta = order - 1, rdp = cost_of(&p->scratch, p->m, p->steps, order);
    double rest = beta * (log(beta) - log(order)) - log(order);
    return isinf(rdp) ? rdp : beta * (rdp - p->epsilon) + rest;
}

enum status figure_delta(double *delta, const struct mechanism *m, uint64_t steps,
                         double epsilon, struct error *error)
{
    enum status status = cost_supports(m, error);
    if (status != ST_OK)
        return status;
    if (!(epsilon >= 0))
        return error_set(error, ST_INVALID, "epsilon is a number of at least 0");
    if (steps > mechanism_steps(m))
        return error_set(error, ST_INVALID, "more steps than the mechanism has");
    struct price p = {.m = m, .steps = steps, .epsilon = epsilon};
    if (steps > 0 && !m->prefixes_priced)
        p.steps = mechanism_steps(m);
    double least = plain_delta(m, p.steps, epsilon);
    if (!unsampled(m)) {
        double order = isinf(epsilon) ? 2 : order_best(delta_log_at, &p).order;
        double rdp = cost_of(&p.scratch, m, p.steps, order);
        least = fmin(least, conversion_delta(rdp, order, epsilon));
        rdp = cost_of(&p.scratch, m, p.steps, CONVERSION_ORDER_MIN);
        least = fmin(least, conversion_delta(rdp, CONVERSION_ORDER_MIN, epsilon));
    }
    *delta = steps == 0 ? 0 : fmin(1, round_up_add(least, LEDGER_NOISE_DELTA));
    return ST_OK;
}

enum status figure_epsilon_pld(struct figure *figure, const struct mechanism *m,
                               uint64_t steps, double delta, struct error *error)
{
    struct figure plain;
    double epsilon = INFINITY, effort = PLD_EFFORT_MAX;
    enum status status = figure_epsilon(&plain, m, steps, delta, error);
    if (status == ST_OK && plain.epsilon > 0 && !unsampled(m))
        status = pld_epsilon_within(&epsilon, &effort, m, steps,
                                    delta - LEDGER_NOISE_DELTA, error);
    if (status == ST_OK)
        *figure = epsilon < plain.epsilon ? (struct figure){epsilon, 0} : plain;
    return status;
}

/* Returns how far epsilon is from what may be spent. The logarithm only guides the
 * search; the comparison decides. */
static double epsilon_over(double epsilon, double allowed)
{
    double ratio = log(epsilon / allowed);
    return epsilon <= allowed ? fmin(0, ratio) : fmax(0x1p-60, ratio);
}

enum status figure_affords(const struct mechanism *m, struct error *error)
{
    enum status status = cost_supports(m, error);
    if (status != ST_OK || cost_terms(m) <= FIGURE_TERMS_MAX)
        return status;
    return error_set(error, ST_INVALID,
                     "%zu noise levels with so little noise take too much work to "
                     "price: use fewer levels, or more noise",
                     m->run_count);
}

/* Returns an upper bound on epsilon that is about as tight as needed to compare it
 * with what may be spent, from few orders: the best order moves little from one
 * mechanism of a search to the next. Every order gives an upper bound, so what is
 * found to fit fits. */
static double epsilon_near(struct price *p)
{
    static const double order_first = 8;
    if (cost_terms(p->m) > p->terms_max || p->terms > FIGURE_SEARCH_TERMS_MAX)
        return INFINITY;
    double plain = plain_epsilon(p->m, p->steps, p->delta);
    if (plain <= p->epsilon || unsampled(p->m))
        return plain;
    double near = p->order > 0 ? p->order : order_first;
    struct order_choice best = order_near(epsilon_at, p, near, p->epsilon);
    p->order = best.order;
    if (best.value > p->epsilon && epsilon_at(p, CONVERSION_ORDER_MIN) == 0)
        return 0;
    return fmin(plain, best.value);
}

static double epsilon_excess(void *context, const struct mechanism *m)
{
    struct price *p = context;
    p->m = m;
    p->steps = mechanism_steps(m);
    return epsilon_over(epsilon_near(p), p->epsilon);
}

/* Composes the losses of m, with the effort of one figure, which the figure itself
 * will be allowed. */
static double composed_epsilon(struct price *p, const struct mechanism *m)
{
    double epsilon = INFINITY, effort = PLD_EFFORT_MAX;
    p->status = pld_epsilon_within(&epsilon, &effort, m, mechanism_steps(m), p->delta,
                                   &p->error);
    p->last_effort = PLD_EFFORT_MAX - effort;
    p->effort -= p->last_effort;
    return p->status == ST_OK ? epsilon : (double)INFINITY;
}

/* Once the effort is used up, no other noise fits, so the search ends at the least noise that was seen to fit. */
static double pld_excess(void *context, const struct mechanism *m)
{
    struct price *p = context;
    bool may = p->status == ST_OK && p->effort >= p->last_effort &&
               cost_terms(m) <= FIGURE_TERMS_MAX;
    return epsilon_over(may ? composed_epsilon(p, m) : (double)INFINITY, p->epsilon);
}

enum { GROUPS_MAX = 8 }; /* of runs, in a guess */

/* Returns one run that costs about as much as the runs of m from first to last: the
 * same energy at the mean rate. */
static struct mechanism_run mean_run(const struct mechanism *m, size_t first,
                                     size_t last)
{
    double steps = 0, energy = 0, rate = 0;
    for (size_t i = first; i < last; i++) {
        const struct mechanism_run *run = &m->runs[i];
        double count = (double)run->steps;
        steps += count;
        energy += count / run->noise_multiplier / run->noise_multiplier;
        rate += count * run->sampling_rate;
    }
    return (struct mechanism_run){.sampling_rate = fmin(rate / steps, 1),
                                  .noise_multiplier = sqrt(steps / energy),
                                  .steps = (uint64_t)steps};
}

/* Returns how far the bound without Renyi divergence is from what may be spent. */
static double plain_excess(void *context, const struct mechanism *m)
{
    struct price *p = context;
    return epsilon_over(plain_epsilon(m, mechanism_steps(m), p->delta), p->epsilon);
}

/* Finds about the noise that m needs, by something that is quick to compute: a
 * mechanism of fewer runs, or the bound without Renyi divergence. Returns false if
 * there is neither. */
static bool guess_noise(double *noise, const struct mechanism *m, struct price *p)
{
    if (proof_of(m->kind)->path_rdp != NULL)
        return calibration_noise(noise, m, (struct calibration){plain_excess, p});
    if (m->run_count <= GROUPS_MAX || proof_of(m->kind)->privacy_loss == NULL)
        return false;
    struct mechanism_run groups[GROUPS_MAX];
    for (size_t i = 0; i < GROUPS_MAX; i++)
        groups[i] = mean_run(m, i * m->run_count / GROUPS_MAX,
                             (i + 1) * m->run_count / GROUPS_MAX);
    struct mechanism few = *m;
    few.run_count = GROUPS_MAX;
    few.runs = groups;
    double share = groups[0].noise_multiplier / m->runs[0].noise_multiplier;
    p->terms_max = FIGURE_TERMS_MAX * GROUPS_MAX / (double)m->run_count;
    bool found =
        calibration_noise(noise, &few, (struct calibration){epsilon_excess, p});
    p->terms_max = FIGURE_TERMS_MAX;
    if (found)
        *noise /= share;
    return found;
}

/* Raises the noise until the figure, which evaluates other orders than the search did,
 * is within what may be spent. The two differ by 1e-9 or so. */
static enum status check_noise(double *noise, const struct mechanism *m,
                               struct price *p)
{
    enum { TRIES = 8 };
    double more = 1e-7;
    enum status status = ST_INVALID;
    struct mechanism trial;
    mechanism_copy(&trial, m);
    for (int i = 0; i < TRIES && status != ST_OK; i++, more *= 4) {
        calibration_scale(&trial, m, *noise);
        *noise = trial.runs[0].noise_multiplier;
        p->m = &trial;
        p->steps = mechanism_steps(m);
        if (figure_of(p).epsilon <= p->epsilon)
            status = ST_OK;
        else
            *noise *= 1 + more;
    }
    mechanism_fini(&trial);
    return status;
}

enum status figure_noise(double *noise_multiplier, const struct mechanism *m,
                         double epsilon, double delta, struct error *error)
{
    enum status status = target_check(m, epsilon, delta, error);
    if (status != ST_OK)
        return status;
    double noise;
    struct price p = {.delta = delta - LEDGER_NOISE_DELTA,
                      .epsilon = epsilon,
                      .terms_max = FIGURE_TERMS_MAX};
    struct calibration c = {epsilon_excess, &p};
    proof_scratch_init(&p.scratch, m->run_count);
    bool found = guess_noise(&noise, m, &p)
                     ? calibration_noise_near(&noise, noise, m, c)
                     : calibration_noise(&noise, m, c);
    found = found && check_noise(&noise, m, &p) == ST_OK;
    proof_scratch_fini(&p.scratch);
    if (!found)
        return error_set(error, ST_INVALID,
                         "no noise multiplier up to %g gives epsilon %g", RDP_NOISE_MAX,
                         epsilon);
    *noise_multiplier = noise;
    return ST_OK;
}

/* Lowers *noise, which fits by Renyi divergence, to the least that fits by composed
 * losses. The search begins at the noise at which the Renyi divergence allows as much
 * more as it exceeded the composed losses before: both change almost alike. */
static enum status lower_noise(double *noise, const struct mechanism *m, double epsilon,
                               double delta, struct error *error)
{
    struct price p = {.delta = delta - LEDGER_NOISE_DELTA,
                      .epsilon = epsilon,
                      .effort = PLD_SEARCH_EFFORT_MAX};
    struct mechanism trial;
    mechanism_copy(&trial, m);
    calibration_scale(&trial, m, *noise);
    double composed = composed_epsilon(&p, &trial), near = *noise;
    mechanism_fini(&trial);
    if (composed < epsilon && composed > 0) {
        if (figure_noise(&near, m, epsilon * (epsilon / composed), delta, NULL) !=
            ST_OK)
            near = *noise;
        *noise = calibration_noise_below(*noise, epsilon_over(composed, epsilon), near,
                                         m, (struct calibration){pld_excess, &p});
    }
    return p.status == ST_OK ? ST_OK : error_set(error, p.status, "%s", p.error.text);
}

enum status figure_noise_pld(double *noise_multiplier, const struct mechanism *m,
                             double epsilon, double delta, struct error *error)
{
    double noise;
    if (m->run_count > PLD_RUNS_MAX)
        return error_set(error, ST_INVALID, "more than %d runs", PLD_RUNS_MAX);
    enum status status = figure_noise(&noise, m, epsilon, delta, error);
    if (status == ST_OK && !unsampled(m))
        status = lower_noise(&noise, m, epsilon, delta, error);
    if (status == ST_OK)
        *noise_multiplier = noise;
    return status;
}

enum status figure_steps(uint64_t *steps, const struct mechanism *m, double epsilon,
                         double delta, struct error *error)
{
    enum status status = target_check(m, epsilon, delta, error);
    if (status != ST_OK)
        return status;
    if (m->run_count != 1)
        return error_set(error, ST_INVALID,
                         "the steps of one run can be chosen, not of %zu",
                         m->run_count);
    struct price p = {.delta = delta - LEDGER_NOISE_DELTA,
                      .epsilon = epsilon,
                      .terms_max = FIGURE_TERMS_MAX};
    *steps = calibration_steps(m, (struct calibration){epsilon_excess, &p});
    return ST_OK;
}

enum status figure_rate(double *sampling_rate, const struct mechanism *m,
                        double epsilon, double delta, struct error *error)
{
    enum status status = target_check(m, epsilon, delta, error);
    if (status != ST_OK)
        return status;
    if (!proof_of(m->kind)->has_rate)
        return error_set(error, ST_INVALID, "a mechanism without sampling has no rate");
    struct price p = {.delta = delta - LEDGER_NOISE_DELTA,
                      .epsilon = epsilon,
                      .terms_max = FIGURE_TERMS_MAX};
    double rate = calibration_rate(m, (struct calibration){epsilon_excess, &p});
    if (rate == 0)
        return error_set(error, ST_INVALID, "no sampling rate gives epsilon %g",
                         epsilon);
    *sampling_rate = rate;
    return ST_OK;
}
