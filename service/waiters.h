/*
 * waiters.h - whoever waits for a job to change: long polls.
 *
 * A waiter is a callback and a deadline, called once, from the thread that changed the
 * job or from the waiters' own thread at the deadline. The check "has it changed
 * already?" is made by the caller between waiters_lock and waiters_add, so that no
 * change is missed.
 *
 * Threads: any; callbacks must be brief and must not call back into this file.
 */
#ifndef SERVICE_WAITERS_H
#define SERVICE_WAITERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct waiters; /* opaque */

/* At most capacity may wait. */
struct waiters *waiters_create(size_t capacity, void (*resume)(void *waiting));
/* Resumes all, refuses new ones and ends the thread. NULL is allowed. */
void waiters_destroy(struct waiters *waiters);

void waiters_lock(struct waiters *waiters);
void waiters_unlock(struct waiters *waiters);

/* With the lock held: resume(waiting) will be called once, when subject is woken, at
 * deadline_ns (monotonic), or when the waiters close. False if there is no room or they
 * are closed: nothing is kept. */
bool waiters_add(struct waiters *waiters, const void *subject, void *waiting,
                 int64_t deadline_ns);

/* Without the lock: resumes all who wait for subject. */
void waiters_wake(struct waiters *waiters, const void *subject);

/* Resumes all and refuses new ones from now on. */
void waiters_close(struct waiters *waiters);

#endif
