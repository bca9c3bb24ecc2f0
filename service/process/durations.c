#include "service/process/durations.h"

#include "api/http/exposition.h"

static const double ns_per_s = 1e9;

/* Seconds: from the time of an answer from memory to one that no client would wait
 * for. */
static const double bounds[DURATION_BOUNDS] = {
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5};

void durations_add(struct durations *durations, int64_t duration_ns)
{
    unsigned i = 0;
    while (i < DURATION_BOUNDS && (double)duration_ns > bounds[i] * ns_per_s)
        i++;
    atomic_fetch_add_explicit(&durations->in[i], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&durations->sum_ns, (uint64_t)duration_ns,
                              memory_order_relaxed);
}

void durations_write(const struct durations *durations, struct exposition *exposition)
{
    enum { NS_PER_MS = 1000000 };
    uint64_t in[DURATION_BOUNDS + 1];
    for (unsigned i = 0; i <= DURATION_BOUNDS; i++)
        in[i] = atomic_load_explicit(&durations->in[i], memory_order_relaxed);
    const struct exposition_buckets buckets = {
        .count = DURATION_BOUNDS,
        .bounds = bounds,
        .in = in,
        .sum = (double)(atomic_load(&durations->sum_ns) / NS_PER_MS) / 1000,
    };
    exposition_histogram(exposition, &buckets);
}
