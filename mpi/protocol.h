/*
 * protocol.h - rank 0's side of the protocol between it and the daemon
 * (api/requests/rank_text.h), over standard input and output.
 *
 * Threads: one.
 */
#ifndef MPI_PROTOCOL_H
#define MPI_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>

#include "api/requests/rank_text.h"
#include "base/status.h"

struct protocol { /* zeroed: nothing was read yet */
    char read[RANK_LINE_SIZE];
    size_t filled;
};

/* Reads the plan. *text = its bytes, to be freed.
 *   ST_INVALID    the input is not a plan, or is one of another version
 *   ST_CANCELLED  the daemon is gone
 *   ST_NO_MEMORY  there is not enough memory */
enum status protocol_plan(struct protocol *talk, char **text, size_t *size,
                          struct error *error);

/* Reads the next order.
 *   ST_CANCELLED  the daemon is gone
 *   ST_INVALID    the input is not an order */
enum status protocol_order(struct protocol *talk, struct rank_order *order,
                           struct error *error);

/* Returns whether the daemon is gone and all that it sent has been read. */
bool protocol_is_over(const struct protocol *talk);

/* Writes a report. If the daemon is gone, the next order fails, not this call. */
void protocol_report(const struct rank_report *report);

#endif
