/*
 * statistics_runs.h - surveys, that is, statistics that were requested together, or an
 * evaluation of a published model: those that have not ended in memory, all of them on
 * disk.
 *
 *   RUNNING ---> SUCCEEDED, FAILED     in one transaction with the charge to the budget
 *
 * A survey waits and runs in one state, since it takes about as long as reading the
 * records once, and no request can change it meanwhile.
 *
 * An evaluation on a public dataset reserves nothing, and its row cites no entry of the
 * ledger. Every other survey has a reservation of its own: each look is charged.
 *
 * Invariants
 *   (1) A row ends once: its answers are written with the charge for them, or never.
 *   (2) A run leaves its ending with the survey, and a tick publishes it
 *       (statistics_runner.h).
 *   (3) Memory follows when a transaction is durable.
 *
 * Threads: any. The lock guards the list and the endings; the other members of a survey
 * never change.
 */
#ifndef SERVICE_JOBS_STATISTICS_RUNS_H
#define SERVICE_JOBS_STATISTICS_RUNS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/part.h"
#include "engine/nn/model_spec.h"
#include "engine/quality/quality_plan.h"
#include "engine/statistics/measurement.h"
#include "service/datasets/datasets.h"
#include "service/process/job_state.h"

struct statistics_runs; /* opaque */

struct statistics_run_ending {
    enum status status; /* ST_OK: there are answers */
    /* A stop took effect before it ended: the answers are dropped. */
    bool stopped;
    char *answers; /* JSON, owned */
    struct error error;
};

struct model_evaluation { /* what an evaluation reads and releases */
    struct model_id model;
    struct division division;    /* the dataset's */
    struct quality_plan quality; /* of a holdout */
    double epsilon, delta;       /* of a holdout */
};

struct statistics_run { /* one that has not ended */
    struct survey_id id;
    struct dataset_id dataset;
    char owner[PRINCIPAL_NAME_SIZE]; /* who asked for it */
    const char *project;             /* its dataset's project */
    uint64_t ledger_seq;
    bool is_free;                 /* its dataset is public: nothing is reserved */
    struct mechanism mechanism;   /* owned; empty in a survey that a start found, and in
                                   * a free one */
    struct statistics statistics; /* resolved, owned; also empty then */
    enum parts parts;             /* of its dataset, that statistics read */
    struct model_spec prefix;     /* whose layers moments are behind, owned; or empty */
    struct measurement measurement;
    struct model_evaluation evaluation;   /* instead, if it is an evaluation */
    atomic_bool stop;                     /* the run must end */
    struct statistics_run_ending *ending; /* left by the run; or NULL */
};

/* The parts of its dataset that it reads and is charged to. */
enum parts statistics_run_parts(const struct statistics_run *survey);

/* Reads all rows, and keeps those that are RUNNING.
 *   ST_CORRUPT  a row does not read back; the error names it
 *   ST_IO       the store cannot be read */
enum status statistics_runs_open(struct statistics_runs **out, struct store_tx *tx,
                                 struct datasets *datasets, struct error *error);
void statistics_runs_close(struct statistics_runs *surveys); /* NULL is allowed */

/* Checks whether one more may be requested. Only the number of RUNNING ones, as shown,
 * decides.
 *   ST_QUEUE_FULL  LIMIT_SURVEYS are RUNNING */
enum status statistics_runs_check_room(struct statistics_runs *surveys,
                                       struct error *error);

struct statistics_run_addition {
    struct statistics_run *survey_take;
    const char *spec, *guarantee; /* JSON */
    int64_t create_ms;
};

/* Inserts the survey as RUNNING; takes it (on failure too). It is listed once tx is
 * durable.
 *   ST_IO  the store is poisoned */
enum status statistics_runs_add(struct statistics_runs *surveys, struct store_tx *tx,
                                const struct statistics_run_addition *addition,
                                struct error *error);

struct statistics_run_end {
    enum job_reason reason; /* REASON_NONE: it SUCCEEDED */
    const char *answers;    /* if it did */
    int64_t second;
};

/* Ends the survey in tx. When that is durable it is removed from the list and
 * destroyed.
 *   ST_IO  the store is poisoned */
enum status statistics_runs_end(struct statistics_runs *surveys, struct store_tx *tx,
                                struct statistics_run *survey,
                                const struct statistics_run_end *end,
                                struct error *error);

/* The run hands over its ending, once; the tick takes it, or NULL if there is none. */
void statistics_run_hand_over(struct statistics_runs *surveys,
                              struct statistics_run *survey,
                              struct statistics_run_ending *ending_take);
struct statistics_run_ending *
statistics_run_ending_take(struct statistics_runs *surveys,
                           struct statistics_run *survey);
void statistics_run_ending_destroy(
    struct statistics_run_ending *ending); /* NULL is allowed */

/* The survey in this place of this daemon's unfinished ones, oldest first; NULL after
 * the last. Only code that ends surveys may keep the pointer. */
struct statistics_run *statistics_runs_at(struct statistics_runs *surveys,
                                          size_t index);

size_t statistics_runs_count(struct statistics_runs *surveys);
size_t statistics_runs_on(struct statistics_runs *surveys,
                          const struct dataset_id *dataset);

/* Returns how many unfinished surveys this daemon has: those of statistics_runs_at. */
size_t statistics_runs_here(struct statistics_runs *surveys);

struct statistics_run_renewal;

/* Declares that the surveys that were read belong to other daemons, and takes what they
 * hold from the renewal. To be called before anything else, if the store is shared.
 *   ST_CORRUPT  one holds nothing */
enum status statistics_runs_yield(struct statistics_runs *surveys,
                                  const struct statistics_run_renewal *renewal,
                                  struct error *error);
/* The unfinished survey of that id, of any daemon; NULL: there is none. To be called in
 * a transaction that keeps other daemons from ending it. */
struct statistics_run *statistics_runs_find(struct statistics_runs *surveys,
                                            const char *id);

/* Returns whether an unfinished survey has this id. */
bool statistics_runs_runs(struct statistics_runs *surveys, const char *id);

/* Calls visit with each unfinished survey, under the lock: it must be brief, and call
 * nothing of this file. */
void statistics_runs_look(struct statistics_runs *surveys,
                          void (*visit)(void *context,
                                        const struct statistics_run *survey),
                          void *context);

struct statistics_run_entry { /* of each row that was read when surveys were opened */
    struct job_id holder;     /* as the ledger knows it */
    uint64_t ledger_seq;
    bool running;
    bool is_free; /* it reserved nothing */
};

/* The rows that statistics_runs_open read, to be compared with the ledger. */
const struct statistics_run_entry *
statistics_runs_read(const struct statistics_runs *surveys, size_t *count);

struct statistics_run_renewal {
    struct datasets *datasets;
    /* Returns what the survey holds of its dataset, owned by the caller; NULL if
     * nothing is known. Called before the lock is taken. */
    char *(*reserved)(void *context, const struct job_id *holder);
    void *context;
};

/* Updates the survey of that id from its row in tx, which another daemon has written:
 * while it is RUNNING elsewhere it is counted and visited with the others, but has no
 * place in statistics_runs_at. This daemon's own surveys are not touched: no other
 * daemon ends them.
 *   ST_CORRUPT  the row does not read back
 *   ST_IO       the store is poisoned */
enum status statistics_runs_renew(struct statistics_runs *surveys, struct store_tx *tx,
                                  const char *id,
                                  const struct statistics_run_renewal *renewal,
                                  struct error *error);

/* Destroys a survey that is in no list. NULL is allowed. */
void statistics_run_destroy(struct statistics_run *survey);

#endif
