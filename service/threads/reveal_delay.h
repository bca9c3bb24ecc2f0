/*
 * reveal_delay.h - random delays between the moments of a private run and the moments
 * at which they are shown.
 *
 * The duration of private work depends on the records. A run on private data therefore
 * waits at each of its marks: after each quarter of its steps, and at its end. The wait
 * of a mark is uniform in [0, width), and each mark has a wait of its own. Only then
 * does the run record its progress, authorise its next steps, or hand over its end. The
 * thread of the run waits, so its worker stays occupied.
 *
 *   compute --> wait --> shown: quarter 1 --> compute --> wait --> shown: quarter 2 ...
 *
 * Invariants
 *   (1) All waits of a run are drawn before it reads a record, from the kernel's
 *       generator, and are never logged or stored.
 *   (2) Two neighbouring datasets whose computing times differ by t_1, t_2, ... between
 *       the marks can be distinguished by all marks together with advantage at most
 *       (t_1 + t_2 + ...) / width. Proof: the time between two marks that are shown is
 *       a computing time plus an independent uniform wait, so the distance of the two
 *       worlds grows by at most t_i / width at mark i.
 *   (3) A stop ends a wait. The run then waits once more, and no stop ends that wait:
 *       the end of a stopped run does not show whether the stop found it computing or
 *       waiting.
 *
 * Threads: a struct belongs to one run.
 */
#ifndef SERVICE_THREADS_REVEAL_DELAY_H
#define SERVICE_THREADS_REVEAL_DELAY_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct tick_clock;

enum {
    REVEAL_QUARTERS = 4,
    /* The quarters, the end of an evaluation on a holdout or of a run that ends early,
     * and the end of a run that was stopped. */
    REVEAL_MARKS = REVEAL_QUARTERS + 2,
};

struct reveal_delay {
    uint64_t wait_ns[REVEAL_MARKS];
    size_t used; /* waits that have begun */
};

/* Draws the waits, uniform in [0, width_ms). fill is random_bytes; a test gives a
 * stream with a fixed key. */
void reveal_delay_draw(struct reveal_delay *delay, unsigned width_ms,
                       void (*fill)(void *out, size_t size));

/* Waits for the next mark; returns early if stop is set at a tick of the clock, or is
 * already set. Returns at once if the clock is not running. */
void reveal_delay_wait(struct reveal_delay *delay, struct tick_clock *clock,
                       const atomic_bool *stop);

/* Waits for the mark at the end of a run, as invariant (3) says. */
void reveal_delay_end(struct reveal_delay *delay, struct tick_clock *clock,
                      const atomic_bool *stop);

#endif
