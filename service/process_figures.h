/*
 * process_figures.h - what the process takes of the machine, coarsely: memory in steps of
 * 16 MiB (held_figure.h), processor time in whole seconds. Memory is the process's own: how much of mapped
 * files is resident grows with the rows of a dataset, and where units are persons their
 * number is nobody's to know.
 *
 * How much of a processor a run has used by now, and when it gives its memory back, depends
 * on the records. So the figures are rounded, and they are read at ticks of the public clock
 * alone: whoever asks a thousand times a second would otherwise see the very moment at which
 * the rounded figure moves. How many files are open is not told at all, since no rounding
 * hides one: a matrix is closed before the end of its run is known, and where the two were
 * seen at different ticks the run ended within the clock's last 50 ms.
 *
 * What private work takes of the machine depends on the records: an import's processor time
 * shows how many rows a file has, and a figure that stops growing shows when a run stopped
 * computing, before its random delay (reveal_delay.h). So all figures stand still while an
 * import, a job or a request of statistics on private data is under way, until the tick that
 * shows its end. Processor time that anything used meanwhile is left out for good; memory
 * and files of features are shown again as they are then.
 *
 * Threads: the tick's measures; any may read, pause and resume.
 */
#ifndef SERVICE_PROCESS_FIGURES_H
#define SERVICE_PROCESS_FIGURES_H

#include <stdatomic.h>
#include <stdint.h>

#include "service/held_figure.h"

struct process_figures { /* zeroed: not measured */
    atomic_uint_fast64_t processor_s;
    struct held_figure resident;   /* bytes */
    atomic_uint_fast64_t features; /* bytes of files that are kept for later jobs */
    atomic_uint pauses;            /* that have not ended */
    atomic_uint endings;           /* pauses that the next measurement ends */
    uint64_t used_us,
        told_us; /* of processors, by the last tick; told: but for pauses */
};

/* To be called at a tick. What cannot be read stays as it was.
 *   features  bytes of files of features that are kept now */
void process_figures_measure(struct process_figures *figures, uint64_t features);

/* The figures stand still from the last tick before the pause to the first tick after the
 * resume, which does not count what was used before it either. Pauses may overlap. */
void process_figures_pause(struct process_figures *figures);
void process_figures_resume(struct process_figures *figures);

#endif
