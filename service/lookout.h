/*
 * lookout.h - a thread that polls a shared store for what other daemons have written:
 * every LOOKOUT_MS, and at once when a request asks for it. So all daemons show what
 * one daemon has made within half a second, and a request that asks for it gets it
 * right away.
 *
 *   ask -> waits -> a look that began after that -> resumed, once
 *
 * Invariants
 *   (1) A request that asks is resumed once, after a look that began later.
 *   (2) Looks are at least LOOKOUT_GAP_MS apart, however many requests ask: those that
 *       ask meanwhile share the next look.
 *
 * Threads: any; one of its own looks and resumes.
 */
#ifndef SERVICE_LOOKOUT_H
#define SERVICE_LOOKOUT_H

#include <stdbool.h>

struct lookout; /* opaque */

enum { LOOKOUT_MS = 500, LOOKOUT_GAP_MS = 10 };

struct lookout_hooks {
    void (*look)(void *context);
    void *context;
    void (*resume)(void *waiting); /* brief; it calls nothing of this file */
};

struct lookout *lookout_create(const struct lookout_hooks *hooks);
/* Ends the thread, and resumes the requests that still wait. NULL is allowed. */
void lookout_destroy(struct lookout *lookout);

/* Resumes waiting after the next look. */
void lookout_ask(struct lookout *lookout, void *waiting);

#endif
