/*
 * team.h - a few threads that do one piece of work at a time, together.
 *
 * The caller is member 0; the others wait between pieces, a few microseconds awake and
 * then asleep. The work cannot fail: a failure is written into its context.
 *
 * Threads: team_run is called by one thread at a time.
 */
#ifndef ENGINE_PARALLEL_TEAM_H
#define ENGINE_PARALLEL_TEAM_H

#include "base/status.h"

enum { TEAM_SIZE_MAX = 1024 };

struct team; /* opaque */

/* size in [1, TEAM_SIZE_MAX], the caller included.
 *   ST_NO_MEMORY  a thread could not be started */
enum status team_create(struct team **out, unsigned size, struct error *error);
void team_destroy(struct team *team); /* NULL is allowed; joins the threads */

unsigned team_size(const struct team *team);

/* Calls work(context, member) once for each member in [0, size), all at once, and
 * returns when every call has. The members see what was written before the call, and the
 * caller sees what they wrote. */
void team_run(struct team *team, void (*work)(void *context, unsigned member),
              void *context);

#endif
