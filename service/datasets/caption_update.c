#include "service/datasets/caption_update.h"

#include "api/requests/caption.h"
#include "service/audit/audit_trail.h"
#include "service/http/entity_tag.h"
#include "service/process/daemon_state.h"

static enum status check_version(const struct caption_update *update,
                                 struct error *error)
{
    if (update->if_match == NULL)
        return error_set(error, ST_PRECONDITION_REQUIRED,
                         "If-Match must name the version that is changed, or be *");
    if (!tag_list_holds_strongly(update->if_match, update->tag))
        return error_set(error, ST_PRECONDITION_FAILED,
                         "it has changed since that version");
    return ST_OK;
}

static enum status put(struct daemon_state *context,
                       const struct caption_update *update, struct caption *after,
                       struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status = store_begin(context->store, STORE_ROW, &tx, error);
    if (status != ST_OK)
        return status;
    status = update->put(context, tx, update->thing, after, error);
    if (status == ST_OK)
        status = audit_trail_append(tx, update->act, error);
    return store_end(tx, status, error);
}

enum status caption_update_run(struct daemon_state *context,
                               struct caption_update *update, struct error *error)
{
    struct caption *before = &update->before_take, after = {0};
    enum status status = check_version(update, error);
    if (status == ST_OK)
        status = caption_merge(&after, before, update->body, error);
    if (status == ST_OK && !caption_equal(before, &after))
        status = put(context, update, &after, error);
    caption_fini(before);
    caption_fini(&after);
    return status;
}
