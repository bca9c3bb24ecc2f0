/*
 * statistics_plan.h - turns a request for statistics into what is measured and its
 * price, from public values only: for POST /v1/statistics and its estimate, and for the
 * moments that a job buys (standardisation.h).
 *
 *   request, dataset --> resolved and priced --> a survey (statistics_runs.h)
 *
 * Moments read the records that are trained on, and are charged to these. All other
 * statistics read every part of the dataset.
 *
 * Ownership: a plan owns its request, its text and its mechanism.
 * Threads: the write queue's.
 */
#ifndef SERVICE_PLANNING_STATISTICS_PLAN_H
#define SERVICE_PLANNING_STATISTICS_PLAN_H

#include "accountant/ledger/entry.h"
#include "accountant/pricing/figures.h"
#include "api/requests/statistics_request.h"
#include "base/part.h"
#include "engine/statistics/measurement.h"

struct daemon_state;
struct dataset;
struct principal;
struct statistics_run;

struct statistics_plan {               /* zeroed: nothing yet */
    struct statistics_request request; /* owned; once priced, resolved */
    const struct dataset *dataset;     /* READY */
    const struct model_spec *prefix;   /* whose layers moments are behind; or NULL */
    char *spec;                        /* as requested, owned */
    enum parts parts;                  /* that it reads and is charged to */
    struct mechanism mechanism;        /* owned */
    struct measurement measurement;
    struct figure figure;
};

void statistics_plan_fini(struct statistics_plan *plan);

/* The JSON pointer to the member that sets the amount of noise. */
const char *statistics_plan_target(const struct statistics_plan *plan);

/* Fills in the members after dataset.
 *   ST_DATASET_PUBLIC  the dataset is public
 *   ST_DATASET_ORDER   moments of a dataset whose parts are read no more
 *   ST_INVALID         as statistics_resolve and measurement_plan; the delta is larger
 *                      than the dataset's; or no noise meets the target. error->pointer
 *                      names the member of the request */
enum status statistics_plan_price(struct statistics_plan *plan,
                                  struct daemon_state *context, struct error *error);

/* Makes the survey of a priced plan, which gives it its statistics. Only its ledger_seq
 * is missing. */
struct statistics_run *statistics_plan_run(struct statistics_plan *plan,
                                           const struct principal *owner);

/* Renders its cost under this entry of the ledger, to be freed. */
char *statistics_plan_guarantee(const struct statistics_plan *plan,
                                const struct ledger_entry_name *entry);

#endif
