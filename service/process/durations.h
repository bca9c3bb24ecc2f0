/*
 * durations.h - a histogram: counts durations between fixed bounds.
 *
 * Threads: any may add. A reader sees each count as of some moment, but not all of them
 * as of the same one.
 */
#ifndef SERVICE_PROCESS_DURATIONS_H
#define SERVICE_PROCESS_DURATIONS_H

#include <stdatomic.h>
#include <stdint.h>

struct exposition;

enum { DURATION_BOUNDS = 13 };

struct durations { /* zeroed: empty */
    atomic_uint_fast64_t in[DURATION_BOUNDS + 1];
    atomic_uint_fast64_t sum_ns;
};

/* Counts a duration. */
void durations_add(struct durations *durations, int64_t duration_ns);

/* Writes the samples of the metric family; the sum is in whole milliseconds. */
void durations_write(const struct durations *durations, struct exposition *exposition);

#endif
