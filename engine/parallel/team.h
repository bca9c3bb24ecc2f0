/*
 * team.h - a few threads that do one piece of work at a time, together.
 *
 * The caller is member 0; the others wait between pieces, a few microseconds awake and
 * then asleep. A piece that is not worth waking them for the caller does alone: on a busy
 * machine whoever is woken may not run for milliseconds, and the caller waits for them.
 * The work cannot fail: a failure is written into its context.
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

/* Less than so many floating-point operations the caller does alone. They take one core
 * some 15 microseconds, which is what it takes to wake a thread that sleeps and to wait
 * for it, where nobody else has the other core. */
enum { TEAM_FLOPS_MIN = 300000 };

struct team_work { /* one piece */
    void (*run)(void *context, unsigned member);
    void *context;
    /* How many members can have some of it, and what all of it takes, about: as many
     * operations as products would do in that time. Both are of public numbers, as the
     * time of a piece tells them. */
    size_t shares;
    double flops;
};

/* Calls run(context, member) once for each member in [0, size), and returns when every
 * call has: all at once, or one after the other on the caller's thread. The members see
 * what was written before the call, and the caller sees what they wrote. */
void team_run(struct team *team, const struct team_work *work);

/* How many pieces others were woken for, or kept from falling asleep. */
uint64_t team_wakes(const struct team *team);

#endif
