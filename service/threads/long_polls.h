/*
 * long_polls.h - requests that wait for a job or an import to change.
 *
 * A long poll is a callback and a deadline. The callback is called once, by the thread
 * that changed the job or by a thread of this file's own at the deadline. The caller
 * checks whether the subject has already changed between long_polls_lock and
 * long_polls_add, so that no change is missed.
 *
 * Threads: any; callbacks must be brief and must not call back into this file.
 */
#ifndef SERVICE_THREADS_LONG_POLLS_H
#define SERVICE_THREADS_LONG_POLLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct long_polls; /* opaque */

/* At most capacity may wait. */
struct long_polls *long_polls_create(size_t capacity, void (*resume)(void *waiting));
/* Resumes all, refuses new ones and ends the thread. NULL is allowed. */
void long_polls_destroy(struct long_polls *polls);

void long_polls_lock(struct long_polls *polls);
void long_polls_unlock(struct long_polls *polls);

/* With the lock held: resume(waiting) will be called once, when subject is woken, at
 * deadline_ns (monotonic), or when the long polls close. False if there is no room or
 * they are closed: nothing is kept. */
bool long_polls_add(struct long_polls *polls, const void *subject, void *waiting,
                    int64_t deadline_ns);

/* Resumes all polls of subject. The lock is not held. */
void long_polls_wake(struct long_polls *polls, const void *subject);

/* Returns how many polls wait. The lock is not held. */
size_t long_polls_count(struct long_polls *polls);

/* Resumes all and refuses new ones from now on. */
void long_polls_close(struct long_polls *polls);

#endif
