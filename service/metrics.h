/*
 * metrics.h - how the daemon is doing, as Prometheus reads it. A family of metrics is a row
 * of the table in metrics.c: its name, kind and help, and the function that writes its
 * samples.
 *
 * What may be in it
 *   (1) Nothing finer than privacy.md P6: of jobs what they show, which moves at ticks of the
 *       public clock; of the ledger its durable entries; of what the process takes, rounded
 *       figures of the last tick (process_figures.h).
 *   (2) No loss, norm, share of clipped records, batch size that was drawn, or size of an
 *       upload. Examples are expected ones (step_tally.h).
 *   (3) No job, model, key or person in a label. Labels come from closed lists, but for the
 *       names of datasets, of which there is a limit (budget_board.h).
 *   (4) Durations as counters.h says.
 * Budgets of all projects are in it: hence the scope ops:read.
 *
 * A scrape reads counters and asks registries for a copy each, so it keeps nobody waiting.
 *
 * Threads: any.
 */
#ifndef SERVICE_METRICS_H
#define SERVICE_METRICS_H

#include "service/context.h"

/* Answers all metrics in the text format 0.0.4, to be freed; NULL where it may not wait and
 * would have to: budgets whose accounts are in the store alone have to be read. */
char *metrics_render(struct context *context, bool waits);

#endif
