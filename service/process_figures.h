/*
 * process_figures.h - what the process takes of the machine, coarsely: memory in steps of
 * 16 MiB, processor time in whole seconds. Memory is the process's own: how much of mapped
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
 * What an import of private files takes of a processor tells how many rows they have, and
 * whole seconds do not hide gigabytes. So processor time stands still while one is under way,
 * until the tick that shows its end: what everybody used meanwhile is left out.
 *
 * Threads: the tick's measures; any may read, pause and resume.
 */
#ifndef SERVICE_PROCESS_FIGURES_H
#define SERVICE_PROCESS_FIGURES_H

#include <stdatomic.h>
#include <stdint.h>

struct process_figures { /* zeroed: not measured */
    atomic_uint_fast64_t processor_s;
    atomic_uint_fast64_t resident; /* bytes */
    atomic_uint pauses;            /* that have not ended */
    uint64_t used_us,
        told_us; /* of processors, by the last tick; told: but for pauses */
};

/* To be called at a tick. What cannot be read stays as it was. */
void process_figures_measure(struct process_figures *figures);

/* From the last tick before the one to the last tick before the other processor time stands
 * still. Pauses may overlap. */
void process_figures_pause(struct process_figures *figures);
void process_figures_resume(struct process_figures *figures);

/* The next multiple of 16 MiB, up. */
uint64_t coarse_up(uint64_t bytes);

/* The next multiple of 1 GiB, down: what is free on a disk, where uploads and matrices
 * lie. */
uint64_t coarse_disk(uint64_t bytes);

#endif
