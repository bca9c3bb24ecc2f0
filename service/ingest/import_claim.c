#include "service/ingest/import_claim.h"

#include <stdatomic.h>

#include "base/check.h"
#include "service/config/config.h"
#include "service/config/daemon_role.h"
#include "service/datasets/datasets.h"
#include "service/peers/run_claims.h"
#include "service/process/daemon_state.h"
#include "service/threads/epoch_reclaim.h"
#include "service/threads/pool.h"
#include "store/rows/work_lease_rows.h"
#include "store/store.h"

static void begun(void *dataset)
{
    atomic_store(dataset_here_flag(dataset), true);
}

static enum status take_in(struct daemon_state *context, struct store_tx *tx,
                           struct dataset *dataset, bool *taken, struct error *error)
{
    struct dataset_info info;
    struct work_lease_row hold;
    const char *id = dataset_spec(dataset)->id.text;
    dataset_read(context->datasets, dataset, &info);
    *taken = false;
    if (info.state != DATASET_IMPORTING)
        return ST_OK;
    enum status status = work_lease_row_find(tx, HELD_DATASET, id, &hold, error);
    if (status != ST_OK || hold.daemon != 0)
        return status;
    *taken = true;
    store_tx_on_end(tx, begun, NULL, dataset);
    return run_claims_hold(context, tx, HELD_DATASET, id, error);
}

static bool take(struct daemon_state *context, struct dataset *dataset)
{
    struct store_tx *tx = NULL;
    bool taken = false;
    if (store_begin(context->store, STORE_ROW, &tx, NULL) != ST_OK)
        return false;
    enum status status = take_in(context, tx, dataset, &taken, NULL);
    return store_end(tx, status, NULL) == ST_OK && taken;
}

/* Takes the first import that no daemon has; NULL if there is none. */
static struct dataset *take_first(struct daemon_state *context)
{
    size_t count = datasets_count(context->datasets);
    for (size_t i = 0; i < count; i++) {
        struct dataset_info info;
        struct dataset *dataset = datasets_at(context->datasets, i);
        dataset_read(context->datasets, dataset, &info);
        if (info.state == DATASET_IMPORTING && take(context, dataset))
            return dataset;
    }
    return NULL;
}

void import_claim_take(struct daemon_state *context)
{
    struct reclaim_reader visit;
    if (!store_shared(context->store) || !daemon_role_works(context->config->role) ||
        atomic_load(&context->draining) || !pool_wait_idle(context->importer, 0) ||
        datasets_importing(context->datasets) == 0)
        return;
    datasets_enter(context->datasets, &visit);
    struct dataset *dataset = take_first(context);
    if (dataset != NULL)
        CHECK(pool_submit(context->importer, dataset, NULL) == ST_OK);
    datasets_leave(context->datasets, &visit);
}
