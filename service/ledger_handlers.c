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
#include "service/access.h"
#include "service/handlers.h"

static enum status find_private(struct context *context, const struct request *request,
                                const struct dataset_spec **spec, struct error *error)
{
    struct dataset *dataset;
    const struct access_question question = access_question_of(request);
    enum status status =
        access_find_dataset(context, &question, request->match.id, &dataset, error);
    if (status != ST_OK)
        return status;
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

enum status handle_dataset_budget_history(struct context *context,
                                          struct request *request, struct error *error)
{
    const struct dataset_spec *spec = NULL;
    struct budget_history history;
    uint64_t points = 0;
    error->faults = NULL; /* what is wrong with a parameter is told as "invalid" */
    enum status status = find_private(context, request, &spec, error);
    if (status == ST_OK)
        status = query_count(
            &points, "points", request_query(request, "points"),
            (struct query_range){1, LIMIT_BUDGET_POINTS, LIMIT_BUDGET_POINTS_DEFAULT},
            error);
    if (status == ST_OK)
        status = budget_history_read(&history, context->store, &spec->id,
                                     (size_t)points, error);
    if (status != ST_OK)
        return status;
    reply_header_add(&request->reply, "Cache-Control", "no-store");
    request_answer(request, budget_history_render(&spec->id, &history));
    budget_history_fini(&history);
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
    char order;         /* of a page's mark: 'p' oldest first, 'q' newest first */
    uint64_t last;      /* seq */
    bool more;
    struct epochs epochs; /* of the budget, where entries are summed up */
    size_t line, sent;    /* as lines: the next to be sent, and how much of it is */
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
    epochs_fini(&entries->epochs);
    free(entries);
}

static bool visit(void *context, const struct ledger_row *row)
{
    struct entries *entries = context;
    if (entries->count == entries->size) {
        entries->more = true;
        return false;
    }
    entries->texts[entries->count++] =
        entries->epochs.count > 0 ? ledger_summary_render(row, &entries->epochs)
                                  : ledger_entry_render(row);
    entries->last = row->seq;
    return true;
}

/* What is asked for, beside page_size. */
struct entries_wanted {
    struct ledger_range range;
    char order; /* as in struct entries */
    bool summary;
};

static enum status parse_wanted(const struct request *request,
                                struct entries_wanted *wanted, struct error *error)
{
    static const char *const orders[] = {"asc", "desc", NULL};
    static const char *const views[] = {"full", "summary", NULL};
    const char *token = request_query(request, "page_token");
    unsigned order = 0, view = 0;
    enum status status =
        query_choice(&order, "order", request_query(request, "order"), orders, error);
    if (status == ST_OK)
        status =
            query_choice(&view, "view", request_query(request, "view"), views, error);
    struct page_mark mark = {.order = order == 1 ? 'q' : 'p'};
    if (status == ST_OK && token != NULL)
        status = page_mark_parse(&mark, token, error);
    wanted->order = mark.order;
    wanted->range.newest_first = order == 1;
    wanted->range.after = order == 0 ? mark.position : 0;
    wanted->range.before = order == 1 ? mark.position : 0;
    wanted->summary = view == 1;
    return status;
}

/* The epochs are read inside the transaction, so that they are those of its entries. */
static enum status read_entries(struct context *context, const struct dataset_id *id,
                                const struct entries_wanted *wanted,
                                struct entries *entries, struct error *error)
{
    struct store_tx *tx = NULL;
    struct balance unused;
    enum status status = store_begin(context->store, &tx, error);
    if (status != ST_OK)
        return status;
    if (wanted->summary)
        status = ledger_epochs(context->ledger, id, &entries->epochs, &unused, error);
    if (status == ST_OK)
        status = ledger_rows_walk(tx, &wanted->range, visit, entries, error);
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

/* Names the next page of lines: of the same length, order and view, where these were
 * named. */
static void link_next(struct request *request, const char *token)
{
    static const char *const names[] = {"page_size", "order", "view"};
    char same[96] = "";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = request_query(request, names[i]);
        size_t used = strlen(same);
        if (text != NULL)
            snprintf(same + used, sizeof same - used, "%s=%s&", names[i], text);
    }
    reply_header_add(&request->reply, "Link",
                     "</v1/datasets/%s/ledger?%spage_token=%s>; rel=\"next\"",
                     request->match.id, same, token);
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
        link_next(request, token);
    reply_stream(&request->reply, "application/x-ndjson", &stream);
}

static void reply_entries(struct request *request, struct entries *entries_take,
                          bool as_lines)
{
    char token[PAGE_TOKEN_SIZE];
    page_mark_render(token, &(struct page_mark){.order = entries_take->order,
                                                .position = entries_take->last});
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
    struct entries_wanted wanted = {0};
    size_t size = 0;
    bool as_lines = request->type == 1; /* JSON first, then NDJSON */
    const char *size_text = request_query(request, "page_size");
    error->faults = NULL; /* what is wrong with a parameter is told as "invalid" */
    enum status status = find_private(context, request, &spec, error);
    if (status == ST_OK)
        status = query_page_size(&size, size_text, error);
    if (status == ST_OK)
        status = parse_wanted(request, &wanted, error);
    if (status != ST_OK)
        return status;
    struct entries *entries =
        entries_create(as_lines && size_text == NULL ? LIMIT_PAGE_SIZE : size);
    entries->order = wanted.order;
    wanted.range.dataset = spec->id.text;
    status = read_entries(context, &spec->id, &wanted, entries, error);
    if (status == ST_OK)
        reply_entries(request, entries, as_lines);
    else
        entries_destroy(entries);
    return status;
}
