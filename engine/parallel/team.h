/*
 * team.h - a team of threads that work together on one piece of work at a time.
 *
 * The caller is member 0. The others wait between pieces: they spin for about 20
 * microseconds and then sleep. If a piece is too small to wake them, the caller does it
 * by itself: on a busy machine a woken thread may not run for milliseconds, and the
 * caller would have to wait for it. The work function cannot fail: it writes a failure
 * into its context.
 *
 * Threads: team_run is called by one thread at a time.
 */
#ifndef ENGINE_PARALLEL_TEAM_H
#define ENGINE_PARALLEL_TEAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { TEAM_SIZE_MAX = 1024 };

struct team; /* opaque */

/* size in [1, TEAM_SIZE_MAX], the caller included.
 *   ST_NO_MEMORY  a thread could not be started */
enum status team_create(struct team **out, unsigned size, struct error *error);
void team_destroy(struct team *team); /* NULL is allowed; joins the threads */

unsigned team_size(const struct team *team);

/* The caller does pieces with fewer floating-point operations than this by itself. They
 * take one core about 15 microseconds, which is the time to wake a sleeping thread and
 * to wait for it, if the other core is idle. */
enum { TEAM_FLOPS_MIN = 300000 };

struct team_work { /* one piece */
    void (*run)(void *context, unsigned member);
    void *context;
    /* The number of members that can get a part of the piece, and the approximate time
     * of the whole piece, as the number of operations that products would do in that
     * time. Both must be computed from public numbers, because the time of a piece
     * reveals them. */
    size_t shares;
    double flops;
};

/* Calls run(context, member) once for each member in [0, size), and returns when every
 * call has returned. The calls run concurrently, or one after the other on the caller's
 * thread. The members see what was written before the call, and the caller sees what
 * they wrote. */
void team_run(struct team *team, const struct team_work *work);

/* The number of pieces for which other members were woken, or kept awake. */
uint64_t team_wakes(const struct team *team);

#endif
