/*
 * store_poller.h - a thread that polls a shared store for what other daemons have
 * written: every STORE_POLLER_MS, and at once when a request asks for it. So all
 * daemons show what one daemon has made within half a second, and a request that asks
 * for it gets it right away.
 *
 *   ask -> waits -> a look that began after that -> resumed, once
 *
 * Invariants
 *   (1) A request that asks is resumed once, after a look that began later.
 *   (2) Looks are at least STORE_POLLER_GAP_MS apart, however many requests ask: those
 *       that ask meanwhile share the next look.
 *
 * Threads: any; one of its own looks and resumes.
 */
#ifndef SERVICE_THREADS_STORE_POLLER_H
#define SERVICE_THREADS_STORE_POLLER_H

#include <stdbool.h>

struct store_poller; /* opaque */

enum { STORE_POLLER_MS = 500, STORE_POLLER_GAP_MS = 10 };

struct store_poller_hooks {
    void (*look)(void *context);
    void *context;
    void (*resume)(void *waiting); /* brief; it calls nothing of this file */
};

struct store_poller *store_poller_create(const struct store_poller_hooks *hooks);
/* Ends the thread, and resumes the requests that still wait. NULL is allowed. */
void store_poller_destroy(struct store_poller *poller);

/* Resumes waiting after the next look. */
void store_poller_ask(struct store_poller *poller, void *waiting);

#endif
