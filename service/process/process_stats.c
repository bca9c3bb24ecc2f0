#include "service/process/process_stats.h"

#include <stdio.h>
#include <unistd.h>
#include <sys/resource.h>

static const uint64_t grain = UINT64_C(16) << 20; /* bytes */

static void measure_resident(struct process_stats *figures)
{
    unsigned long long size = 0, resident = 0, of_files = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return;
    long page = sysconf(_SC_PAGE_SIZE);
    if (fscanf(file, "%llu %llu %llu", &size, &resident, &of_files) == 3 && page > 0 &&
        of_files <= resident)
        held_figure_see(&figures->resident, (resident - of_files) * (uint64_t)page,
                        grain);
    fclose(file);
}

void process_stats_pause(struct process_stats *figures)
{
    atomic_fetch_add(&figures->pauses, 1);
}

void process_stats_resume(struct process_stats *figures)
{
    atomic_fetch_add(&figures->endings, 1);
}

/* Processor time in microseconds that the process has used; the last figure if it
 * cannot be read. */
static uint64_t used_us(const struct process_stats *figures)
{
    enum { US_PER_S = 1000000 };
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return figures->used_us;
    int64_t us = (int64_t)usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
    int64_t s = (int64_t)usage.ru_utime.tv_sec + usage.ru_stime.tv_sec;
    return (uint64_t)(s * US_PER_S + us);
}

void process_stats_measure(struct process_stats *figures, uint64_t features)
{
    enum { US_PER_S = 1000000 };
    unsigned ended = atomic_exchange(&figures->endings, 0);
    uint64_t used = used_us(figures);
    if (atomic_load(&figures->pauses) == 0) {
        figures->told_us += used - figures->used_us;
        atomic_store(&figures->features, features);
        measure_resident(figures);
    }
    figures->used_us = used;
    atomic_store(&figures->processor_s, figures->told_us / US_PER_S);
    atomic_fetch_sub(&figures->pauses, ended);
}
