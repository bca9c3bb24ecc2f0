#include "service/runs/standardise_wait.h"

#include <string.h>
#include <time.h>

#include "service/datasets/datasets.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/job_plan.h"
#include "service/jobs/jobs.h"
#include "service/process/daemon_state.h"
#include "store/rows/statistics_rows.h"

enum { POLL_NS = 100000000 }; /* answers are shown at whole seconds */

struct reading {
    const struct schema *schema;
    const struct network *network;
    struct standardise_numbers *numbers;
    bool is_running;
    enum status status;
    struct error *error;
};

static bool visit(void *context, const struct statistics_row *row)
{
    struct reading *reading = context;
    reading->is_running = strcmp(row->state, "RUNNING") == 0;
    if (reading->is_running)
        return false;
    if (row->answers[0] != '\0') {
        reading->status =
            standardise_scale(&reading->numbers->scale, row, reading->schema,
                              reading->network, reading->error);
        return false;
    }
    if (!job_reason_parse(&reading->numbers->reason, row->reason))
        reading->numbers->reason = REASON_INTERNAL;
    reading->status = error_set(reading->error, ST_INTERNAL,
                                "statistics %s have failed", row->id.text);
    return false;
}

static enum status read_row(struct daemon_state *context, const char *id,
                            struct reading *reading, struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status;
    do {
        feature_scale_fini(&reading->numbers->scale);
        *reading = (struct reading){reading->schema, reading->network, reading->numbers,
                                    false,           ST_CORRUPT,       error};
        status = store_begin(context->store, STORE_READ, &tx, error);
        if (status != ST_OK)
            return status;
        status = statistics_row_find(tx, id, visit, reading, error);
    } while (store_again(tx, &status, error));
    return status == ST_OK && !reading->is_running ? reading->status : status;
}

enum status standardise_wait(struct standardise_numbers *numbers,
                             struct daemon_state *context, struct job *job,
                             struct error *error)
{
    const struct job_request *request = &job_plan(job)->request;
    const struct dataset *dataset =
        datasets_find(context->datasets, request->dataset.text);
    struct reading reading = {.schema = &dataset_spec(dataset)->schema,
                              .network = request->train.network,
                              .numbers = numbers,
                              .is_running = true};
    enum status status = ST_OK;
    if (!request->standardise.is_asked)
        return ST_OK;
    while (status == ST_OK && reading.is_running) {
        if (atomic_load(job_stop_flag(job)))
            return error_set(error, ST_CANCELLED, "stopped");
        status =
            read_row(context, request->standardise.statistics.text, &reading, error);
        if (status == ST_OK && reading.is_running)
            nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
    }
    return status;
}
