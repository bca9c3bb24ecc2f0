/*
 * jobs.h - all jobs, in memory and on disk.
 *
 * Invariants
 *   (1) The request and the plan of a job never change; a pointer to a job is valid
 *       until jobs_close.
 *   (2) Every move is made inside a store transaction, under whose lock the state
 *       cannot change otherwise; memory follows when the transaction is durable, then
 *       waiting requests are woken.
 *   (3) Moves are those of job_state.h: a finished job never moves.
 *   (4) What a run records is shown by job_show or by the job's end, not before: both
 *       are called only at ticks of the tick clock.
 *   (5) Every change of what is shown of a job makes a new version of it; one version
 *       has one answer.
 *   (6) The id of a job's model is drawn when the job is submitted, so that it does not
 *       reveal when training ended; it is shown when the model is published.
 *
 * Threads: any. The lock guards what may change.
 */
#ifndef SERVICE_JOBS_JOBS_H
#define SERVICE_JOBS_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/views/job_view.h"
#include "service/jobs/jobs_base.h"
#include "service/process/job_state.h"

struct jobs; /* opaque */
struct job;  /* opaque */

/* Reads all rows.
 *   ST_CORRUPT  a row does not read back; the error names it
 *   ST_IO       the store cannot be read */
enum status jobs_open(struct jobs **out, struct store_tx *tx,
                      const struct jobs_base *base, struct error *error);
void jobs_close(struct jobs *jobs); /* NULL is allowed */

struct job_addition {
    struct job_id id;
    struct job_plan *plan_take;
    uint64_t ledger_seq;           /* number of its RESERVE entry; 0: nothing is
                                      reserved */
    uint64_t measurement_seq;      /* the same for its evaluation on a holdout */
    const struct principal *owner; /* the principal that submits it */
    size_t ahead;                  /* jobs that its transaction adds before it */
    struct trace_context trace;
};

/* Inserts a QUEUED job; takes its plan (on failure too).
 *   out    found by jobs_find once the transaction is durable, gone if it is not
 *   ST_IO  the store is poisoned */
enum status jobs_add(struct jobs *jobs, struct store_tx *tx,
                     const struct job_addition *addition, struct job **out,
                     struct error *error);

/* The job of that id; NULL if there is none, or if it was deleted. */
struct job *jobs_find(struct jobs *jobs, const char *id);
/* The same, but also finds a job that was deleted since the start. */
struct job *jobs_find_ever(struct jobs *jobs, const char *id);
/* The number of places, including those of jobs that were deleted since the start
 * (job_admin.h). */
size_t jobs_count(struct jobs *jobs);
struct job *jobs_at(struct jobs *jobs, size_t index); /* oldest is 0 */

/* Returns whether it has a model, and which: it has published one, which was not
 * deleted. */
bool job_model(struct jobs *jobs, const struct job *job, struct model_id *model);
/* Its last evaluation that is shown; false: there is none. */
bool job_evaluation(struct jobs *jobs, const struct job *job,
                    struct evaluation_point *point);
/* Returns whether it ever published a model. */
bool job_published(struct jobs *jobs, const struct job *job);
enum job_state job_state(struct jobs *jobs, const struct job *job);

/* Returns how many jobs on the dataset are queued or running. */
size_t jobs_active_on(struct jobs *jobs, const struct dataset_id *dataset);

/* Returns how many jobs that start from these weights are queued or running. */
size_t jobs_start_from(struct jobs *jobs, const char *weights);

/* The jobs that have not ended, in order of submission; to be freed. */
struct job **jobs_active(struct jobs *jobs, size_t *count);

/* The number of jobs shown in each state, and the next job. Only running jobs are
 * walked over. */
struct jobs_tally {
    size_t by_state[JOB_STATE_COUNT];
    size_t queued, running; /* running: includes those being cancelled */
    struct job *next;       /* queued longest; NULL: none is queued */
    /* No job below this place of jobs_at is queued or running. */
    size_t oldest_active;
    /* Versions grow with every change: version with changes of anything that is shown
     * of jobs, states_version with changes of by_state only. */
    uint64_t version, states_version;
    uint64_t later_scores; /* grows whenever an evaluation after a training is shown */
};
struct jobs_tally jobs_tally(struct jobs *jobs);

/* Sets by_state to the number of jobs of the project in each state. */
void jobs_tally_project(struct jobs *jobs, const char *project,
                        size_t by_state[JOB_STATE_COUNT]);

struct job_move {
    enum job_state state;
    enum job_reason reason;
    const struct model_id *model; /* the model that the move publishes, or NULL */
    int64_t second;               /* of the wall clock: becomes the start or end time */
};

/* Moves job in tx. A move that the drawing of job_state.h does not have is our bug. The
 * move sets start and end times and the attempt; a terminal move shows all that was
 * recorded.
 *   ST_IO  the store is poisoned */
enum status job_move(struct jobs *jobs, struct store_tx *tx, struct job *job,
                     const struct job_move *move, struct error *error);

/* Records progress, an evaluation (or NULL), and all that was kept before. The next
 * tick shows what is recorded. */
void job_record(struct jobs *jobs, struct job *job, const struct job_progress *progress,
                const struct evaluation_point *point);

/* Keep an evaluation, and what a step released next to the gradient, until the next
 * job_record. Before that, no tick and no end of the job shows them. The names and the
 * number of the released values are the same at every step of a job. */
void job_keep_point(struct jobs *jobs, struct job *job,
                    const struct evaluation_point *point);
void job_keep_released(struct jobs *jobs, struct job *job, uint64_t step,
                       const struct released_value *values, size_t count);

/* Remembers the quality measured on a holdout, which the move to SUCCEEDED shows. */
void job_record_quality(struct jobs *jobs, struct job *job, char *quality_take);

/* Returns the same text, valid as long as the job runs; NULL: nothing was measured. */
const char *job_recorded_quality(struct jobs *jobs, const struct job *job);

struct job_progress job_recorded(struct jobs *jobs, const struct job *job);
/* The progress that is shown. */
struct job_progress job_shown(struct jobs *jobs, const struct job *job);

/* Shows at a tick what was recorded since the last tick, the estimated time left, and,
 * if the job is queued, its position in the queue; then wakes waiting requests. Does
 * nothing if nothing changed. queued counts the queued jobs that were shown in this
 * tick, in order of submission; the call adds this job. */
void job_show(struct jobs *jobs, struct job *job, int64_t second, size_t *queued);

/* Returns how many of its evaluations are shown. */
size_t job_shown_points(struct jobs *jobs, const struct job *job);

/* Writes what was recorded to the job's row, in a transaction of its own. If the store
 * is shared, writes only what is shown, because other daemons read the row at any
 * moment.
 *   ST_IO  the store is poisoned */
enum status job_save(struct jobs *jobs, struct store *store, struct job *job,
                     struct error *error);

/* Returns the current answer for the job, held for the caller, who drops it. An answer
 * is composed at the first request for a version, and kept for the jobs that were asked
 * for last. The job is in the registry. */
struct cached_response *cached_response(struct jobs *jobs, struct job *job);

/* The job's line of a list, as JSON text, to be freed. It is composed and kept the same
 * way. */
char *job_summary_text(struct jobs *jobs, struct job *job);

/* The job as JSON text, whether or not it is in the registry; to be freed. */
char *job_text(struct jobs *jobs, const struct job *job);

/* Notes that something that is shown of the dataset has changed: this makes a new
 * version. */
void jobs_note_dataset(struct jobs *jobs, const struct dataset_id *dataset);

/* Calls look while no job changes, for the files that may include job.h. look must be
 * brief, and call nothing of this file. */
struct changed_jobs;
void jobs_look(struct jobs *jobs,
               void (*look)(void *context, const struct changed_jobs *changed),
               void *context);

#endif
