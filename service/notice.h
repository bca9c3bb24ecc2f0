/*
 * notice.h - what webhooks are to be told of what happens to jobs and datasets.
 *
 * A budget is low when what is not spent of it falls to a half, to a fifth or to a tenth,
 * and exhausted when it falls below a thousandth. What is held does not count, since it
 * may be given back: so each of these is told once in an epoch of the budget. A divided
 * dataset has a budget for each part, and each is told of.
 *
 * A sweep has ended with the last of its runs, and is told of with that one: as cancelled
 * where any of them was, else as ended.
 *
 * Threads: that of the transaction.
 */
#ifndef SERVICE_NOTICE_H
#define SERVICE_NOTICE_H

#include "service/context.h"

/* Writes down, in the transaction that ends the job by this move, that it ended, and so
 * perhaps the sweep that it is a run of, and what its settlement made of the budget. Called
 * for every job that ends, once.
 *   ST_IO   the store is poisoned */
enum status notice_job_ended(struct context *context, struct store_tx *tx,
                             const struct job *job, const struct job_move *move,
                             struct error *error);

struct notice_charge { /* that something else than a job was charged to a dataset */
    const struct dataset_id *dataset;
    const char *project; /* the dataset's */
    int64_t second;
};

/* Writes down, in the transaction that settles it, what it made of the budget.
 *   ST_IO  the store is poisoned */
enum status notice_charged(struct context *context, struct store_tx *tx,
                           const struct notice_charge *charge, struct error *error);

/* Writes down, in the transaction that makes the dataset READY, that it was imported.
 *   ST_IO  the store is poisoned */
enum status notice_imported(struct context *context, struct store_tx *tx,
                            const struct dataset *dataset, int64_t second,
                            struct error *error);

/* Writes down, in the transaction that proposes the dataset's grant or approves it, that it
 * waits or does no more.
 *   ST_IO  the store is poisoned */
enum status notice_grant(struct context *context, struct store_tx *tx,
                         const struct dataset *dataset, const struct proposal *proposal,
                         struct error *error);

#endif
