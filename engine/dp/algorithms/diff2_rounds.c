#include "engine/dp/algorithms/diff2_rounds.h"

#include <math.h>
#include <stdbool.h>

#include "base/check.h"

uint64_t diff2_rounds_count(const struct diff2_rounds *rounds)
{
    return (rounds->steps - 1) / rounds->local_steps + 1;
}

uint64_t diff2_rounds_restarts(const struct diff2_rounds *rounds)
{
    return (diff2_rounds_count(rounds) - 1) / rounds->interval + 1;
}

enum diff2_release diff2_rounds_release(const struct diff2_rounds *rounds,
                                        uint64_t step)
{
    if (step % rounds->local_steps > 0)
        return RELEASE_LOCAL;
    return step / rounds->local_steps % rounds->interval == 0 ? RELEASE_RESTART
                                                              : RELEASE_DIFFERENCE;
}

uint64_t diff2_rounds_client(const struct diff2_rounds *rounds, uint64_t step)
{
    return (step / rounds->local_steps + 1) % rounds->clients;
}

double diff2_rounds_ratio(const struct diff2_rounds *rounds, enum diff2_release release)
{
    double count = (double)diff2_rounds_count(rounds);
    double restarts = (double)diff2_rounds_restarts(rounds);
    double local =
        (double)(rounds->local_steps - 1) * ceil(count / (double)rounds->clients);
    double w1 = rounds->restart_share, w2 = rounds->difference_share;
    switch (release) {
    case RELEASE_RESTART: break;
    case RELEASE_DIFFERENCE: return sqrt((count - restarts) * w1 / (restarts * w2));
    case RELEASE_LOCAL:
        return fmax(DIFF2_RATIO_MIN, 2 * rounds->local_rate *
                                         sqrt(local * w1 / (restarts * (1 - w1 - w2))));
    }
    return 1;
}

/* The first step after step that belongs to another run. */
static uint64_t run_end(const struct diff2_rounds *rounds, uint64_t step)
{
    uint64_t k = rounds->local_steps, round = step / k;
    uint64_t end = step + 1;
    switch (diff2_rounds_release(rounds, step)) {
    case RELEASE_RESTART: break;
    case RELEASE_DIFFERENCE:
        if (k == 1)
            end = (round / rounds->interval + 1) * rounds->interval;
        break;
    case RELEASE_LOCAL: end = (round + 1) * k; break;
    }
    return end < rounds->steps ? end : rounds->steps;
}

static struct mechanism_run run_at(const struct diff2_rounds *rounds, uint64_t step,
                                   double noise_multiplier)
{
    enum diff2_release release = diff2_rounds_release(rounds, step);
    return (struct mechanism_run){
        .sampling_rate = release == RELEASE_LOCAL ? rounds->local_rate : 1,
        .noise_multiplier = noise_multiplier * diff2_rounds_ratio(rounds, release),
        .steps = run_end(rounds, step) - step};
}

static const char *release_name(enum diff2_release release)
{
    switch (release) {
    case RELEASE_RESTART: return "restarts";
    case RELEASE_DIFFERENCE: return "differences";
    case RELEASE_LOCAL: return "local steps";
    }
    return "";
}

/* Checks the noise multiplier of every kind of release that the job makes. */
static enum status check_noise(const struct diff2_rounds *rounds,
                               double noise_multiplier, struct error *error)
{
    const bool made[] = {[RELEASE_RESTART] = true,
                         [RELEASE_DIFFERENCE] =
                             diff2_rounds_count(rounds) > diff2_rounds_restarts(rounds),
                         [RELEASE_LOCAL] = rounds->local_steps > 1};
    for (int k = 0; k < 3; k++) {
        enum diff2_release release = (enum diff2_release)k;
        if (!made[release])
            continue;
        double noise = noise_multiplier * diff2_rounds_ratio(rounds, release);
        if (!(noise >= DIFF2_NOISE_MIN))
            return error_set(error, ST_INVALID,
                             "%s would have a noise multiplier of %.3g, below %g: give "
                             "them less of the budget by the splits, or more noise",
                             release_name(release), noise, DIFF2_NOISE_MIN);
        if (!(noise <= DIFF2_NOISE_MAX))
            return error_set(error, ST_INVALID,
                             "%s would have a noise multiplier of %.3g, above %g: give "
                             "them more of the budget by the splits, a shorter "
                             "restart_interval or less noise",
                             release_name(release), noise, DIFF2_NOISE_MAX);
    }
    return ST_OK;
}

static enum status check_runs(const struct diff2_rounds *rounds, struct error *error)
{
    bool whole = rounds->local_steps == 1;
    uint64_t runs = whole ? diff2_rounds_restarts(rounds) : diff2_rounds_count(rounds);
    if (rounds->interval == 1 && whole)
        return ST_OK; /* only restarts: they are one run */
    if (runs <= DIFF2_RUNS_MAX / 2)
        return ST_OK;
    return error_set_at(error, ST_INVALID,
                        whole ? "/algorithm/restart_interval"
                              : "/algorithm/local_steps",
                        "would change the noise %llu times, at most %d are priced: "
                        "give a larger one or fewer steps",
                        (unsigned long long)(2 * runs), DIFF2_RUNS_MAX);
}

enum status diff2_rounds_plan(struct mechanism *m, const struct diff2_rounds *rounds,
                              enum relation relation, double noise_multiplier,
                              struct error *error)
{
    enum mechanism_kind kind =
        rounds->local_steps > 1 ? MECHANISM_FIXED_SUBSET : MECHANISM_GAUSSIAN;
    CHECK(rounds->steps > 0 && rounds->interval > 0 && rounds->local_steps > 0 &&
          rounds->clients > 0);
    enum status status = check_noise(rounds, noise_multiplier, error);
    if (status == ST_OK)
        status = check_runs(rounds, error);
    if (status != ST_OK)
        return status;
    mechanism_init(m, kind, relation, run_at(rounds, 0, noise_multiplier));
    if (rounds->local_steps > 1 && rounds->clients > 1)
        m->turns = rounds->clients;
    for (uint64_t step = m->runs[0].steps; step < rounds->steps;
         step = run_end(rounds, step))
        mechanism_append(m, run_at(rounds, step, noise_multiplier));
    return ST_OK;
}
