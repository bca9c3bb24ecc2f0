#include "service/planning/dp_ranges.h"

#include <string.h>

#include "service/access/access.h"
#include "service/datasets/datasets.h"
#include "service/process/daemon_state.h"

static const char pointer[] = "/scaling/statistics";

struct finding { /* the search for the statistics that are named */
    struct daemon_state *context;
    const struct access_question *question;
    struct scaling_request *scaling;
    const struct dataset_spec *dataset;
    bool found;
    enum status status;
    struct error *error;
};

static enum status resolve(struct finding *finding, const struct statistics_row *row)
{
    if (strcmp(row->dataset, finding->dataset->id.text) != 0)
        return error_set_at(finding->error, ST_INVALID, pointer,
                            "%s are of another dataset, \"%s\"", row->id.text,
                            row->dataset);
    if (row->answers[0] == '\0')
        return error_set_at(finding->error, ST_INVALID, pointer,
                            "%s have no answers: they are %s", row->id.text,
                            row->state);
    return scaling_request_resolve(finding->scaling, row, &finding->dataset->schema,
                                   finding->error);
}

static bool visit(void *context, const struct statistics_row *row)
{
    struct finding *finding = context;
    const struct dataset *of = datasets_find(finding->context->datasets, row->dataset);
    const struct access_object object = {dataset_owner(of)->project, row->created_by};
    finding->found = true;
    finding->status = access_check_thing(finding->question, "statistics", row->id.text,
                                         &object, finding->error);
    if (finding->status == ST_OK)
        finding->status = resolve(finding, row);
    return false;
}

enum status dp_ranges_find(struct daemon_state *context,
                           const struct principal *principal,
                           struct scaling_request *scaling,
                           const struct dataset_spec *dataset, struct error *error)
{
    struct store_tx *tx = NULL;
    const char *id = scaling->statistics.text;
    const struct access_question question = {principal, SCOPE_JOBS_READ, pointer};
    const struct access_object nothing = {0};
    struct finding finding = {context, &question, scaling, dataset,
                              false,   ST_OK,     error};
    if (id[0] == '\0')
        return ST_OK;
    enum status status;
    do {
        status = store_begin(context->store, STORE_READ, &tx, error);
        if (status != ST_OK)
            return status;
        status = statistics_row_find(tx, id, visit, &finding, error);
    } while (store_again(tx, &status, error));
    if (status != ST_OK)
        return status;
    return finding.found
               ? finding.status
               : access_check_thing(&question, "statistics", id, &nothing, error);
}
