#include <stdlib.h>
#include <microhttpd.h>

#include "service/access/access.h"
#include "service/audit/audit_event.h"
#include "service/datasets/caption_update.h"
#include "service/datasets/dataset_json.h"
#include "service/datasets/datasets.h"
#include "service/handlers/handlers.h"
#include "service/http/cached_response.h"
#include "service/jobs/job_admin.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/jobs.h"
#include "service/models/model_json.h"
#include "service/models/models.h"
#include "service/process/daemon_state.h"
#include "store/rows/model_rows.h"

/* Updates the caption as the request asks. */
static enum status run(struct daemon_state *context, struct request *request,
                       struct caption_update *update, struct error *error)
{
    struct audit_event act;
    audit_event_begin(&act, context, request);
    update->if_match = request_header(request, "If-Match");
    update->body = request_text(request);
    update->act = &act.row;
    return caption_update_run(context, update, error);
}

/* --- datasets --- */

static enum status put_of_dataset(struct daemon_state *context, struct store_tx *tx,
                                  void *dataset, struct caption *caption_take,
                                  struct error *error)
{
    return dataset_caption_put(context->datasets, tx, dataset, caption_take, error);
}

enum status handle_dataset_patch(struct daemon_state *context, struct request *request,
                                 struct error *error)
{
    struct dataset *dataset;
    char tag[REQUEST_TAG_SIZE];
    const struct access_question question = handler_question(request);
    enum status status =
        access_find_dataset(context, &question, request->match.id, &dataset, error);
    if (status != ST_OK)
        return status;
    char *text = dataset_json(context->datasets, dataset, context->ledger,
                              &request->caller.principal);
    request_tag(tag, text);
    free(text);
    struct caption_update update = {.tag = tag,
                                    .before_take =
                                        dataset_caption(context->datasets, dataset),
                                    .put = put_of_dataset,
                                    .thing = dataset};
    status = run(context, request, &update, error);
    if (status == ST_OK)
        request_answer_changed(request,
                               dataset_json(context->datasets, dataset, context->ledger,
                                            &request->caller.principal));
    return status;
}

/* --- jobs --- */

static enum status put_of_job(struct daemon_state *context, struct store_tx *tx,
                              void *job, struct caption *caption_take,
                              struct error *error)
{
    return job_caption_put(context->jobs, tx, job, caption_take, error);
}

enum status handle_job_patch(struct daemon_state *context, struct request *request,
                             struct error *error)
{
    struct job *job;
    const struct access_question question = handler_question(request);
    enum status status =
        access_find_job(context, &question, request->match.id, &job, error);
    if (status != ST_OK)
        return status;
    request->about = *job_dataset(job);
    struct cached_response *answer = cached_response(context->jobs, job);
    struct caption_update update = {.tag = answer->tag,
                                    .before_take = job_caption(context->jobs, job),
                                    .put = put_of_job,
                                    .thing = job};
    status = run(context, request, &update, error);
    cached_response_drop(answer);
    if (status == ST_OK)
        reply_job(&request->reply, MHD_HTTP_OK, cached_response(context->jobs, job));
    return status;
}

/* --- models --- */

/* A model, as caption_update.h passes it on. */
struct named {
    const struct model_row *row;
};

static enum status put_of_model(struct daemon_state *context, struct store_tx *tx,
                                void *named, struct caption *caption_take,
                                struct error *error)
{
    const struct model_row *row = ((const struct named *)named)->row;
    return model_caption_put(context->models, tx, row, caption_take, error);
}

enum status handle_model_patch(struct daemon_state *context, struct request *request,
                               struct error *error)
{
    struct named named;
    char tag[REQUEST_TAG_SIZE];
    const struct access_question question = handler_question(request);
    enum status status =
        access_find_model(context, &question, request->match.id, &named.row, error);
    if (status != ST_OK)
        return status;
    const struct job *job = jobs_find_ever(context->jobs, named.row->job.text);
    if (job != NULL)
        request->about = *job_dataset(job);
    char *text = model_json(context, named.row);
    request_tag(tag, text);
    free(text);
    struct caption_update update = {.tag = tag,
                                    .before_take =
                                        model_caption(context->models, named.row),
                                    .put = put_of_model,
                                    .thing = &named};
    status = run(context, request, &update, error);
    if (status == ST_OK)
        request_answer_changed(request, model_json(context, named.row));
    return status;
}
