/*
 * job.h - struct job, one job in memory. These files know its members: jobs (reading
 * and changing), job_upkeep (changes outside a run), active_jobs (jobs that have not
 * ended), restored_job and job_text (rows at start), response_cache and job_changes
 * (what was answered and shown), job_events and list_events (what followers are sent).
 * All other files use the functions of jobs.h.
 *
 * Threads: the lock of jobs guards the members from `stop` on; those before `stop`
 * never change once the job is in the registry.
 */
#ifndef SERVICE_JOBS_JOB_H
#define SERVICE_JOBS_JOB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/principal.h"
#include "service/jobs/job_text.h"
#include "service/jobs/job_told.h"
#include "service/process/job_state.h"

struct job_made { /* how far a run has come */
    struct job_progress progress;
    size_t point_count, released_count;
};

struct job_now { /* everything about a job that may change, as shown */
    enum job_state state;
    enum job_reason reason;
    uint32_t attempt;
    uint64_t version;
    uint64_t row_version; /* version of the job's row, which is written less often */
    struct job_made made;
    bool has_model, model_is_gone; /* the model was published; it was deleted */
    struct model_id model;
    int64_t start_ms, cancel_ms, end_ms;
    uint64_t queue_position; /* position of a QUEUED job, from 1; else 0 */
    uint64_t seconds_left;   /* of a RUNNING job, once it can be estimated; else 0 */
};

struct job_changes {           /* versions (job_changes.h) */
    uint64_t any;              /* the job's last change */
    uint64_t state;            /* last change of its state, or of its place in the
                                    queue */
    uint64_t progress, charge; /* of its progress; of what it holds or has spent */
    /* (LIMIT_HISTORY) a version for each point; NULL: all points were there at the
     * start. */
    uint64_t *points, *released;
    struct job *newer, *older; /* neighbours in the order of last changes */
};

struct job {
    struct job_id id;      /* first, as registry.h asks */
    size_t place;          /* in the registry */
    uint64_t number;       /* of its row */
    struct job_text *kept; /* its body; lists and starts need only the other members */
    struct dataset_id dataset;
    const struct algorithm *algorithm;
    struct sweep_id sweep; /* the sweep that it is a run of; "": none */
    bool regression;       /* the dataset's task is regression */
    /* The dataset is private; the job has or will have an evaluation on a holdout. */
    bool is_private, is_measured;
    double epsilon_planned;
    struct evaluation_point last; /* last evaluation, known even if the body is not read
                                     yet */
    /* Scores on its dataset's holdout (job_score.h): of its own measurement, shown once
     * it SUCCEEDED, and of the newest evaluation of its model after that. */
    struct holdout_score own_score, later_score;
    int64_t later_ms; /* when that evaluation ended */
    uint64_t ledger_seq, measurement_seq;
    struct model_id drawn; /* the id that its model will have */
    int64_t create_ms;
    char owner[PRINCIPAL_NAME_SIZE]; /* who submitted it */
    const char *project;             /* its dataset's project */
    atomic_bool stop, removed;
    atomic_bool here; /* a thread of this process runs it */
    struct job_told
        told; /* what the store poller last wrote about it (progress_sync.h) */
    struct caption caption;
    struct job_now now;
    struct job_made recorded;
    /* Points and releases that the run has kept. Those beyond recorded wait for
     * job_record. */
    size_t kept_points, kept_released;
    bool unshown;              /* recorded differs from now.made */
    struct run_result *ending; /* handed over and not yet taken; or NULL */
    /* of the last version asked for; NULL: none is kept */
    struct cached_response *answer;
    char *line; /* its line in lists, kept the same way; owned */
    uint64_t line_version;
    struct job_changes changes;
};

/* Returns the job's body, and reads it from the row's texts if necessary. Its plan and
 * its trace never change; the lock of jobs guards the rest of the body of a job that
 * has not ended. */
struct job_body *job_body(const struct job *job);

/* Returns the view of job with the state now; its points are borrowed from job. The
 * caller holds the lock, or no other thread knows the job yet. */
struct job_view job_view_of(const struct job *job, const struct job_now *now);

/* Returns the score on the holdout that is shown of job with the state now, borrowed
 * from job; NULL: there is none. */
const struct holdout_score *job_score_of(const struct job *job,
                                         const struct job_now *now);

/* Estimates how long a run still takes at its speed so far: rounded up, and at least 1;
 * 0 if no step is shown. It uses only what is shown (the steps, and the second at which
 * they were first shown), so it reveals no more than that (P6).
 *   elapsed_s  from the start to that second */
uint64_t job_seconds_left(uint64_t step, uint64_t steps, int64_t elapsed_s);

/* Destroys a job that is in no registry and has no ending. NULL is allowed. */
void job_destroy(void *item);

#endif
