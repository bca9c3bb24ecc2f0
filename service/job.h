/*
 * job.h - one job in memory, as jobs.c keeps it. The files that make up that room are
 * jobs (reading and changing), job_upkeep (beside its run), active_jobs (those that have not ended), restored_job
 * and job_kept (rows at start), kept_answers and job_changes (what was answered and shown), job_events
 * and list_events (what followers are sent); everybody else knows a job by the functions
 * of jobs.h.
 *
 * Threads: what stands below `stop` is guarded by the lock of jobs; what stands above
 * it never changes once the job is in the registry.
 */
#ifndef SERVICE_JOB_H
#define SERVICE_JOB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/job_view.h"
#include "base/principal.h"
#include "service/job_answer.h"
#include "service/job_kept.h"
#include "service/job_state.h"
#include "service/job_told.h"

struct job_made { /* what a run has come to */
    struct job_progress progress;
    size_t point_count, released_count;
};

struct job_now { /* all of a job that may change, as shown */
    enum job_state state;
    enum job_reason reason;
    uint32_t attempt;
    uint64_t version;
    uint64_t row_version; /* of its row, which is written less often */
    struct job_made made;
    bool has_model, model_is_gone; /* it was published; and deleted */
    struct model_id model;
    int64_t start_ms, cancel_ms, end_ms;
    uint64_t queue_position; /* of QUEUED, from 1; else 0 */
    uint64_t seconds_left;   /* of RUNNING, once it can be told; else 0 */
};

struct job_changes {             /* versions (job_changes.h) */
    uint64_t any;                /* its last change */
    uint64_t state;              /* its state, or its place in the queue */
    uint64_t progress, charge;   /* its progress; what it holds or has spent */
    uint64_t *points, *released; /* (LIMIT_HISTORY), each of them; NULL: whatever there
                                    is was there at the start */
    struct job *newer, *older;   /* by their last changes */
};

struct job {
    struct job_id id; /* first, as registry.h asks */
    size_t place;     /* in the registry */
    uint64_t number;  /* of its row */
    struct job_kept *kept; /* its body; all else is what lists and starts need */
    struct dataset_id dataset;
    const struct algorithm *algorithm;
    struct sweep_id sweep;            /* that it is a run of; "": of none */
    bool regression;                  /* the dataset's task is one */
    bool is_private, is_measured;     /* the dataset is; on a holdout, or is to be */
    double epsilon_planned;
    struct evaluation_point last; /* of the points of a body that is not read yet */
    uint64_t ledger_seq, measurement_seq;
    struct model_id drawn; /* the id that its model will have */
    int64_t create_ms;
    char owner[PRINCIPAL_NAME_SIZE]; /* who submitted it */
    const char *project;             /* its dataset's */
    atomic_bool stop, removed;
    atomic_bool here;   /* a thread of this process runs it */
    struct job_told told; /* what the lookout has written of it (run_progress.h) */
    struct caption caption;
    struct job_now now;
    struct job_made recorded;
    /* Points and releases that the run has kept. Those beyond recorded wait for a mark. */
    size_t kept_points, kept_released;
    bool unshown; /* recorded is not what now.made shows */
    struct ending *ending;     /* was handed over and not yet taken; or NULL */
    struct job_answer *answer; /* of the last version asked for; NULL: none is kept */
    char *line;                /* of a list, likewise; owned */
    uint64_t line_version;
    struct job_changes changes;
};

/* The job's body, which is read where it was not. Its plan and its trace never change;
 * the rest of a job that has not ended is guarded by the lock of jobs. */
struct job_body *job_body(const struct job *job);

/* The view of job as of now; its points are borrowed from job. The caller holds the
 * lock, or is the only one who knows the job. */
struct job_view job_view_of(const struct job *job, const struct job_now *now);

/* How long a run takes still, if it goes on as it went: rounded up, and at least 1; 0
 * where no step is shown. It is made of what is shown alone, the steps and the second at
 * which they were shown first, so it tells no more (P6).
 *   elapsed_s  from the start to that second */
uint64_t job_seconds_left(uint64_t step, uint64_t steps, int64_t elapsed_s);

/* Destroys a job that is in no registry and has no ending. NULL is allowed. */
void job_destroy(void *item);

#endif
