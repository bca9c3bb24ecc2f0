/*
 * surveys.h - surveys, that is, statistics that were requested together: those that
 * have not ended in memory, all of them on disk.
 *
 *   RUNNING ---> SUCCEEDED, FAILED     in one transaction with the charge to the budget
 *
 * A survey waits and runs in one state, since it takes about as long as reading the
 * records once, and no request can change it meanwhile.
 *
 * Invariants
 *   (1) A row ends once: its answers are written with the charge for them, or never.
 *   (2) A run leaves its ending with the survey, and a tick publishes it (surveyor.h).
 *   (3) Memory follows when a transaction is durable.
 *
 * Threads: any. The lock guards the list and the endings; the other members of a survey
 * never change.
 */
#ifndef SERVICE_SURVEYS_H
#define SERVICE_SURVEYS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/statistics/measurement.h"
#include "service/datasets.h"
#include "service/job_state.h"

struct surveys; /* opaque */

struct survey_ending {
    enum status status; /* ST_OK: there are answers */
    /* A stop took effect before it ended: the answers are dropped. */
    bool stopped;
    char *answers; /* JSON, owned */
    struct error error;
};

struct survey { /* one that has not ended */
    struct survey_id id;
    struct dataset_id dataset;
    char owner[PRINCIPAL_NAME_SIZE]; /* who asked for it */
    const char *project;             /* its dataset's project */
    uint64_t ledger_seq;
    struct mechanism mechanism;   /* owned; empty in a survey that a start found */
    struct statistics statistics; /* resolved, owned; also empty then */
    struct measurement measurement;
    atomic_bool stop;             /* the run must end */
    struct survey_ending *ending; /* left by the run; or NULL */
};

/* Reads all rows, and keeps those that are RUNNING.
 *   ST_CORRUPT  a row does not read back; the error names it
 *   ST_IO       the store cannot be read */
enum status surveys_open(struct surveys **out, struct store_tx *tx,
                         struct datasets *datasets, struct error *error);
void surveys_close(struct surveys *surveys); /* NULL is allowed */

/* Checks whether one more may be requested. Only the number of RUNNING ones, as shown,
 * decides.
 *   ST_QUEUE_FULL  LIMIT_SURVEYS are RUNNING */
enum status surveys_check_room(struct surveys *surveys, struct error *error);

struct survey_addition {
    struct survey *survey_take;
    const char *spec, *guarantee; /* JSON */
    int64_t create_ms;
};

/* Inserts the survey as RUNNING; takes it (on failure too). It is listed once tx is
 * durable.
 *   ST_IO  the store is poisoned */
enum status surveys_add(struct surveys *surveys, struct store_tx *tx,
                        const struct survey_addition *addition, struct error *error);

struct survey_end {
    enum job_reason reason; /* REASON_NONE: it SUCCEEDED */
    const char *answers;    /* if it did */
    int64_t second;
};

/* Ends the survey in tx. When that is durable it is removed from the list and
 * destroyed.
 *   ST_IO  the store is poisoned */
enum status surveys_end(struct surveys *surveys, struct store_tx *tx,
                        struct survey *survey, const struct survey_end *end,
                        struct error *error);

/* The run hands over its ending, once; the tick takes it, or NULL if there is none. */
void survey_hand_over(struct surveys *surveys, struct survey *survey,
                      struct survey_ending *ending_take);
struct survey_ending *survey_ending_take(struct surveys *surveys,
                                         struct survey *survey);
void survey_ending_destroy(struct survey_ending *ending); /* NULL is allowed */

/* The survey in this place of this daemon's unfinished ones, oldest first; NULL after
 * the last. Only code that ends surveys may keep the pointer. */
struct survey *surveys_at(struct surveys *surveys, size_t index);

size_t surveys_count(struct surveys *surveys);
size_t surveys_on(struct surveys *surveys, const struct dataset_id *dataset);

/* Returns how many unfinished surveys this daemon has: those of surveys_at. */
size_t surveys_here(struct surveys *surveys);

struct survey_renewal;

/* Declares that the surveys that were read belong to other daemons, and takes what they
 * hold from the renewal. To be called before anything else, if the store is shared.
 *   ST_CORRUPT  one holds nothing */
enum status surveys_yield(struct surveys *surveys, const struct survey_renewal *renewal,
                          struct error *error);
/* The unfinished survey of that id, of any daemon; NULL: there is none. To be called in
 * a transaction that keeps other daemons from ending it. */
struct survey *surveys_find(struct surveys *surveys, const char *id);

/* Returns whether an unfinished survey has this id. */
bool surveys_runs(struct surveys *surveys, const char *id);

/* Calls visit with each unfinished survey, under the lock: it must be brief, and call
 * nothing of this file. */
void surveys_look(struct surveys *surveys,
                  void (*visit)(void *context, const struct survey *survey),
                  void *context);

struct survey_entry {     /* of each row that was read when surveys were opened */
    struct job_id holder; /* as the ledger knows it */
    uint64_t ledger_seq;
    bool running;
};

/* The rows that surveys_open read, to be compared with the ledger. */
const struct survey_entry *surveys_read(const struct surveys *surveys, size_t *count);

struct survey_renewal {
    struct datasets *datasets;
    /* Returns what the survey holds of its dataset, owned by the caller; NULL if
     * nothing is known. Called before the lock is taken. */
    char *(*reserved)(void *context, const struct job_id *holder);
    void *context;
};

/* Updates the survey of that id from its row in tx, which another daemon has written:
 * while it is RUNNING elsewhere it is counted and visited with the others, but has no
 * place in surveys_at. This daemon's own surveys are not touched: no other daemon ends
 * them.
 *   ST_CORRUPT  the row does not read back
 *   ST_IO       the store is poisoned */
enum status surveys_renew(struct surveys *surveys, struct store_tx *tx, const char *id,
                          const struct survey_renewal *renewal, struct error *error);

/* Destroys a survey that is in no list. NULL is allowed. */
void survey_destroy(struct survey *survey);

#endif
