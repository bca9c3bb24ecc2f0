/*
 * surveys.h - statistics that were asked for together, a survey: those that have not ended
 * in memory, all of them on disk.
 *
 *   RUNNING ---> SUCCEEDED, FAILED     in one transaction with what it means for the budget
 *
 * A survey waits and runs in one state, since it takes about as long as reading the records
 * once, and nothing can be done to it meanwhile.
 *
 * Invariants
 *   (1) A row ends once: its answers are written with the charge for them, or never.
 *   (2) How a run ended is left with the survey and made known at a tick (surveyor.h).
 *   (3) Memory follows when a transaction is durable.
 *
 * Threads: any. The lock guards the list and the endings; what else a survey has never
 * changes.
 */
#ifndef SERVICE_SURVEYS_H
#define SERVICE_SURVEYS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mechanism.h"
#include "base/principal.h"
#include "engine/statistics/measurement.h"
#include "service/datasets.h"
#include "service/job_state.h"
#include "store/store.h"

struct surveys; /* opaque */

struct survey_ending {
    enum status status; /* ST_OK: there are answers */
    bool stopped;  /* a stop took effect before it ended: the answers are dropped */
    char *answers; /* JSON, owned */
    struct error error;
};

struct survey { /* one that has not ended */
    struct survey_id id;
    struct dataset_id dataset;
    char owner[PRINCIPAL_NAME_SIZE]; /* who asked */
    const char *project;             /* its dataset's */
    uint64_t ledger_seq;
    struct mechanism mechanism;   /* owned; none of one that a start found */
    struct statistics statistics; /* resolved, owned; likewise */
    struct measurement measurement;
    atomic_bool stop;             /* the run is to end */
    struct survey_ending *ending; /* left by the run; or NULL */
};

/* Reads all rows, and keeps those that are RUNNING.
 *   ST_CORRUPT  a row does not read back; the error names it
 *   ST_IO       the store cannot be read */
enum status surveys_open(struct surveys **out, struct store_tx *tx,
                         struct datasets *datasets, struct error *error);
void surveys_close(struct surveys *surveys); /* NULL is allowed */

/* Whether one more may be asked for. All that decides it is how many are RUNNING, as shown.
 *   ST_QUEUE_FULL  LIMIT_SURVEYS are */
enum status surveys_check_room(struct surveys *surveys, struct error *error);

struct survey_addition {
    struct survey *survey_take;
    const char *spec, *guarantee; /* JSON */
    int64_t create_ms;
};

/* Inserts it as RUNNING; takes the survey (on failure too). It is listed once tx is durable.
 *   ST_IO  the store is poisoned */
enum status surveys_add(struct surveys *surveys, struct store_tx *tx,
                        const struct survey_addition *addition, struct error *error);

struct survey_end {
    enum job_reason reason; /* REASON_NONE: it SUCCEEDED */
    const char *answers;    /* where it did */
    int64_t second;
};

/* Ends it in tx. When that is durable the survey is gone from the list and destroyed.
 *   ST_IO  the store is poisoned */
enum status surveys_end(struct surveys *surveys, struct store_tx *tx,
                        struct survey *survey, const struct survey_end *end,
                        struct error *error);

/* The run leaves how it ended, once; the tick takes it, NULL while there is none. */
void survey_hand_over(struct surveys *surveys, struct survey *survey,
                      struct survey_ending *ending_take);
struct survey_ending *survey_ending_take(struct surveys *surveys,
                                         struct survey *survey);
void survey_ending_destroy(struct survey_ending *ending); /* NULL is allowed */

/* The survey in this place of those that have not ended and are this daemon's, oldest first;
 * NULL behind the last. Only what ends surveys may keep it. */
struct survey *surveys_at(struct surveys *surveys, size_t index);

size_t surveys_count(struct surveys *surveys);
size_t surveys_on(struct surveys *surveys, const struct dataset_id *dataset);

/* How many of them this daemon has: those of surveys_at. */
size_t surveys_here(struct surveys *surveys);

struct survey_renewal;

/* Those that were read are other daemons', and hold what the renewal says. Before anything else,
 * where the store is shared.
 *   ST_CORRUPT  one holds nothing */
enum status surveys_yield(struct surveys *surveys, const struct survey_renewal *renewal,
                          struct error *error);
/* The survey of that id that has not ended, of whichever daemon; NULL: there is none. In a
 * transaction that keeps others from ending it. */
struct survey *surveys_find(struct surveys *surveys, const char *id);

/* Whether one that has not ended has this id. */
bool surveys_runs(struct surveys *surveys, const char *id);

/* Calls visit with each that has not ended, under the lock: it must be brief, and call
 * nothing of this file. */
void surveys_look(struct surveys *surveys,
                  void (*visit)(void *context, const struct survey *survey),
                  void *context);

struct survey_entry {     /* of any row that was read when these were opened */
    struct job_id holder; /* as the ledger knows it */
    uint64_t ledger_seq;
    bool running;
};

/* The rows that surveys_open read, to be held against the ledger. */
const struct survey_entry *surveys_read(const struct surveys *surveys, size_t *count);

struct survey_renewal {
    struct datasets *datasets;
    /* What the survey holds of its dataset, owned by the caller of the function; NULL: none
     * is known. It is asked for before the lock is taken. */
    char *(*reserved)(void *context, const struct job_id *holder);
    void *context;
};

/* Puts the survey of that id as another daemon has left its row in tx: while it is RUNNING
 * elsewhere it is counted and looked at with the others, but in no place of surveys_at.
 * What this daemon has is left alone: nobody else ends it.
 *   ST_CORRUPT  the row does not read back
 *   ST_IO       the store is poisoned */
enum status surveys_renew(struct surveys *surveys, struct store_tx *tx, const char *id,
                          const struct survey_renewal *renewal, struct error *error);

/* Destroys a survey that is in no list. NULL is allowed. */
void survey_destroy(struct survey *survey);

#endif
