/*
 * talk.h - rank 0's side of what it and the daemon say to each other (api/rank_text.h), over
 * standard input and output.
 *
 * Threads: one.
 */
#ifndef RANK_TALK_H
#define RANK_TALK_H

#include <stdbool.h>
#include <stddef.h>

#include "api/rank_text.h"
#include "base/status.h"

struct talk { /* zeroed: nothing was read */
    char read[RANK_LINE_SIZE];
    size_t filled;
};

/* *text = the plan's bytes, to be freed.
 *   ST_INVALID    what came is no plan, or one of another version
 *   ST_CANCELLED  the daemon is gone
 *   ST_NO_MEMORY  no room */
enum status talk_plan(struct talk *talk, char **text, size_t *size,
                      struct error *error);

/*   ST_CANCELLED  the daemon is gone
 *   ST_INVALID    what came is no order */
enum status talk_order(struct talk *talk, struct rank_order *order,
                       struct error *error);

/* Whether the daemon is gone, and has left nothing that was not read. */
bool talk_is_over(const struct talk *talk);

/* Nobody may read it: that shows at the next order. */
void talk_report(const struct rank_report *report);

#endif
