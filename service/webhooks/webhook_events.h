/*
 * webhook_events.h - writes the webhook events of jobs and datasets.
 *
 * A budget is low when its unspent share falls to a half, to a fifth or to a tenth, and
 * exhausted when it falls below a thousandth. What is held does not count as spent,
 * since it may be given back: so each of these events happens once in an epoch of the
 * budget. A divided dataset has a budget for each part, and each part has its events.
 *
 * A sweep ends with the last of its runs, and its event is written with that run's: as
 * cancelled if any of the runs was, else as ended.
 *
 * Threads: that of the transaction.
 */
#ifndef SERVICE_WEBHOOKS_WEBHOOK_EVENTS_H
#define SERVICE_WEBHOOKS_WEBHOOK_EVENTS_H

#include <stdint.h>

#include "base/status.h"

struct daemon_state;
struct dataset;
struct error;
struct job;
struct job_move;
struct proposal;
struct store_tx;

/* In the transaction that ends the job by this move, writes that the job ended, that
 * its sweep ended if this was its last run, and the events of the budget that the
 * settlement changed. Must be called once for every job that ends.
 *   ST_IO   the store is poisoned */
enum status webhook_events_job_ended(struct daemon_state *context, struct store_tx *tx,
                                     const struct job *job, const struct job_move *move,
                                     struct error *error);

struct webhook_events_charge { /* a charge of a dataset for something else than a job */
    const struct dataset_id *dataset;
    const char *project; /* the dataset's */
    int64_t second;
};

/* Writes the events of the budget, in the transaction that settles the charge.
 *   ST_IO  the store is poisoned */
enum status webhook_events_charged(struct daemon_state *context, struct store_tx *tx,
                                   const struct webhook_events_charge *charge,
                                   struct error *error);

/* Writes that the dataset was imported, in the transaction that makes it READY.
 *   ST_IO  the store is poisoned */
enum status webhook_events_imported(struct daemon_state *context, struct store_tx *tx,
                                    const struct dataset *dataset, int64_t second,
                                    struct error *error);

/* Writes, in the transaction that proposes the dataset's grant or approves it, that the
 * grant waits or no longer waits.
 *   ST_IO  the store is poisoned */
enum status webhook_events_grant(struct daemon_state *context, struct store_tx *tx,
                                 const struct dataset *dataset,
                                 const struct proposal *proposal, struct error *error);

#endif
