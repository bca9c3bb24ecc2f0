/*
 * process_figures.h - what the process takes of the machine, coarsely: memory in steps of
 * 16 MiB, processor time in whole seconds.
 *
 * How much of a processor a run has used by now, and when it gives its memory back, depends
 * on the records. So the figures are rounded, and they are read at ticks of the public clock
 * alone: whoever asks a thousand times a second would otherwise see the very moment at which
 * the rounded figure moves. How many files are open is not told at all, since no rounding
 * hides one: a matrix is closed before the end of its run is known, and where the two were
 * seen at different ticks the run ended within the clock's last 50 ms.
 *
 * Threads: the tick's measures; any may read.
 */
#ifndef SERVICE_PROCESS_FIGURES_H
#define SERVICE_PROCESS_FIGURES_H

#include <stdatomic.h>
#include <stdint.h>

struct process_figures { /* zeroed: not measured */
    atomic_uint_fast64_t processor_s;
    atomic_uint_fast64_t resident; /* bytes */
};

/* To be called at a tick. What cannot be read stays as it was. */
void process_figures_measure(struct process_figures *figures);

/* The next multiple of 16 MiB, up and down. */
uint64_t coarse_up(uint64_t bytes);
uint64_t coarse_down(uint64_t bytes);

#endif
