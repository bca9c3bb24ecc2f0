/*
 * survey_creation.h - adds a planned survey (statistics, or an evaluation of a model)
 * to the store, and hands it to its runner: reservation, row, row of the audit trail
 * and row of the idempotency key are one transaction. A survey on a public dataset
 * reserves nothing.
 *
 * Threads: the write queue's.
 */
#ifndef SERVICE_HANDLERS_SURVEY_CREATION_H
#define SERVICE_HANDLERS_SURVEY_CREATION_H

#include "accountant/ledger/entry.h"
#include "service/http/request.h"
#include "service/jobs/statistics_runs.h"
#include "store/rows/statistics_rows.h"

struct daemon_state;

struct survey_creation {
    struct daemon_state *context;
    struct request *request;
    struct statistics_run *survey_take; /* complete, except for its ledger_seq */
    const char *spec;                   /* as requested, JSON */
    const char *folder;                 /* path of its kind, with a slash at its end */
    const char *algorithm;              /* as the audit trail names its kind */
    double epsilon;                     /* of all of it, if it is charged */
    struct dataset
        *approved; /* whose approved discovery it uses; NULL: it needs none */
    const void *plan;
    /* Renders the cost under this entry of the ledger, to be freed; not called for a
     * survey that reserves nothing. */
    char *(*guarantee)(const void *plan, const struct ledger_entry_name *entry);
    char *(*render)(const struct statistics_row *row, const char *project);
};

/* Takes the survey (on failure too), and makes the reply, a 201.
 *   ST_DRAINING, ST_QUEUE_FULL     the service is stopping, or there is no room
 *   ST_DISK_FULL                   the disk is
 *   ST_BUDGET_EXHAUSTED and others as ledger_reserve
 *   others                         as idempotency_keep */
enum status survey_create(struct survey_creation *creation, struct error *error);

#endif
