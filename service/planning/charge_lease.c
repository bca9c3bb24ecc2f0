#include "service/planning/charge_lease.h"

#include <stdlib.h>
#include <string.h>

#include "accountant/ledger/ledger_view.h"
#include "accountant/pricing/figures.h"
#include "api/requests/charge_request.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "service/jobs/charges.h"
#include "service/process/daemon_state.h"
#include "service/webhooks/webhook_events.h"

struct charge;

/* Computes an upper bound of what the first blocks of the charge cost. */
static enum status price_blocks(struct daemon_state *context,
                                const struct charge *charge, struct charge_info *info,
                                struct error *error)
{
    struct balance balance;
    struct figure figure = {0};
    struct mechanism m = {0};
    const struct charge_request *declared = charge_declared(charge);
    uint64_t steps = charge_request_steps_of(declared, info->blocks);
    enum status status =
        ledger_balance(context->ledger, &declared->dataset, &balance, error);
    if (status == ST_OK)
        status = charge_request_mechanism(&m, declared, balance.relation, error);
    if (status == ST_OK)
        status = figure_epsilon(&figure, &m, steps, info->figures.delta, error);
    mechanism_fini(&m);
    if (status == ST_OK)
        info->figures.epsilon_spent = figure.epsilon;
    return status;
}

/* The state is read inside the transaction, so a block is never granted to two
 * requests. */
enum status charge_grant(struct daemon_state *context, struct store_tx *tx,
                         struct charge *charge, const struct block_request *asked,
                         struct charge_info *info, struct error *error)
{
    const struct charge_request *declared = charge_declared(charge);
    const struct job_id holder = holder_of_charge(charge_id(charge));
    charge_read(context->charges, charge, info);
    enum status status = charge_check_block(declared, info, asked->block, error);
    if (status != ST_OK)
        return status;
    info->blocks = asked->block;
    info->lease_end_s = clock_wall_s() + (int64_t)declared->lease_s;
    memcpy(info->process, asked->process, sizeof info->process);
    uint64_t steps = charge_request_steps_of(declared, info->blocks);
    status = price_blocks(context, charge, info, error);
    if (status == ST_OK)
        status = ledger_authorise_in(context->ledger, tx, &holder, steps, error);
    return status == ST_OK ? charge_move(context->charges, tx, charge, info, error)
                           : status;
}

enum status charge_settle(struct daemon_state *context, struct store_tx *tx,
                          struct charge *charge, enum charge_state state,
                          int64_t second, struct error *error)
{
    struct charge_info info;
    const struct job_id holder = holder_of_charge(charge_id(charge));
    const struct webhook_events_charge told = {&charge_declared(charge)->dataset,
                                               charge_owner(charge)->project, second};
    charge_read(context->charges, charge, &info);
    info.state = state;
    info.end_s = second;
    if (ledger_authorised(context->ledger, &holder) >
        charge_request_steps_of(charge_declared(charge), info.blocks)) {
        /* The backup that was restored does not have the newest grants, so all blocks
         * may have been granted. */
        info.blocks = charge_request_blocks(charge_declared(charge));
        info.figures.epsilon_spent = info.figures.epsilon_planned;
    }
    enum status status = ledger_settle(context->ledger, tx, &holder, NULL, error);
    if (status == ST_OK)
        status = charge_move(context->charges, tx, charge, &info, error);
    if (status == ST_OK)
        status = webhook_events_charged(context, tx, &told, error);
    return status;
}

/* Ends the charge if its lease ends at `until` or before. The lease is read inside the
 * transaction, because a block granted in the meantime extends it. */
static enum status end(struct daemon_state *context, struct charge *charge,
                       int64_t until, int64_t second, struct error *error)
{
    struct charge_info info;
    struct store_tx *tx = NULL;
    enum status status = store_begin(context->store, STORE_LEDGER, &tx, error);
    if (status != ST_OK)
        return status;
    charge_read(context->charges, charge, &info);
    bool lapses = info.state == CHARGE_OPEN && info.lease_end_s <= until;
    if (lapses)
        status = charge_settle(context, tx, charge, CHARGE_LAPSED, second, error);
    status = store_end(tx, status, error);
    if (status == ST_OK && lapses)
        log_event(LOG_INFO, "charge_lapsed", "charge", charge_id(charge)->text,
                  (char *)NULL);
    return status;
}

void charges_lapse(struct daemon_state *context, int64_t second)
{
    size_t count;
    if (charges_next_end(context->charges) > second)
        return;
    struct charge **open = charges_list_open(context->charges, NULL, &count);
    for (size_t i = 0; i < count; i++) {
        struct charge_info info;
        struct error error = {0};
        charge_read(context->charges, open[i], &info);
        if (info.lease_end_s <= second &&
            end(context, open[i], second, second, &error) != ST_OK)
            log_event(LOG_ERROR, "settle_failed", "charge", charge_id(open[i])->text,
                      "detail", error.text, (char *)NULL);
    }
    free(open);
}

enum status charges_recover(struct daemon_state *context, struct error *error)
{
    size_t count;
    enum status status = ST_OK;
    struct charge **open = charges_list_open(context->charges, NULL, &count);
    for (size_t i = 0; status == ST_OK && i < count; i++) {
        struct balance balance;
        const struct dataset_id *dataset = &charge_declared(open[i])->dataset;
        status = ledger_balance(context->ledger, dataset, &balance, error);
        if (status == ST_OK && balance.frozen)
            status = end(context, open[i], INT64_MAX, clock_wall_s(), error);
    }
    free(open);
    return status;
}
