#include "service/handlers.h"

static const struct handler handlers[ROUTE_COUNT] = {
    [ROUTE_DATASET_CREATE] = {.work = dataset_create},
    [ROUTE_DATASET_LIST] = {.answer = dataset_list},
    [ROUTE_DATASET_GET] = {.answer = dataset_get},
    [ROUTE_DATASET_DELETE] = {.work = dataset_delete},
    [ROUTE_DATASET_FILE_PUT] = {.work = dataset_file_put},
    [ROUTE_DATASET_IMPORT] = {.work = dataset_import, .answer = dataset_import_answer},
    [ROUTE_DATASET_IMPORT_GET] = {.answer = dataset_import_get},
    [ROUTE_DATASET_BUDGET] = {.answer = dataset_budget},
    [ROUTE_DATASET_LEDGER] = {.work = dataset_ledger},
    [ROUTE_LEDGER_HEAD] = {.answer = ledger_head_get},
    [ROUTE_JOB_ESTIMATE] = {.work = job_estimate},
    [ROUTE_JOB_CREATE] = {.work = job_create},
    [ROUTE_JOB_LIST] = {.answer = job_list},
    [ROUTE_JOB_GET] = {.answer = job_get},
    [ROUTE_JOB_CANCEL] = {.work = job_cancel},
    [ROUTE_MODEL_LIST] = {.answer = model_list},
    [ROUTE_MODEL_GET] = {.answer = model_get},
    [ROUTE_MODEL_CONTENT] = {.work = model_content, .cost = model_content_cost},
    [ROUTE_MODEL_PREDICT] = {.work = model_predict, .cost = model_predict_cost},
    [ROUTE_ALGORITHM_LIST] = {.answer = algorithm_list},
    [ROUTE_OPENAPI] = {.answer = openapi_get},
    [ROUTE_VERSION] = {.answer = version_get},
    [ROUTE_LIVEZ] = {.answer = livez_get},
    [ROUTE_READYZ] = {.answer = readyz_get},
};

const struct handler *handler_of(enum route route)
{
    return &handlers[route];
}
