#include <string.h>

#include "api/audit_view.h"
#include "api/limits.h"
#include "api/query.h"
#include "service/access.h"
#include "service/context.h"
#include "service/entries.h"
#include "service/handlers.h"

enum { FILTER_LENGTH_MAX = 64 };

static bool visit(void *context, const struct audit_row *row)
{
    struct entries *entries = context;
    if (!entries_have_room(entries))
        return false;
    entries_add(entries, row->seq, audit_row_render(row));
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
                              const struct entries_wanted *wanted,
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

enum status handle_audit_list(struct context *context, struct request *request,
                              struct error *error)
{
    struct entries_wanted wanted;
    struct audit_range range = {0};
    struct store_tx *tx = NULL;
    error->faults = NULL; /* report a wrong parameter as "invalid" */
    enum status status = access_check_everywhere(request, error);
    if (status == ST_OK)
        status = entries_parse(&wanted, request, error);
    if (status == ST_OK)
        status = read_range(&range, &wanted, request, error);
    if (status != ST_OK)
        return status;
    struct entries *entries = entries_create(&wanted);
    do {
        status = store_begin(context->store, STORE_READ, &tx, error);
        if (status != ST_OK)
            break;
        status = audit_rows_walk(tx, &range, visit, entries, error);
    } while (store_again(tx, &status, error));
    if (status == ST_OK)
        entries_reply(request, entries, "acts");
    else
        entries_destroy(entries);
    return status;
}
