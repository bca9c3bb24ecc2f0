#include "service/datasets/caption_update.h"

#include "api/requests/caption.h"
#include "service/audit/audit_event.h"
#include "service/http/entity_tag.h"
#include "service/process/daemon_state.h"

static enum status check_version(const struct request *request, const char *tag,
                                 struct error *error)
{
    const char *known = request_header(request, "If-Match");
    if (known == NULL)
        return error_set(error, ST_PRECONDITION_REQUIRED,
                         "If-Match must name the version that is changed, or be *");
    if (!tag_list_holds_strongly(known, tag))
        return error_set(error, ST_PRECONDITION_FAILED,
                         "it has changed since that version");
    return ST_OK;
}

static enum status put(struct daemon_state *context, const struct request *request,
                       const struct caption_update *renaming, struct caption *after,
                       struct error *error)
{
    struct audit_event act;
    struct store_tx *tx = NULL;
    audit_event_begin(&act, context, request);
    enum status status = store_begin(context->store, STORE_ROW, &tx, error);
    if (status != ST_OK)
        return status;
    status = renaming->put(context, tx, renaming->thing, after, error);
    if (status == ST_OK)
        status = audit_trail_append(tx, &act.row, error);
    return store_end(tx, status, error);
}

enum status caption_update_run(struct daemon_state *context,
                               const struct request *request,
                               struct caption_update *renaming, struct error *error)
{
    struct caption *before = &renaming->before_take, after = {0};
    enum status status = check_version(request, renaming->tag, error);
    if (status == ST_OK)
        status =
            caption_merge(&after, before, request->body != NULL ? request->body : "",
                          request->body_size, error);
    if (status == ST_OK && !caption_equal(before, &after))
        status = put(context, request, renaming, &after, error);
    caption_fini(before);
    caption_fini(&after);
    return status;
}
