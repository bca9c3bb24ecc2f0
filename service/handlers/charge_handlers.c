/* A charge is handled like a job without a run: one transaction prices the declaration
 * and reserves its budget, blocks are authorised one after the other, and the end of
 * the charge commits what was authorised. The steps themselves run elsewhere. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <microhttpd.h>

#include "accountant/ledger/ledger_view.h"
#include "accountant/pricing/balance_room.h"
#include "accountant/pricing/figures.h"
#include "api/http/query.h"
#include "api/http/roles.h"
#include "api/limits.h"
#include "api/views/charge_view.h"
#include "base/clock.h"
#include "base/status.h"
#include "service/access/access.h"
#include "service/access/policy.h"
#include "service/audit/audit_event.h"
#include "service/handlers/handlers.h"
#include "service/handlers/idempotency.h"
#include "service/http/pagination.h"
#include "service/jobs/charges.h"
#include "service/planning/charge_creation.h"
#include "service/planning/charge_lease.h"
#include "service/planning/plan_refusal.h"
#include "service/process/daemon_state.h"

struct charge;

enum { MS_PER_S = 1000 };

/* --- estimate --- */

/* Parses the request and plans the charge that it declares. */
static enum status plan(struct charge_creation *charging, struct request *request,
                        struct error *error)
{
    enum status status =
        charge_request_parse(&charging->declared, request_text(request), error);
    return status == ST_OK ? charge_creation_plan(charging, error) : status;
}

static enum status refuse(struct charge_creation *charging, struct request *request,
                          const struct error *error)
{
    const struct policy_asked asked = charge_creation_asked(charging);
    if (!request->prefetch.is_due)
        plan_refuse(charging->context, request, &asked, 1, error);
    charge_creation_fini(charging);
    return ST_OK;
}

/* Computes what the planned charge would do to the budgets of the parts that it
 * reads. */
static enum status look_ahead(const struct charge_creation *charging,
                              struct outlook *outlook, struct error *error)
{
    const struct ledger_question question = {&charging->declared.dataset,
                                             &charging->mechanism, LIMIT_JOBS_LIKE_THIS,
                                             charging->declared.parts, NULL};
    return ledger_outlook(charging->context->ledger, &question, outlook, error);
}

static enum status estimate(struct charge_creation *charging, struct request *request,
                            struct error *error)
{
    struct outlook outlook;
    struct charge_estimate view = {.request = &charging->declared, .outlook = &outlook};
    enum status status = plan(charging, request, error);
    if (status == ST_OK)
        status = look_ahead(charging, &outlook, error);
    if (status == ST_OK)
        status = balance_room_find(&view.room, &charging->mechanism, &outlook.balance,
                                   charging->figures.delta, error);
    if (status == ST_OK && outlook.fits != FITS_NO)
        status = charge_creation_check_promise(charging, error);
    if (status != ST_OK)
        return status;
    char *priced_as = mechanism_render(&charging->mechanism);
    view.figures = charging->figures;
    view.priced_as = priced_as;
    reply_json(&request->reply, MHD_HTTP_OK, charge_estimate_render(&view));
    free(priced_as);
    return ST_OK;
}

enum status handle_charge_estimate(struct daemon_state *context,
                                   struct request *request, struct error *error)
{
    struct charge_creation charging = {
        .context = context, .caller = &request->caller, .prefetch = &request->prefetch};
    if (estimate(&charging, request, error) != ST_OK)
        return refuse(&charging, request, error);
    charge_creation_fini(&charging);
    return ST_OK;
}

/* --- rendering --- */

static struct charge_view view_of(struct daemon_state *context,
                                  const struct charge *charge,
                                  const struct charge_info *info)
{
    struct ledger_entry_name entry = {0};
    const struct job_id holder = holder_of_charge(charge_id(charge));
    ledger_reservation(context->ledger, &holder, &entry);
    return (struct charge_view){
        .id = charge_id(charge),
        .request = charge_declared(charge),
        .project = charge_owner(charge)->project,
        .created_by = charge_owner(charge)->name,
        .state = charge_state_names[info->state],
        .figures = info->figures,
        .blocks = info->blocks,
        .ledger_seq = entry.seq,
        .lease_end_ms = info->lease_end_s * MS_PER_S,
        .create_ms = charge_create_ms(charge),
        .end_ms = info->end_s * MS_PER_S,
    };
}

static char *charge_text(struct daemon_state *context, const struct charge *charge)
{
    struct charge_info info;
    charge_read(context->charges, charge, &info);
    const struct charge_view view = view_of(context, charge, &info);
    return charge_render(&view);
}

/* --- create --- */

static enum status check_room(struct daemon_state *context, struct error *error)
{
    if (atomic_load(&context->draining))
        return error_set(error, ST_DRAINING, "the service is stopping");
    if (charges_tally(context->charges).by_state[CHARGE_OPEN] >= LIMIT_CHARGES_OPEN)
        return error_set(error, ST_QUEUE_FULL, "%d charges are open",
                         LIMIT_CHARGES_OPEN);
    return ST_OK;
}

static enum status tell_created(struct daemon_state *context, struct store_tx *tx,
                                const struct request *request,
                                const struct charge_view *view, struct error *error)
{
    struct audit_event act;
    char *detail = charge_act_render(view);
    audit_event_begin(&act, context, request);
    act.row.object = view->id->text;
    act.row.detail = detail;
    enum status status = audit_trail_append(tx, &act.row, error);
    free(detail);
    return status;
}

/* Adds the reservation, the charge's row, the act and the idempotency row, all in one
 * transaction. */
static enum status create_in(struct charge_creation *charging, struct request *request,
                             struct store_tx *tx, char **body, struct error *error)
{
    char location[64];
    struct daemon_state *context = charging->context;
    struct charge *charge = NULL;
    struct ledger_entry_name entry = {0};
    struct charge_addition addition = {.request_take = &charging->declared,
                                       .owner = &request->caller.principal,
                                       .create_s = clock_wall_s(),
                                       .info.figures = charging->figures};
    charge_id_make(&addition.id);
    addition.info.lease_end_s = addition.create_s + (int64_t)charging->declared.lease_s;
    const struct job_id holder = holder_of_charge(&addition.id);
    const struct ledger_claim claim = {
        .dataset = &charging->declared.dataset,
        .job = &holder,
        .mechanism = &charging->mechanism,
        .principal = &request->caller.principal,
        .parts = charging->declared.parts,
        .engine = charging->declared.engine,
    };
    enum status status = ledger_reserve(context->ledger, tx, &claim, &entry, error);
    if (status == ST_OK)
        status = charge_creation_check_promise(charging, error);
    if (status == ST_OK)
        status = charges_add(context->charges, tx, &addition, &charge, error);
    if (status != ST_OK)
        return status;
    struct charge_view view = view_of(context, charge, &addition.info);
    view.ledger_seq = entry.seq;
    *body = charge_render(&view);
    snprintf(location, sizeof location, "/v1/charges/%s", addition.id.text);
    status = tell_created(context, tx, request, &view, error);
    if (status == ST_OK)
        status = idempotency_keep(context, request, tx, location, *body, error);
    if (status == ST_OK)
        reply_header_add(&request->reply, "Location", "%s", location);
    return status;
}

static enum status create(struct charge_creation *charging, struct request *request,
                          char **body, struct error *error)
{
    struct daemon_state *context = charging->context;
    struct store_tx *tx = NULL;
    enum status status = plan(charging, request, error);
    if (status == ST_OK)
        status = check_room(context, error);
    if (status == ST_OK)
        status = store_begin(context->store, STORE_LEDGER, &tx, error);
    if (status != ST_OK)
        return status;
    return daemon_state_end(context, tx, create_in(charging, request, tx, body, error),
                            error);
}

enum status handle_charge_create(struct daemon_state *context, struct request *request,
                                 struct error *error)
{
    struct charge_creation charging = {
        .context = context, .caller = &request->caller, .prefetch = &request->prefetch};
    char *body = NULL;
    if (create(&charging, request, &body, error) != ST_OK) {
        free(body);
        return refuse(&charging, request, error);
    }
    charge_creation_fini(&charging);
    reply_json(&request->reply, MHD_HTTP_CREATED, body);
    return ST_OK;
}

void price_charge_create(struct daemon_state *context, struct request *request)
{
    struct charge_creation charging = {
        .context = context, .caller = &request->caller, .prefetch = &request->prefetch};
    plan(&charging, request, NULL);
    charge_creation_fini(&charging);
}

/* --- get, list --- */

static struct access_object object_of(const struct charge *charge)
{
    if (charge == NULL)
        return (struct access_object){0};
    const struct principal *owner = charge_owner(charge);
    return (struct access_object){owner->project, owner->name};
}

static enum status find(struct daemon_state *context, const struct request *request,
                        struct charge **charge, struct error *error)
{
    const struct access_question question = handler_question(request);
    *charge = charges_find(context->charges, request->match.id);
    const struct access_object object = object_of(*charge);
    return access_check_thing(&question, "charge", request->match.id, &object, error);
}

enum status handle_charge_get(struct daemon_state *context, struct request *request,
                              struct error *error)
{
    struct charge *charge;
    enum status status = find(context, request, &charge, error);
    if (status != ST_OK)
        return status;
    reply_header_add(&request->reply, "Cache-Control", "no-store");
    request_answer(request, charge_text(context, charge));
    return ST_OK;
}

struct charge_list {
    struct access_question question; /* whether an item is listed */
    struct daemon_state *context;
    const char *dataset; /* NULL: any */
    unsigned states;     /* a bit for each */
};

static struct charge *listed(const struct charge_list *list, size_t place)
{
    return charges_at(list->context->charges, place);
}

static bool charge_seen(void *context, size_t place)
{
    const struct charge_list *list = context;
    const struct access_object object = object_of(listed(list, place));
    return access_sees(&list->question, &object);
}

static bool charge_wanted(void *context, size_t place)
{
    const struct charge_list *list = context;
    const struct charge *charge = listed(list, place);
    struct charge_info info;
    charge_read(list->context->charges, charge, &info);
    return (list->states >> info.state & 1) != 0 &&
           (list->dataset == NULL ||
            strcmp(list->dataset, charge_declared(charge)->dataset.text) == 0);
}

static char *charge_line(void *context, size_t place)
{
    const struct charge_list *list = context;
    return charge_text(list->context, listed(list, place));
}

enum status handle_charge_list(struct daemon_state *context, struct request *request,
                               struct error *error)
{
    enum { DESCENDING = 0 };
    static const char *const directions[] = {"desc", "asc", NULL};
    char tag[64];
    unsigned direction = DESCENDING;
    struct dataset_id dataset;
    struct charge_list list = {handler_question(request), context,
                               request_query(request, "dataset"),
                               (1u << CHARGE_STATE_COUNT) - 1};
    uint64_t version = charges_version(context->charges);
    struct pagination_source source = {
        .name = "charges",
        .count = charges_count(context->charges),
        .seen = charge_seen,
        .wanted = charge_wanted,
        .text = charge_line,
        .context = &list,
        .tag = tag,
    };
    bool good = query_choices(&list.states, "state", request_query(request, "state"),
                              charge_state_names, error) == ST_OK;
    good = query_choice(&direction, "order", request_query(request, "order"),
                        directions, error) == ST_OK &&
           good;
    good = (list.dataset == NULL || dataset_id_parse(&dataset, list.dataset) ||
            query_refuse("dataset", "must be the id of a dataset", error) == ST_OK) &&
           good;
    if (!good)
        return ST_INVALID;
    source.ascending = direction != DESCENDING;
    snprintf(tag, sizeof tag, "\"%s-%llu\"", context->nonce,
             (unsigned long long)version);
    return pagination_reply(request, &source, error);
}

/* --- blocks and the end: only for the charge's owner --- */

/* Finds the charge if the principal made it, in its project. A charge of anyone else is
 * treated as if it did not exist. */
static enum status find_own(struct daemon_state *context, const struct request *request,
                            struct charge **charge, struct error *error)
{
    const struct principal *principal = &request->caller.principal;
    *charge = charges_find(context->charges, request->match.id);
    const struct access_object object = object_of(*charge);
    if (*charge == NULL || !person_equal(object.owner, principal->name) ||
        strcmp(object.project, principal->project) != 0)
        return error_set(error, ST_NOT_FOUND, "no charge \"%s\"", request->match.id);
    return ST_OK;
}

static enum status tell(struct daemon_state *context, struct store_tx *tx,
                        const struct request *request, struct error *error)
{
    struct audit_event act;
    audit_event_begin(&act, context, request);
    return audit_trail_append(tx, &act.row, error);
}

/* A block that is being granted. */
struct granted_block {
    struct daemon_state *context;
    struct request *request;
    struct charge *charge;
    struct block_request asked;
    char *body; /* the answer, owned */
};

static enum status grant_in(struct granted_block *granting, struct store_tx *tx,
                            struct error *error)
{
    char location[64];
    struct charge_info info;
    struct daemon_state *context = granting->context;
    enum status status =
        charge_grant(context, tx, granting->charge, &granting->asked, &info, error);
    if (status == ST_OK)
        status = tell(context, tx, granting->request, error);
    if (status != ST_OK)
        return status;
    const struct charge_view view = view_of(context, granting->charge, &info);
    granting->body = block_render(&view);
    snprintf(location, sizeof location, "/v1/charges/%s", view.id->text);
    status = idempotency_keep(context, granting->request, tx, location, granting->body,
                              error);
    if (status == ST_OK)
        reply_header_add(&granting->request->reply, "Location", "%s", location);
    return status;
}

static enum status grant(struct granted_block *granting, struct error *error)
{
    struct store_tx *tx = NULL;
    struct store *store = granting->context->store;
    enum status status = store_begin(store, STORE_LEDGER, &tx, error);
    if (status != ST_OK)
        return status;
    status = store_end(tx, grant_in(granting, tx, error), error);
    if (status == ST_OK && store_poisoned(store))
        return error_set(error, ST_IO, "the head could not be written elsewhere");
    return status;
}

enum status handle_charge_block(struct daemon_state *context, struct request *request,
                                struct error *error)
{
    struct granted_block granting = {.context = context, .request = request};
    enum status status =
        block_request_parse(&granting.asked, request_text(request), error);
    if (status == ST_OK)
        status = find_own(context, request, &granting.charge, error);
    if (status == ST_OK)
        status = grant(&granting, error);
    if (status != ST_OK) {
        free(granting.body);
        return status;
    }
    reply_json(&request->reply, MHD_HTTP_CREATED, granting.body);
    return ST_OK;
}

static enum status settle_in(struct daemon_state *context, struct store_tx *tx,
                             const struct request *request, struct charge *charge,
                             struct error *error)
{
    struct charge_info info;
    charge_read(context->charges, charge, &info);
    if (info.state != CHARGE_OPEN)
        return error_set(error, ST_CHARGE_ENDED, "the charge is %s",
                         charge_state_names[info.state]);
    enum status status =
        charge_settle(context, tx, charge, CHARGE_SETTLED, clock_wall_s(), error);
    return status == ST_OK ? tell(context, tx, request, error) : status;
}

enum status handle_charge_settle(struct daemon_state *context, struct request *request,
                                 struct error *error)
{
    struct charge *charge;
    struct store_tx *tx = NULL;
    enum status status = find_own(context, request, &charge, error);
    if (status == ST_OK)
        status = store_begin(context->store, STORE_LEDGER, &tx, error);
    if (status == ST_OK)
        status = store_end(tx, settle_in(context, tx, request, charge, error), error);
    if (status == ST_OK)
        reply_json(&request->reply, MHD_HTTP_OK, charge_text(context, charge));
    return status;
}
