/*
 * metrics.h - the daemon's metrics, in the format of Prometheus. A family of metrics is
 * a row of the table in metrics.c: its name, kind and help, and the function that
 * writes its samples.
 *
 * Allowed contents
 *   (1) Nothing finer than privacy.md P6: of jobs what they show, which changes at
 *       ticks of the tick clock; of the ledger its durable entries; of the process's
 *       resources, rounded figures of the last tick (process_stats.h).
 *   (2) No loss, norm, share of clipped records, drawn batch size, or size of an
 *       upload. Examples are expected ones (step_counters.h).
 *   (3) No job, model, key or person in a label. Labels come from closed lists, except
 *       the names of datasets, whose number is limited (budget_gauges.h).
 *   (4) Durations as counters.h says.
 * The metrics contain budgets of all projects: hence the scope ops:read.
 *
 * A scrape reads counters and copies from registries, so it delays no other thread.
 *
 * Threads: any.
 */
#ifndef SERVICE_METRICS_METRICS_H
#define SERVICE_METRICS_METRICS_H

#include <stdbool.h>

struct daemon_state;

/* Returns all metrics in the text format 0.0.4, to be freed. NULL if waits is false and
 * the call would have to wait, because budgets must be read whose accounts are only in
 * the store. */
char *metrics_render(struct daemon_state *context, bool waits);

#endif
