#include <string.h>

#include "api/http/query.h"
#include "api/limits.h"
#include "api/views/audit_view.h"
#include "service/access/access.h"
#include "service/handlers/handlers.h"
#include "service/http/chain_pages.h"
#include "service/process/daemon_state.h"

enum { FILTER_LENGTH_MAX = 64 };

static bool visit(void *context, const struct audit_row *row)
{
    struct chain_pages *entries = context;
    if (!chain_pages_have_room(entries))
        return false;
    chain_pages_add(entries, row->seq, audit_row_render(row));
    return true;
}

/* Reads a filter, whose value is compared literally; NULL if it is not given. */
static enum status read_filter(const char **text, const char *name,
                               const struct request *request, struct error *error)
{
    *text = request_query(request, name);
    if (*text == NULL || (*text[0] != '\0' && strlen(*text) <= FILTER_LENGTH_MAX))
        return ST_OK;
    return query_refuse(name, "must have 1 to 64 bytes", error);
}

static enum status read_range(struct audit_range *range,
                              const struct chain_pages_wanted *wanted,
                              const struct request *request, struct error *error)
{
    static const char *const results[] = {"ok", "denied", "error", NULL};
    const char *result = request_query(request, "result");
    unsigned place = 0;
    uint64_t after = 0;
    enum status status = read_filter(&range->actor, "actor", request, error);
    if (status == ST_OK)
        status = read_filter(&range->action, "action", request, error);
    if (status == ST_OK)
        status = read_filter(&range->object, "object", request, error);
    if (status == ST_OK)
        status = query_choice(&place, "result", result, results, error);
    if (status == ST_OK)
        status = query_count(&after, "after", request_query(request, "after"),
                             (struct query_range){0, LIMIT_COUNT - 1, 0}, error);
    range->result = result != NULL ? results[place] : NULL;
    range->after = wanted->after > after ? wanted->after : after;
    range->before = wanted->before;
    range->newest_first = wanted->newest_first;
    return status;
}

enum status handle_audit_list(struct daemon_state *context, struct request *request,
                              struct error *error)
{
    struct chain_pages_wanted wanted;
    struct audit_range range = {0};
    struct store_tx *tx = NULL;
    const struct access_question question = handler_question(request);
    error->faults = NULL; /* report a wrong parameter as "invalid" */
    enum status status = access_check_everywhere(&question, error);
    if (status == ST_OK)
        status = chain_pages_parse(&wanted, request, error);
    if (status == ST_OK)
        status = read_range(&range, &wanted, request, error);
    if (status != ST_OK)
        return status;
    struct chain_pages *entries = chain_pages_create(&wanted);
    do {
        status = store_begin(context->store, STORE_READ, &tx, error);
        if (status != ST_OK)
            break;
        status = audit_rows_walk(tx, &range, visit, entries, error);
    } while (store_again(tx, &status, error));
    if (status == ST_OK)
        chain_pages_reply(request, entries, "acts");
    else
        chain_pages_destroy(entries);
    return status;
}
