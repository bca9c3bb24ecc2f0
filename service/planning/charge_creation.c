#include "service/planning/charge_creation.h"

#include <string.h>

#include "accountant/ledger/ledger_view.h"
#include "accountant/pricing/figures.h"
#include "accountant/pricing/price_book.h"
#include "service/access/access.h"
#include "service/access/policy.h"
#include "service/datasets/duplicate_datasets.h"
#include "service/http/blob_prefetch.h"
#include "service/http/caller.h"
#include "service/ingest/confirmation.h"
#include "service/jobs/charges.h"
#include "service/process/daemon_state.h"

struct charges;

void charge_creation_fini(struct charge_creation *charging)
{
    charge_request_fini(&charging->declared);
    mechanism_fini(&charging->mechanism);
}

/* The number of records is public, and part of the definition of neighbours. If the
 * rows are here, the number is theirs. If not, the charge names it, and every charge
 * names the same number. */
static enum status check_records(const struct charge_creation *charging,
                                 const struct dataset_info *info, struct error *error)
{
    uint64_t named = charging->declared.records;
    bool is_here = info->state == DATASET_READY;
    if (!is_here && named == 0)
        return error_set_at(
            error, ST_INVALID, "/records",
            "is required: the dataset is not imported, so its number of "
            "records has to be declared");
    uint64_t known = is_here ? info->detail.records
                             : charges_records(charging->context->charges,
                                               &charging->declared.dataset);
    if (named > 0 && known > 0 && named != known)
        return error_set_at(error, ST_INVALID, "/records",
                            "the dataset has %llu records", (unsigned long long)known);
    return ST_OK;
}

/* Checks what the charge confirms. Without an import, delta is first compared with n
 * here, and a charge is all that uses the budget. */
static enum status check_acknowledged(const struct charge_creation *charging,
                                      const struct dataset_info *info,
                                      struct error *error)
{
    enum acknowledged needed = ACKNOWLEDGED_NOTHING;
    const struct charge_request *declared = &charging->declared;
    enum status status = ST_OK;
    if (info->state != DATASET_READY)
        status = confirmation_of_units(charging->context, &declared->dataset,
                                       declared->records, &needed, error);
    return status == ST_OK
               ? acknowledgement_check(declared->acknowledged, needed, error)
               : status;
}

static enum status check_dataset(const struct charge_creation *charging,
                                 struct error *error)
{
    struct daemon_state *context = charging->context;
    const char *id = charging->declared.dataset.text;
    const struct principal *principal = &charging->caller->principal;
    struct dataset *dataset;
    struct dataset_info info;
    const struct access_question question = {principal, SCOPE_CHARGES_SUBMIT,
                                             "/dataset"};
    const struct duplicate_datasets_search search = {context->datasets, context->ledger,
                                                     principal, "/dataset"};
    enum status status = access_find_dataset(context, &question, id, &dataset, error);
    if (status != ST_OK)
        return status;
    dataset_read(context->datasets, dataset, &info);
    if (info.state == DATASET_DELETED)
        return error_set_at(error, ST_NOT_FOUND, "/dataset",
                            "dataset \"%s\" was deleted", id);
    if (dataset_spec(dataset)->is_public)
        return error_set_at(error, ST_DATASET_PUBLIC, "/dataset",
                            "\"%s\" is public: it has no budget", id);
    if (proposal_bars(&info.detail.proposal))
        return error_set_at(error, ST_GRANT_PENDING, "/dataset",
                            "the grant of dataset \"%s\" is not approved", id);
    if (schema_unit(&dataset_spec(dataset)->schema) != charging->declared.unit)
        return error_set_at(
            error, ST_INVALID, "/unit", "the dataset's unit of privacy is the %s",
            privacy_unit_name(schema_unit(&dataset_spec(dataset)->schema)));
    status = check_records(charging, &info, error);
    if (status == ST_OK)
        status = check_acknowledged(charging, &info, error);
    if (status == ST_OK && info.state == DATASET_READY)
        status = duplicate_datasets_check(&search, dataset, &info, error);
    return status;
}

struct policy_asked charge_creation_asked(const struct charge_creation *charging)
{
    return (struct policy_asked){
        .dataset = &charging->declared.dataset,
        .mechanism = &charging->mechanism,
        .parts = charging->declared.parts,
        .is_private = true,
        .epsilon = charging->figures.epsilon_planned,
        .delta = charging->figures.delta,
        .pointer = "/mechanism",
    };
}

/* Computes the epsilon of all that is declared, and its charge, so that the reservation
 * finds that charge in the ledger's price book. */
static enum status find_figures(const struct charge_creation *charging, double delta,
                                struct figure *figure, struct error *error)
{
    struct curve charge;
    const struct price_terms terms = {.book = ledger_prices(charging->context->ledger),
                                      .known_only =
                                          blob_prefetch_knows_only(charging->prefetch),
                                      .delta = delta};
    enum status status = price_figure(figure, &charging->mechanism, &terms, error);
    return status == ST_OK ? price_charge(&charge, &charging->mechanism, &terms, error)
                           : status;
}

static enum status price(struct charge_creation *charging, struct error *error)
{
    struct balance balance;
    struct figure figure;
    struct error inner = {0};
    struct mechanism *m = &charging->mechanism;
    enum status status = ledger_balance(charging->context->ledger,
                                        &charging->declared.dataset, &balance, error);
    if (status == ST_OK)
        status =
            charge_request_mechanism(m, &charging->declared, balance.relation, error);
    if (status != ST_OK)
        return status;
    status = find_figures(charging, balance.delta, &figure, &inner);
    status = blob_prefetch_check_price(charging->prefetch, status, &inner);
    if (status != ST_OK)
        return error_set_at(error, status, "/mechanism", "%s", inner.text);
    charging->figures = (struct charge_figures){.epsilon_planned = figure.epsilon,
                                                .order = figure.order,
                                                .delta = balance.delta};
    const struct policy_asked asked = charge_creation_asked(charging);
    return policy_check(charging->context, &charging->caller->principal, &asked, error);
}

static enum status check_parts(const struct charge_creation *charging,
                               struct error *error)
{
    enum parts all;
    const struct charge_request *declared = &charging->declared;
    const struct division division =
        ledger_division(charging->context->ledger, &declared->dataset);
    if (division_resolve(&division, declared->parts, &all))
        return ST_OK;
    return error_set_at(error, ST_INVALID, "/parts",
                        "the dataset is not divided into parts");
}

enum status charge_creation_plan(struct charge_creation *charging, struct error *error)
{
    enum status status = check_dataset(charging, error);
    if (status == ST_OK)
        status = check_parts(charging, error);
    return status == ST_OK ? price(charging, error) : status;
}

enum status charge_creation_check_promise(const struct charge_creation *charging,
                                          struct error *error)
{
    if (charging->figures.epsilon_planned <= LEDGER_EPSILON_MAX)
        return ST_OK;
    return error_set_at(error, ST_INVALID, "/mechanism",
                        "it would promise epsilon %.3g, and no more than %g is taken",
                        charging->figures.epsilon_planned, LEDGER_EPSILON_MAX);
}
