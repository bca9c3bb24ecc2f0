#include <stdio.h>
#include <microhttpd.h>

#include "api/requests/fetch_request.h"
#include "service/access/access.h"
#include "service/audit/audit_event.h"
#include "service/datasets/datasets.h"
#include "service/handlers/handlers.h"
#include "service/ingest/fetch_status.h"
#include "service/ingest/fetcher.h"
#include "service/outbound/target.h"
#include "service/outbound/transfer.h"
#include "service/process/daemon_state.h"

/* Finds which file the request means, if the principal may upload files of the
 * dataset. */
static enum status find(struct daemon_state *context, const struct request *request,
                        struct fetch_place *place, struct error *error)
{
    struct dataset *dataset;
    const struct access_question question = handler_question(request);
    enum status status =
        access_find_own_dataset(context, &question, request->match.id, &dataset, error);
    if (status != ST_OK)
        return status;
    *place = (struct fetch_place){.dataset = dataset_spec(dataset)->id,
                                  .principal = request->caller.principal};
    snprintf(place->file, sizeof place->file, "%.*s", FETCH_FILE_SIZE - 1,
             request->match.name);
    return ST_OK;
}

static enum status say(struct daemon_state *context, struct request *request,
                       const struct fetch_place *place, unsigned http_status,
                       struct error *error)
{
    char *text = fetch_status_text(context->fetch_status, place);
    if (text == NULL)
        return error_set(error, ST_NOT_FOUND, "no fetch of this file");
    reply_header_add(&request->reply, "Cache-Control", "no-store");
    reply_json(&request->reply, http_status, text);
    return ST_OK;
}

static enum status keep_act(struct daemon_state *context, const struct request *request,
                            const struct fetch_place *place, struct error *error)
{
    struct audit_event act;
    char detail[FETCH_FILE_SIZE + 16];
    snprintf(detail, sizeof detail, "{\"file\":\"%s\"}", place->file);
    audit_event_begin(&act, context, request);
    act.row.detail = detail;
    return audit_event_keep(context, &act, error);
}

/* Reads the request's body. On ST_OK asked contains secrets. */
static enum status read_request(struct daemon_state *context, struct request *request,
                                struct fetch_request *asked, struct error *error)
{
    enum status status = fetch_request_parse(asked, request_text(request), error);
    if (request->body != NULL)
        hash_zero(request->body, request->body_size);
    if (status == ST_OK)
        status = target_check(asked->url, &context->outbound->allowed, "/url", error);
    return status;
}

enum status handle_dataset_file_fetch(struct daemon_state *context,
                                      struct request *request, struct error *error)
{
    struct fetch_place place;
    struct fetch_request asked = {.url = ""};
    enum status status = find(context, request, &place, error);
    if (status == ST_OK)
        status = read_request(context, request, &asked, error);
    if (status == ST_OK)
        status = fetcher_start(context, &place,
                               &(struct fetch_source){.request = &asked}, error);
    hash_zero(&asked, sizeof asked);
    if (status == ST_OK)
        status = keep_act(context, request, &place, error);
    return status == ST_OK ? say(context, request, &place, MHD_HTTP_ACCEPTED, error)
                           : status;
}

enum status handle_dataset_fetch_get(struct daemon_state *context,
                                     struct request *request, struct error *error)
{
    struct fetch_place place;
    enum status status = find(context, request, &place, error);
    return status == ST_OK ? say(context, request, &place, MHD_HTTP_OK, error) : status;
}

enum status handle_dataset_fetch_delete(struct daemon_state *context,
                                        struct request *request, struct error *error)
{
    struct fetch_place place;
    enum status status = find(context, request, &place, error);
    if (status == ST_OK && !fetch_status_cancel(context->fetch_status, &place))
        status = error_set(error, ST_NOT_FOUND, "no fetch of this file");
    if (status == ST_OK)
        status = keep_act(context, request, &place, error);
    if (status == ST_OK)
        reply_empty(&request->reply, MHD_HTTP_NO_CONTENT);
    return status;
}
