/*
 * visits.h - epoch-based reclamation: says when a replaced thing may be freed, without
 * counting pointers to it. A thread that looks for such things says when it enters and
 * when it leaves, and a thing that was left behind is freed as soon as every thread
 * that entered before that has left.
 *
 *   enter -> find, hold, read -> leave
 *                   replaced -> left behind --> freed, when the last of those that were
 *                                               inside has left
 *
 * Invariants
 *   (1) What can be found during a visit is not freed before its end.
 *   (2) A visit that began after a thing was left behind does not keep it.
 *
 * Threads: any. A visit is one thread's, and may be nested in another of the same
 * thread.
 */
#ifndef SERVICE_VISITS_H
#define SERVICE_VISITS_H

#include <stdint.h>

struct visits; /* opaque */

struct visit { /* on its owner's stack; only visits.c uses the members */
    struct visit *older, *newer;
    uint64_t since;
};

/* destroy frees items that were left behind; it is called with no lock held. */
struct visits *visits_create(void (*destroy)(void *item));
/* Precondition: no thread is inside. NULL is allowed. */
void visits_destroy(struct visits *visits);

void visits_enter(struct visits *visits, struct visit *visit);
void visits_leave(struct visits *visits, struct visit *visit);

/* Takes an item that can no longer be found. */
void visits_leave_behind(struct visits *visits, void *item_take);

#endif
