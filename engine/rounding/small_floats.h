/*
 * small_floats.h - a mode in which the calling thread reads and writes floats below the
 * normal range as zero.
 *
 * Arithmetic on subnormal numbers takes up to 100 times as long on some processors,
 * so a record that consists of them would be visible in the time of a job (privacy.md
 * P6). Work on records therefore runs between small_floats_drop and
 * small_floats_restore. The rule is the processor's (x86: FTZ and DAZ, AArch64: FZ) and
 * applies to each operation, so a record's results still depend only on the record, and
 * all kernels give the same bits (noise.md 2.1, E2 and E3).
 *
 * All other code keeps subnormals: the accountant, the noise, the grid and the
 * optimizer.
 *
 * Threads: the mode is the calling thread's own.
 */
#ifndef ENGINE_ROUNDING_SMALL_FLOATS_H
#define ENGINE_ROUNDING_SMALL_FLOATS_H

#include <stdint.h>

struct small_floats { /* the previous mode */
    uint64_t mode;
};

/* Begins the mode, and returns what small_floats_restore needs. Pairs may be nested. On
 * a processor without such a mode, both functions do nothing. */
struct small_floats small_floats_drop(void);
void small_floats_restore(struct small_floats before);

#endif
