#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <microhttpd.h>

#include "accountant/ledger_view.h"
#include "api/budget_view.h"
#include "api/limits.h"
#include "api/page_view.h"
#include "api/query.h"
#include "base/check.h"
#include "service/handlers.h"

static enum status find_private(struct context *context, const struct request *request,
                                const struct dataset_spec **spec, struct error *error)
{
    const struct dataset *dataset = datasets_find(context->datasets, request->match.id);
    if (dataset == NULL)
        return error_set(error, ST_NOT_FOUND, "no dataset \"%s\"", request->match.id);
    *spec = dataset_spec(dataset);
    if ((*spec)->is_public)
        return error_set(error, ST_DATASET_PUBLIC, "\"%s\" is public: it has no budget",
                         request->match.id);
    return ST_OK;
}

enum status handle_dataset_budget(struct context *context, struct request *request,
                                  struct error *error)
{
    const struct dataset_spec *spec = NULL;
    struct balance balance;
    struct epochs epochs;
    enum status status = find_private(context, request, &spec, error);
    if (status == ST_OK)
        status = ledger_epochs(context->ledger, &spec->id, &epochs, &balance, error);
    if (status != ST_OK)
        return status;
    reply_header_add(request, "Cache-Control", "no-store");
    reply_json_tagged(request, budget_render(&spec->id, &balance, &epochs));
    epochs_fini(&epochs);
    return ST_OK;
}

enum status handle_ledger_head(struct context *context, struct request *request,
                               struct error *error)
{
    struct ledger_entry_name head;
    (void)error;
    ledger_head(context->ledger, &head);
    reply_header_add(request, "Cache-Control", "no-store");
    reply_json_tagged(request, ledger_head_render(&head));
    return ST_OK;
}

struct entries {
    size_t size, count; /* asked for, found */
    char **texts;
    uint64_t last; /* seq */
    bool more;
};

static bool visit(void *context, const struct ledger_row *row)
{
    struct entries *entries = context;
    if (entries->count == entries->size) {
        entries->more = true;
        return false;
    }
    entries->texts[entries->count++] = ledger_entry_render(row);
    entries->last = row->seq;
    return true;
}

static enum status read_entries(struct context *context,
                                const struct ledger_range *range,
                                struct entries *entries, struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status = store_begin(context->store, &tx, error);
    if (status != ST_OK)
        return status;
    status = ledger_rows_walk(tx, range, visit, entries, error);
    store_rollback(tx);
    return status;
}

/* NULL where they find no memory. */
static char *lines_of(const struct entries *entries)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    CHECK(out != NULL);
    for (size_t i = 0; i < entries->count; i++)
        fprintf(out, "%s\n", entries->texts[i]);
    /* Such a line is missing, and closing alone does not tell. */
    bool whole = ferror(out) == 0;
    if (fclose(out) == 0 && whole)
        return text;
    free(text);
    return NULL;
}

/* The way to the next page of lines; as long as this one, if its length was named. */
static void link_next(struct request *request, const struct entries *entries,
                      const char *token)
{
    char size[32] = "";
    if (request_query(request, "page_size") != NULL)
        snprintf(size, sizeof size, "page_size=%zu&", entries->size);
    reply_header_add(request, "Link",
                     "</v1/datasets/%s/ledger?%spage_token=%s>; rel=\"next\"",
                     request->match.id, size, token);
}

static enum status reply_entries(struct request *request, const struct entries *entries,
                                 bool as_lines, struct error *error)
{
    char token[PAGE_TOKEN_SIZE];
    page_token_render(token, entries->last);
    reply_header_add(request, "Cache-Control", "no-store");
    if (!as_lines) {
        reply_json(request, MHD_HTTP_OK,
                   page_render("entries", entries->texts, entries->count,
                               entries->more ? token : NULL));
        return ST_OK;
    }
    char *lines = lines_of(entries);
    if (lines == NULL)
        return error_set(error, ST_NO_MEMORY, "ask for a smaller page");
    if (entries->more)
        link_next(request, entries, token);
    reply_json(request, MHD_HTTP_OK, lines);
    request->reply.type = "application/x-ndjson";
    return ST_OK;
}

enum status handle_dataset_ledger(struct context *context, struct request *request,
                                  struct error *error)
{
    const struct dataset_spec *spec = NULL;
    struct entries entries = {0};
    uint64_t after = 0;
    bool as_lines = request->type == 1; /* JSON first, then NDJSON */
    const char *size = request_query(request, "page_size");
    error->faults = NULL; /* what is wrong with a parameter is told as "invalid" */
    enum status status = find_private(context, request, &spec, error);
    if (status == ST_OK)
        status = query_page_size(&entries.size, size, error);
    if (status == ST_OK)
        status = page_token_parse(&after, request_query(request, "page_token"), error);
    if (status != ST_OK)
        return status;
    if (as_lines && size == NULL)
        entries.size = LIMIT_PAGE_SIZE;
    entries.texts = calloc(entries.size, sizeof *entries.texts);
    CHECK(entries.texts != NULL);
    const struct ledger_range range = {spec->id.text, after};
    status = read_entries(context, &range, &entries, error);
    if (status == ST_OK)
        status = reply_entries(request, &entries, as_lines, error);
    for (size_t i = 0; i < entries.count; i++)
        free(entries.texts[i]);
    free(entries.texts);
    return status;
}
