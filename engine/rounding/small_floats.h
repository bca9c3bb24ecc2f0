/*
 * small_floats.h - floats below the normal range read and written as zero, for a while, by
 * the calling thread.
 *
 * Arithmetic on subnormal numbers takes up to a hundred times as long on some processors, so
 * a record that is made of them would show in the time of a job (privacy.md P6). Work on
 * records therefore runs between small_floats_drop and small_floats_restore. The rule is the
 * processor's (x86: FTZ and DAZ, AArch64: FZ), one for each operation, so what comes of a
 * record stays a function of the record alone and all kernels leave the same bits (noise.md
 * 2.1, E2 and E3).
 *
 * All else keeps subnormals: the accountant, the noise, the grid and the optimizer.
 *
 * Threads: the mode is the calling thread's own.
 */
#ifndef ENGINE_ROUNDING_SMALL_FLOATS_H
#define ENGINE_ROUNDING_SMALL_FLOATS_H

#include <stdint.h>

struct small_floats { /* the mode before */
    uint64_t mode;
};

/* Begins the mode, and returns what small_floats_restore needs. Pairs may be nested. On a
 * processor without such a mode both do nothing. */
struct small_floats small_floats_drop(void);
void small_floats_restore(struct small_floats before);

#endif
