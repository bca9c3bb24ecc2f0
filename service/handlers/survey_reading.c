#include "service/handlers/survey_reading.h"

#include "api/http/query.h"
#include "service/access/access.h"
#include "service/datasets/datasets.h"
#include "service/handlers/handlers.h"
#include "service/http/chain_pages.h"
#include "service/process/daemon_state.h"

static struct access_object object_of(struct daemon_state *context,
                                      const struct statistics_row *row)
{
    const struct dataset *dataset = datasets_find(context->datasets, row->dataset);
    return (struct access_object){dataset_owner(dataset)->project, row->created_by};
}

static bool is_of_kind(const struct statistics_row *row, enum survey_kind kind)
{
    return survey_id_is_evaluation(&row->id) == (kind == SURVEY_EVALUATION);
}

struct finding { /* the search for the row of the request */
    struct daemon_state *context;
    const struct survey_form *form;
    const struct access_question *question;
    bool found;
    enum status status;
    struct error *error;
    char *text; /* owned */
};

static bool visit_found(void *context, const struct statistics_row *row)
{
    struct finding *finding = context;
    const struct access_object object = object_of(finding->context, row);
    if (!is_of_kind(row, finding->form->kind))
        return false;
    finding->found = true;
    finding->status = access_check_thing(finding->question, finding->form->name,
                                         row->id.text, &object, finding->error);
    if (finding->status == ST_OK)
        finding->text = finding->form->render(row, object.project);
    return false;
}

enum status survey_get(struct daemon_state *context, struct request *request,
                       const struct survey_form *form, struct error *error)
{
    struct store_tx *tx = NULL;
    const char *id = request->match.id;
    const struct access_question question = handler_question(request);
    const struct access_object nothing = {0};
    struct finding finding = {context, form, &question, false, ST_OK, error, NULL};
    enum status status;
    do {
        status = store_begin(context->store, STORE_READ, &tx, error);
        if (status != ST_OK)
            return status;
        status = statistics_row_find(tx, id, visit_found, &finding, error);
    } while (store_again(tx, &status, error));
    if (status != ST_OK)
        return status;
    if (!finding.found)
        return access_check_thing(&question, form->name, id, &nothing, error);
    if (finding.status == ST_OK)
        request_answer(request, finding.text);
    return finding.status;
}

struct listing {
    struct daemon_state *context;
    const struct request *request;
    const struct survey_form *form;
    struct chain_pages *entries;
};

static bool visit_listed(void *context, const struct statistics_row *row)
{
    struct listing *listing = context;
    const struct survey_form *form = listing->form;
    const struct access_object object = object_of(listing->context, row);
    const struct access_question question = handler_question(listing->request);
    if (!access_sees(&question, &object) ||
        (form->fits != NULL && !form->fits(listing->request, row)))
        return true;
    if (!chain_pages_have_room(listing->entries))
        return false;
    chain_pages_add(listing->entries, row->number, form->render(row, object.project));
    return true;
}

enum status survey_list(struct daemon_state *context, struct request *request,
                        const struct survey_form *form, struct error *error)
{
    struct chain_pages_wanted wanted;
    struct dataset_id id;
    struct store_tx *tx = NULL;
    struct survey_range range = {.kind = form->kind,
                                 .dataset = request_query(request, "dataset")};
    error->faults = NULL; /* errors of a parameter are reported as "invalid" */
    if (range.dataset != NULL && !dataset_id_parse(&id, range.dataset))
        return query_refuse("dataset", "must be the id of a dataset", error);
    enum status status = chain_pages_parse(&wanted, request, error);
    if (status != ST_OK)
        return status;
    range.after = wanted.after;
    range.before = wanted.before;
    range.newest_first = wanted.newest_first;
    struct listing listing = {context, request, form, chain_pages_create(&wanted)};
    do {
        status = store_begin(context->store, STORE_READ, &tx, error);
        if (status != ST_OK)
            break;
        status = statistics_rows_walk(tx, &range, visit_listed, &listing, error);
    } while (store_again(tx, &status, error));
    if (status == ST_OK)
        chain_pages_reply(request, listing.entries, form->member);
    else
        chain_pages_destroy(listing.entries);
    return status;
}
