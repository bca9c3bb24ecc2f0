#include "accountant/ledger/ledger_view.h"
#include "api/http/query.h"
#include "api/limits.h"
#include "api/views/budget_view.h"
#include "service/access/access.h"
#include "service/datasets/budget_text.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/datasets.h"
#include "service/handlers/cold_account.h"
#include "service/handlers/handlers.h"
#include "service/http/chain_pages.h"
#include "service/process/daemon_state.h"

static enum status find_private(struct daemon_state *context,
                                const struct request *request,
                                const struct dataset_spec **spec, struct error *error)
{
    struct dataset *dataset;
    struct dataset_info info;
    const struct access_question question = handler_question(request);
    enum status status =
        access_find_dataset(context, &question, request->match.id, &dataset, error);
    if (status != ST_OK)
        return status;
    dataset_read(context->datasets, dataset, &info);
    *spec = dataset_spec(dataset);
    if ((*spec)->is_public)
        return error_set(error, ST_DATASET_PUBLIC, "\"%s\" is public: it has no budget",
                         request->match.id);
    if (proposal_bars(&info.detail.proposal))
        return error_set(error, ST_GRANT_PENDING, "nothing is granted to \"%s\" yet",
                         request->match.id);
    return ST_OK;
}

enum status handle_dataset_budget(struct daemon_state *context, struct request *request,
                                  struct error *error)
{
    const struct dataset_spec *spec = NULL;
    char *text;
    enum status status = find_private(context, request, &spec, error);
    if (status == ST_OK &&
        cold_account_awaits(context, request,
                            datasets_find(context->datasets, spec->id.text)))
        status = cold_account_status(request, error);
    if (status == ST_OK)
        status = budget_text(&text, context->ledger, spec, error);
    if (status != ST_OK)
        return status;
    reply_header_add(&request->reply, "Cache-Control", "no-store");
    request_answer(request, text);
    return ST_OK;
}

enum status handle_dataset_budget_history(struct daemon_state *context,
                                          struct request *request, struct error *error)
{
    static const char *const names[] = {"train", "holdout", NULL};
    const struct dataset_spec *spec = NULL;
    struct budget_history history;
    uint64_t points = 0;
    unsigned part = PART_TRAIN;
    error->faults = NULL; /* errors of a parameter are reported as "invalid" */
    enum status status = find_private(context, request, &spec, error);
    if (status == ST_OK)
        status = query_count(
            &points, "points", request_query(request, "points"),
            (struct query_range){1, LIMIT_BUDGET_POINTS, LIMIT_BUDGET_POINTS_DEFAULT},
            error);
    if (status == ST_OK)
        status =
            query_choice(&part, "part", request_query(request, "part"), names, error);
    if (status == ST_OK && part >= division_parts(&spec->grant.division))
        status = query_refuse("part", "the dataset has no holdout", error);
    if (status == ST_OK)
        status = budget_history_read(&history, context->store,
                                     &(struct ledger_part){&spec->id, (enum part)part},
                                     (size_t)points, error);
    if (status != ST_OK)
        return status;
    reply_header_add(&request->reply, "Cache-Control", "no-store");
    request_answer(request, budget_history_render(&spec->id, &history));
    budget_history_fini(&history);
    return ST_OK;
}

enum status handle_ledger_head(struct daemon_state *context, struct request *request,
                               struct error *error)
{
    struct ledger_entry_name head;
    (void)error;
    ledger_head(context->ledger, &head);
    reply_header_add(&request->reply, "Cache-Control", "no-store");
    request_answer(request, ledger_head_render(&head));
    return ST_OK;
}

/* --- the ledger's entries --- */

struct walk { /* a walk over the entries of one dataset */
    struct chain_pages *entries;
    unsigned view;        /* full or summary */
    struct epochs epochs; /* of the budget, if entries are summarised */
};

static bool visit(void *context, const struct ledger_row *row)
{
    struct walk *walk = context;
    if (!chain_pages_have_room(walk->entries))
        return false;
    chain_pages_add(walk->entries, row->seq,
                    walk->epochs.count > 0 ? ledger_summary_render(row, &walk->epochs)
                                           : ledger_entry_render(row));
    return true;
}

/* Reads the epochs inside the transaction, so that they match its entries. */
static enum status read_entries(struct daemon_state *context,
                                const struct dataset_id *id,
                                const struct chain_pages_wanted *wanted,
                                struct walk *walk, struct error *error)
{
    struct store_tx *tx = NULL;
    struct balance unused;
    const struct ledger_range range = {.dataset = id->text,
                                       .after = wanted->after,
                                       .before = wanted->before,
                                       .newest_first = wanted->newest_first};
    enum status status;
    do {
        status = store_begin(context->store, STORE_READ, &tx, error);
        if (status != ST_OK)
            return status;
        if (walk->view == 1)
            status = ledger_epochs(context->ledger, id, &walk->epochs, &unused, error);
        if (status == ST_OK)
            status = ledger_rows_walk(tx, &range, visit, walk, error);
        epochs_fini(&walk->epochs);
    } while (store_again(tx, &status, error));
    return status;
}

enum status handle_dataset_ledger(struct daemon_state *context, struct request *request,
                                  struct error *error)
{
    static const char *const views[] = {"full", "summary", NULL};
    const struct dataset_spec *spec = NULL;
    struct chain_pages_wanted wanted;
    struct walk walk = {0};
    error->faults = NULL; /* errors of a parameter are reported as "invalid" */
    enum status status = find_private(context, request, &spec, error);
    if (status == ST_OK)
        status = chain_pages_parse(&wanted, request, error);
    if (status == ST_OK)
        status = query_choice(&walk.view, "view", request_query(request, "view"), views,
                              error);
    if (status != ST_OK)
        return status;
    walk.entries = chain_pages_create(&wanted);
    chain_pages_archived(walk.entries, ledger_sealed(context->ledger).last);
    status = read_entries(context, &spec->id, &wanted, &walk, error);
    if (status == ST_OK)
        chain_pages_reply(request, walk.entries, "entries");
    else
        chain_pages_destroy(walk.entries);
    return status;
}
