/*
 * rank_group.h - the processes that take the steps of one job together, as used by
 * the run of that job (runner.h). They do not use the store: the run authorises,
 * durably, and then gives an order; they take the steps, and report what these
 * released. The run's own trainer takes no step. It receives the resulting model, and
 * evaluates, measures and saves it (trainer_adopt).
 *
 *   open: start, plan --> first report --> { order --> steps --> report } --> close
 *
 * Invariants
 *   (1) Only the run authorises. An order never goes beyond the authorised steps.
 *   (2) The first report comes once all ranks have compared what must be the same
 *       (mpi/start_facts.h): if they differ nothing was authorised yet.
 *   (3) Any failure ends all of them, and the job. Nothing is tried again.
 *
 * Threads: one, the run's. cancel may be set by any.
 */
#ifndef SERVICE_RUNS_RANK_GROUP_H
#define SERVICE_RUNS_RANK_GROUP_H

#include "engine/trainer.h"

struct daemon_state;
struct job;
struct rank_order;

struct rank_group; /* opaque */

struct rank_group_setup {
    const char *matrix;                   /* the path of the dataset's matrix, opened */
    const struct weights_source *weights; /* or NULL */
    struct trainer *trainer;              /* the run's */
    const atomic_bool *cancel;
};

/* Starts the ranks of the job and waits for their first report. The caller must close
 * *out, whatever is returned.
 *   ST_CANCELLED  cancel was seen set
 *   what rank 0 reports, as ST_DATASET_CORRUPT or ST_NO_MEMORY; ST_INVALID: they differ
 *   ST_INTERNAL   they cannot be started, or ended */
enum status rank_group_open(struct rank_group **out, struct daemon_state *context,
                            const struct job *job, const struct rank_group_setup *setup,
                            struct error *error);

/* Makes them take the steps of the order, which are authorised, and gives the trainer
 * the result.
 *   ST_INTERNAL   a rank ended, or the model diverged
 *   ST_CANCELLED, or what rank 0 reports */
enum status rank_group_take(struct rank_group *company, const struct rank_order *order,
                            struct error *error);

/* The last report. */
const struct rank_report *rank_group_report(const struct rank_group *company);

/* Returns whether the ranks caused the end of the run: one ended, or they differed. */
bool rank_group_is_lost(const struct rank_group *company);

/* Like trainer_released, for the last report. */
size_t rank_group_released(const struct rank_group *company,
                           struct released_value values[RELEASED_SERIES_MAX]);

/* Ends the processes. If the run is complete, waits for them to end by themselves. NULL
 * is allowed. */
void rank_group_end(struct rank_group *company, bool is_complete);
void rank_group_close(struct rank_group *company); /* the same, and frees */

#endif
