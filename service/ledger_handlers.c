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
    reply_header_add(&request->reply, "Cache-Control", "no-store");
    request_answer(request, budget_render(&spec->id, &balance, &epochs));
    epochs_fini(&epochs);
    return ST_OK;
}

enum status handle_ledger_head(struct context *context, struct request *request,
                               struct error *error)
{
    struct ledger_entry_name head;
    (void)error;
    ledger_head(context->ledger, &head);
    reply_header_add(&request->reply, "Cache-Control", "no-store");
    request_answer(request, ledger_head_render(&head));
    return ST_OK;
}

/* --- the ledger's entries, as a page of JSON or as lines --- */

struct entries {
    size_t size, count; /* asked for, found */
    char **texts;       /* (size), the first count are owned */
    uint64_t last;      /* seq */
    bool more;
    size_t line, sent; /* as lines: the next to be sent, and how much of it is */
};

static struct entries *entries_create(size_t size)
{
    struct entries *entries = calloc(1, sizeof *entries);
    CHECK(entries != NULL);
    entries->size = size;
    entries->texts = calloc(size, sizeof *entries->texts);
    CHECK(entries->texts != NULL);
    return entries;
}

static void entries_destroy(void *destroyed)
{
    struct entries *entries = destroyed;
    for (size_t i = 0; i < entries->count; i++)
        free(entries->texts[i]);
    free(entries->texts);
    free(entries);
}

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

/* Copies what comes next of the lines, each of which is an entry and an end of line. */
static ssize_t pull_lines(void *context, uint64_t position, char *to, size_t room)
{
    struct entries *entries = context;
    size_t filled = 0;
    (void)position;
    while (filled < room && entries->line < entries->count) {
        const char *rest = entries->texts[entries->line] + entries->sent;
        size_t left = strlen(rest);
        size_t size = left < room - filled ? left : room - filled;
        memcpy(to + filled, rest, size);
        filled += size;
        entries->sent += size;
        if (size < left || filled == room)
            continue;
        to[filled++] = '\n';
        entries->line++;
        entries->sent = 0;
    }
    return filled > 0 ? (ssize_t)filled : STREAM_END;
}

/* Names the next page of lines, which is as long as this one if its length was
 * named. */
static void link_next(struct request *request, const struct entries *entries,
                      const char *token)
{
    char size[32] = "";
    if (request_query(request, "page_size") != NULL)
        snprintf(size, sizeof size, "page_size=%zu&", entries->size);
    reply_header_add(&request->reply, "Link",
                     "</v1/datasets/%s/ledger?%spage_token=%s>; rel=\"next\"",
                     request->match.id, size, token);
}

static void reply_lines(struct request *request, struct entries *entries_take,
                        const char *token)
{
    struct stream stream = {
        .pull = pull_lines, .close = entries_destroy, .context = entries_take};
    for (size_t i = 0; i < entries_take->count; i++)
        stream.size += strlen(entries_take->texts[i]) + 1;
    stream.held = stream.size;
    if (entries_take->more)
        link_next(request, entries_take, token);
    reply_stream(&request->reply, "application/x-ndjson", &stream);
}

static void reply_entries(struct request *request, struct entries *entries_take,
                          bool as_lines)
{
    char token[PAGE_TOKEN_SIZE];
    page_token_render(token, entries_take->last);
    reply_header_add(&request->reply, "Cache-Control", "no-store");
    if (as_lines) {
        reply_lines(request, entries_take, token);
        return;
    }
    reply_json(&request->reply, MHD_HTTP_OK,
               page_render("entries", entries_take->texts, entries_take->count,
                           entries_take->more ? token : NULL));
    entries_destroy(entries_take);
}

enum status handle_dataset_ledger(struct context *context, struct request *request,
                                  struct error *error)
{
    const struct dataset_spec *spec = NULL;
    uint64_t after = 0;
    size_t size = 0;
    bool as_lines = request->type == 1; /* JSON first, then NDJSON */
    const char *size_text = request_query(request, "page_size");
    error->faults = NULL; /* what is wrong with a parameter is told as "invalid" */
    enum status status = find_private(context, request, &spec, error);
    if (status == ST_OK)
        status = query_page_size(&size, size_text, error);
    if (status == ST_OK)
        status = page_token_parse(&after, request_query(request, "page_token"), error);
    if (status != ST_OK)
        return status;
    struct entries *entries =
        entries_create(as_lines && size_text == NULL ? LIMIT_PAGE_SIZE : size);
    const struct ledger_range range = {spec->id.text, after};
    status = read_entries(context, &range, entries, error);
    if (status == ST_OK)
        reply_entries(request, entries, as_lines);
    else
        entries_destroy(entries);
    return status;
}
