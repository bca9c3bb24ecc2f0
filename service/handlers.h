/*
 * handlers.h - what each route does, one function or two.
 *
 *   work    on the desk's thread, or a predictors' where it has a cost: may wait for the
 *           store, the disk, the processor. Makes the reply, or leaves it to answer.
 *   cost    of work that computes and writes nothing: about how many nanoseconds of a
 *           core it will take (predictors.h). On the HTTP server's thread, from memory
 *           only; NULL: the work is the desk's.
 *   answer  on the HTTP server's thread: from memory only. Makes the reply, or answers
 *           false: wait until request->subject changes or request->deadline_ns passes,
 *           then call again. A deadline in the past must be answered true.
 */
#ifndef SERVICE_HANDLERS_H
#define SERVICE_HANDLERS_H

#include <stdbool.h>

#include "service/context.h"
#include "service/request.h"

struct handler {
    void (*work)(struct context *context, struct request *request);
    uint64_t (*cost)(struct context *context, const struct request *request);
    bool (*answer)(struct context *context, struct request *request);
};

/* The route's handler: static. */
const struct handler *handler_of(enum route route);

/* Before the first byte of an upload: opens the scratch file it goes to.
 *   ST_NOT_FOUND, ST_DATASET_BUSY, ST_DATASET_IMMUTABLE  of the dataset or file name
 *   ST_DISK_FULL  the disk is nearly full */
enum status upload_begin(struct context *context, struct request *request,
                         struct error *error);
/* Appends to it.  ST_BODY_TOO_LARGE, ST_DISK_FULL, ST_INTERNAL */
enum status upload_write(struct context *context, struct request *request,
                         const void *data, size_t size, struct error *error);
/* Closes and removes what was not published. */
void upload_abandon(struct context *context, struct request *request);

/* One file a noun. */
void dataset_create(struct context *context, struct request *request);
void dataset_delete(struct context *context, struct request *request);
void dataset_file_put(struct context *context, struct request *request);
void dataset_import(struct context *context, struct request *request);
bool dataset_import_answer(struct context *context, struct request *request);
bool dataset_import_get(struct context *context, struct request *request);
bool dataset_list(struct context *context, struct request *request);
bool dataset_get(struct context *context, struct request *request);
bool dataset_budget(struct context *context, struct request *request);
void dataset_ledger(struct context *context, struct request *request);
bool ledger_head_get(struct context *context, struct request *request);

void job_create(struct context *context, struct request *request);
void job_estimate(struct context *context, struct request *request);
void job_cancel(struct context *context, struct request *request);
bool job_list(struct context *context, struct request *request);
bool job_get(struct context *context, struct request *request);

bool model_list(struct context *context, struct request *request);
bool model_get(struct context *context, struct request *request);
uint64_t model_content_cost(struct context *context, const struct request *request);
void model_content(struct context *context, struct request *request);
uint64_t model_predict_cost(struct context *context, const struct request *request);
void model_predict(struct context *context, struct request *request);

bool algorithm_list(struct context *context, struct request *request);
bool openapi_get(struct context *context, struct request *request);
bool version_get(struct context *context, struct request *request);
bool livez_get(struct context *context, struct request *request);
bool readyz_get(struct context *context, struct request *request);

#endif
