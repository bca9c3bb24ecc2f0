/*
 * sweep_json.h - the JSON of a sweep in replies, from what is shown of its runs; and
 * which of them is the best.
 *
 * Threads: any.
 */
#ifndef SERVICE_JOBS_SWEEP_JSON_H
#define SERVICE_JOBS_SWEEP_JSON_H

#include "service/jobs/sweeps.h"

struct daemon_state;

/* Returns the sweep as JSON text, to be freed; sweep_summary_text, as a line of a
 * list. */
char *sweep_json(const struct daemon_state *context, const struct sweep *sweep);
/* The same for a sweep whose jobs are in a transaction that is not durable yet. */
char *sweep_new_text(const struct daemon_state *context, const struct sweep_id *id,
                     struct job *const *runs, size_t count);
char *sweep_summary_text(const struct daemon_state *context, const struct sweep *sweep);

#endif
