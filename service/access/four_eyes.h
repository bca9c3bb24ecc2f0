/*
 * four_eyes.h - whether a second person must approve what a caller promises.
 *
 * Threads: any.
 */
#ifndef SERVICE_ACCESS_FOUR_EYES_H
#define SERVICE_ACCESS_FOUR_EYES_H

#include <stdbool.h>

struct daemon_state;
struct caller;

/* Without keys persons cannot be distinguished, so there is no second person. */
bool four_eyes_is_asked(const struct daemon_state *context,
                        const struct caller *caller);

#endif
