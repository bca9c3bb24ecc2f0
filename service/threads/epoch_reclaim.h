/*
 * epoch_reclaim.h - epoch-based reclamation: says when a replaced thing may be freed,
 * without counting pointers to it. A thread that looks for such things says when it
 * enters and when it leaves, and a thing that was left behind is freed as soon as every
 * thread that entered before that has left.
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
#ifndef SERVICE_THREADS_EPOCH_RECLAIM_H
#define SERVICE_THREADS_EPOCH_RECLAIM_H

#include <stdint.h>

struct epoch_reclaim; /* opaque */

struct
    reclaim_reader { /* on its owner's stack; only epoch_reclaim.c uses the members */
    struct reclaim_reader *older, *newer;
    uint64_t since;
};

/* destroy frees items that were left behind; it is called with no lock held. */
struct epoch_reclaim *epoch_reclaim_create(void (*destroy)(void *item));
/* Precondition: no thread is inside. NULL is allowed. */
void epoch_reclaim_destroy(struct epoch_reclaim *visits);

void epoch_reclaim_enter(struct epoch_reclaim *visits, struct reclaim_reader *visit);
void epoch_reclaim_leave(struct epoch_reclaim *visits, struct reclaim_reader *visit);

/* Takes an item that can no longer be found. */
void epoch_reclaim_leave_behind(struct epoch_reclaim *visits, void *item_take);

#endif
