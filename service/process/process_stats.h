/*
 * process_stats.h - the process's use of the machine, coarsely: memory in steps of 16
 * MiB (held_figure.h), processor time in whole seconds. Memory does not include mapped
 * files: their resident size grows with the rows of a dataset, and if units are persons
 * their number must not be known.
 *
 * The processor time that a run has used so far, and the moment at which it frees its
 * memory, depend on the records. So the figures are rounded, and they are read only at
 * ticks of the tick clock: otherwise a client that asks a thousand times a second
 * would see the very moment at which the rounded figure changes. The number of open
 * files is not shown at all, since no rounding hides one file: a matrix is closed
 * before the end of its run is known, and if the two were seen at different ticks, the
 * run ended within the clock's last 50 ms.
 *
 * The resources that private work uses depend on the records: an import's processor
 * time shows how many rows a file has, and a figure that stops growing shows when a run
 * stopped computing, before its random delay (reveal_delay.h). So all figures are
 * frozen while an import, a job or a request of statistics on private data is running,
 * until the tick that shows its end. Processor time that anything used meanwhile is
 * never counted; memory and files of features are shown again as they are then.
 *
 * Threads: the tick's measures; any may read, pause and resume.
 */
#ifndef SERVICE_PROCESS_PROCESS_STATS_H
#define SERVICE_PROCESS_PROCESS_STATS_H

#include <stdatomic.h>
#include <stdint.h>

#include "service/process/held_figure.h"

struct process_stats { /* zeroed: not measured */
    atomic_uint_fast64_t processor_s;
    struct held_figure resident;   /* bytes */
    atomic_uint_fast64_t features; /* bytes of feature files that are kept for later
                                      jobs */
    atomic_uint pauses;            /* pauses that have not ended */
    atomic_uint endings;           /* pauses that the next measurement ends */
    uint64_t used_us,
        /* Processor time as of the last tick; told excludes pauses. */
        told_us;
};

/* Measures, at a tick. A figure that cannot be read keeps its value.
 *   features  bytes of feature files that are kept now */
void process_stats_measure(struct process_stats *figures, uint64_t features);

/* The figures are frozen from the last tick before the pause to the first tick after
 * the resume; what was used before that tick is not counted either. Pauses may
 * overlap. */
void process_stats_pause(struct process_stats *figures);
void process_stats_resume(struct process_stats *figures);

#endif
