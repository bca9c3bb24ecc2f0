/*
 * lookout.h - who looks, again and again, for what other daemons of a shared store have
 * written: each LOOKOUT_MS, and at once for those who ask. So what one daemon has made is
 * shown by the others within half a second, and to whoever asks for it right away.
 *
 *   ask -> waits -> a look that began after that -> resumed, once
 *
 * Invariants
 *   (1) Who asks is resumed after a look that began later, and once.
 *   (2) Looks are LOOKOUT_GAP_MS apart, however many ask: those who come meanwhile share
 *       the next.
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
/* Ends the thread, and resumes who still waits. NULL is allowed. */
void lookout_destroy(struct lookout *lookout);

/* waiting is resumed after the next look. */
void lookout_ask(struct lookout *lookout, void *waiting);

#endif
