/*
 * visits.h - when a thing that was replaced may be freed, although pointers to it are not
 * counted: whoever looks for such things says when it comes and when it goes, and what is
 * left behind is freed as soon as nobody is there who came before that.
 *
 *   enter -> find, hold, read -> leave
 *                   replaced -> left behind --> freed, when the last of those that were
 *                                               there has left
 *
 * Invariants
 *   (1) What can be found during a visit is not freed before its end.
 *   (2) A visit that began after a thing was left behind does not keep it.
 *
 * Threads: any. A visit is one thread's, and may lie within another of the same thread.
 */
#ifndef SERVICE_VISITS_H
#define SERVICE_VISITS_H

#include <stdint.h>

struct visits; /* opaque */

struct visit { /* its owner's, on the stack; fields are those of visits.c */
    struct visit *older, *newer;
    uint64_t since;
};

/* What is left behind goes by destroy, which is called with no lock held. */
struct visits *visits_create(void (*destroy)(void *item));
/* Nobody is there any more. NULL is allowed. */
void visits_destroy(struct visits *visits);

void visits_enter(struct visits *visits, struct visit *visit);
void visits_leave(struct visits *visits, struct visit *visit);

/* Takes an item that nobody can find any more. */
void visits_leave_behind(struct visits *visits, void *item_take);

#endif
