/*
 * jobs.h - every job there ever was, in memory and on disk.
 *
 * Invariants
 *   (1) What a job was asked and planned to do never changes; its pointer is good until
 *       jobs_close.
 *   (2) Every move is made inside a store transaction, under whose lock the state
 * cannot move otherwise; memory follows when it is durable, then whoever waits is
 * woken. (3) A finished job never moves.
 *
 * Threads: any. The lock guards what may change.
 */
#ifndef SERVICE_JOBS_H
#define SERVICE_JOBS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/job_request.h"
#include "api/views.h"
#include "base/mechanism.h"
#include "service/datasets.h"
#include "service/job_state.h"
#include "service/waiters.h"
#include "store/db.h"

struct jobs; /* opaque */
struct job;  /* opaque */

/* What was asked and planned, complete before the job is added. */
struct job_plan {
    struct job_request request; /* resolved; owned */
    bool is_private;            /* of the dataset: something is reserved */
    struct mechanism mechanism; /* empty where the algorithm adds no noise; owned */
    double epsilon_planned, order;
};
void job_plan_fini(struct job_plan *plan); /* a zeroed one is allowed */

/* Reads all rows.  ST_IO, ST_CORRUPT */
enum status jobs_open(struct jobs **out, struct store_tx *tx, struct datasets *datasets,
                      struct waiters *waiters, struct error *error);
void jobs_close(struct jobs *jobs); /* NULL is allowed */

/* Inserts a QUEUED job; takes plan (on failure too).
 *   out  good once the transaction is durable */
enum status jobs_add(struct jobs *jobs, struct store_tx *tx, const struct job_id *id,
                     struct job_plan *plan_take, uint64_t ledger_seq, struct job **out,
                     struct error *error);

struct job *jobs_find(struct jobs *jobs, const char *id); /* NULL: none */
size_t jobs_count(struct jobs *jobs);
struct job *jobs_at(struct jobs *jobs, size_t index); /* oldest is 0 */

const struct job_id *job_id(const struct job *job);
const struct job_plan *job_plan(const struct job *job);
enum job_state job_state(struct jobs *jobs, const struct job *job);
uint32_t job_attempt(struct jobs *jobs, const struct job *job);
uint64_t job_step(struct jobs *jobs, const struct job *job);
uint64_t job_version(struct jobs *jobs, const struct job *job);
uint64_t job_ledger_seq(const struct job *job);
/* Set to end the run between two micro-batches; read by the trainer. */
atomic_bool *job_stop_flag(struct job *job);

/* How many jobs on the dataset are queued or running. */
size_t jobs_active_on(struct jobs *jobs, const struct dataset_id *dataset);

/* Moves job in tx; a move that is not in the drawing is our bug. Start and end times
 * and the attempt are set by the move. model  the published model's id, or NULL */
enum status job_move(struct jobs *jobs, struct store_tx *tx, struct job *job,
                     enum job_state state, enum job_reason reason,
                     const struct model_id *model, struct error *error);

/* Shows progress (memory only; the caller keeps to once a second). */
void job_progress(struct jobs *jobs, struct job *job, uint64_t step,
                  uint64_t authorised_steps, double epsilon_spent);

/* Appends one evaluation and writes the row, in a transaction of its own. */
enum status job_evaluated(struct jobs *jobs, struct store *store, struct job *job,
                          const struct evaluation_point *point, struct error *error);

/* As answered, with the version it shows; to be freed. */
char *job_text(struct jobs *jobs, const struct job *job, uint64_t *version);

#endif
