/*
 * bench_accountant - time of an answer of the accountant, next to Google's
 * dp_accounting on the same inputs if ${PYTHON:-python3} has it. The daemon's number is
 * the minimum of some runs, because other work may use the machine; nothing is
 * asserted.
 *
 *   curve          150 orders evenly to 64, one step           aim 1 ms from noise 0.5
 *   noise          calibration by Renyi divergence             aim 10 ms
 *   composed       epsilon by composing privacy losses
 *   composed noise calibration by it, aim 1 s at 1e5 steps; Google's takes minutes and
 *                  is not run
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/pricing/figures.h"
#include "accountant/mechanisms/rdp.h"
#include "base/check.h"
#include "base/clock.h"

enum { ORDERS = 150, CASES_MAX = 32 };

enum question { ASK_CURVE, ASK_NOISE, ASK_COMPOSED, ASK_COMPOSED_NOISE };

static const char *const names[] = {"curve", "noise", "composed", "composed noise"};

struct workload {
    enum question question;
    struct mechanism_run run;
    double delta;
};

static const struct workload workloads[] = {
    {ASK_CURVE, {0.01, 0.5, 1}, 0},
    {ASK_CURVE, {0.01, 1, 1}, 0},
    {ASK_CURVE, {0.2, 4, 1}, 0},
    {ASK_NOISE, {0.01, 0.5, 1000}, 1e-5},
    {ASK_NOISE, {256.0 / 60000, 1.1, 14062}, 1e-5},
    {ASK_NOISE, {0.02, 10, 100000}, 1e-6},
    {ASK_COMPOSED, {256.0 / 60000, 1.1, 14062}, 1e-5},
    {ASK_COMPOSED, {1e-4, 0.5, 10000}, 1e-6},
    {ASK_COMPOSED, {0.02, 10, 100000}, 1e-6},
    {ASK_COMPOSED, {1e-5, 0.6, 100000}, 1e-5},
    {ASK_COMPOSED_NOISE, {1e-4, 0.5, 100000}, 1e-6},
    {ASK_COMPOSED_NOISE, {0.001, 1, 100000}, 1e-6},
    {ASK_COMPOSED_NOISE, {0.02, 10, 100000}, 1e-6},
    {ASK_COMPOSED_NOISE, {1e-5, 0.6, 100000}, 1e-5},
};
enum { WORKLOADS = sizeof workloads / sizeof *workloads };

static double curve_end(const struct mechanism_run *run)
{
    struct rdp rdp = {0};
    double last = 0;
    rdp_set(&rdp, RELATION_ZERO_OUT, run);
    for (int i = 1; i <= ORDERS; i++)
        last = rdp_at(&rdp, 1 + i * 63.0 / ORDERS);
    return last;
}

/* Returns the accountant's answer; epsilon is the target of a calibration. */
static double answer(const struct workload *w, double epsilon)
{
    struct mechanism_run run = w->run;
    struct mechanism m = {.kind = MECHANISM_SAMPLED_GAUSSIAN,
                          .relation = RELATION_ZERO_OUT,
                          .prefixes_priced = true,
                          .run_count = 1,
                          .runs = &run};
    struct figure figure;
    double noise;
    switch (w->question) {
    case ASK_CURVE: return curve_end(&run);
    case ASK_NOISE:
        run.noise_multiplier = 1;
        CHECK(figure_noise(&noise, &m, epsilon, w->delta, NULL) == ST_OK);
        return noise;
    case ASK_COMPOSED:
        CHECK(figure_epsilon_pld(&figure, &m, run.steps, w->delta, NULL) == ST_OK);
        return figure.epsilon;
    case ASK_COMPOSED_NOISE:
        run.noise_multiplier = 1;
        CHECK(figure_noise_pld(&noise, &m, epsilon, w->delta, NULL) == ST_OK);
        return noise;
    }
    return 0;
}

/* Returns the target of a calibration: the epsilon of the workload's own noise. */
static double target(const struct workload *w)
{
    struct mechanism_run run = w->run;
    struct mechanism m = {.kind = MECHANISM_SAMPLED_GAUSSIAN,
                          .relation = RELATION_ZERO_OUT,
                          .prefixes_priced = true,
                          .run_count = 1,
                          .runs = &run};
    struct figure figure = {0};
    if (w->question == ASK_NOISE)
        CHECK(figure_epsilon(&figure, &m, run.steps, w->delta, NULL) == ST_OK);
    if (w->question == ASK_COMPOSED_NOISE)
        CHECK(figure_epsilon_pld(&figure, &m, run.steps, w->delta, NULL) == ST_OK);
    return figure.epsilon;
}

static double least_ms(const struct workload *w, double epsilon, double *value)
{
    double least = 0;
    int64_t begun = clock_monotonic_ns();
    for (int i = 0; i < 3 || (i < 200 && clock_monotonic_ns() - begun < 300000000);
         i++) {
        int64_t start = clock_monotonic_ns();
        *value = answer(w, epsilon);
        double ms = (double)(clock_monotonic_ns() - start) * 1e-6;
        least = i == 0 || ms < least ? ms : least;
    }
    return least;
}

/* Asks dp_accounting the same; returns a negative number if it is not available. */
static double google_ms(const struct workload *w, double epsilon, double *value)
{
    const char *python = getenv("PYTHON");
    char command[512];
    double ms = -1;
    if (w->question == ASK_COMPOSED_NOISE)
        return ms;
    snprintf(command, sizeof command,
             "%s tests/bench/dp_accounting_ms.py '%s' %.17g %.17g %llu %.17g %.17g "
             "2>/dev/null",
             python != NULL ? python : "python3", names[w->question],
             w->run.sampling_rate, w->run.noise_multiplier,
             (unsigned long long)w->run.steps, w->delta, epsilon);
    FILE *pipe = popen(command, "r");
    if (pipe != NULL && fscanf(pipe, "%lf %lf", &ms, value) != 2)
        ms = -1;
    if (pipe != NULL)
        pclose(pipe);
    return ms;
}

static void measure(const struct workload *w)
{
    double epsilon = target(w), ours, theirs = 0;
    double ms = least_ms(w, epsilon, &ours), google = google_ms(w, epsilon, &theirs);
    printf("%-15s %10.3g %6g %9llu %8g %10.3f %12.8g", names[w->question],
           w->run.sampling_rate, w->run.noise_multiplier,
           (unsigned long long)w->run.steps, w->delta, ms, ours);
    if (google >= 0)
        printf(" %10.1f %12.8g %8.0f\n", google, theirs, google / ms);
    else
        printf(" %10s %12s %8s\n", "-", "-", "-");
    fflush(stdout);
}

int main(void)
{
    printf("%-15s %10s %6s %9s %8s %10s %12s %10s %12s %8s\n", "accountant", "rate",
           "noise", "steps", "delta", "ms", "answer", "google ms", "its answer",
           "faster");
    for (size_t i = 0; i < WORKLOADS; i++)
        measure(&workloads[i]);
    return 0;
}
