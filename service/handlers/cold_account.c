#include "service/handlers/cold_account.h"

#include "accountant/ledger/ledger_view.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/datasets.h"
#include "service/process/daemon_state.h"

/* Returns whether the answer needs the ledger. A public dataset has no budget, and none
 * is shown while the dataset's grant waits for a second person. */
static bool tells_budget(const struct daemon_state *context,
                         const struct dataset *dataset)
{
    struct dataset_info info;
    if (dataset_spec(dataset)->is_public)
        return false;
    dataset_read(context->datasets, dataset, &info);
    return !proposal_bars(&info.detail.proposal);
}

bool cold_account_awaits(const struct daemon_state *context, struct request *request,
                         const struct dataset *dataset)
{
    if (request->ask == ASK_DONE ||
        ledger_in_memory(context->ledger, &dataset_spec(dataset)->id) ||
        !tells_budget(context, dataset))
        return false;
    request->ask = ASK_DUE;
    return true;
}

void cold_account_ask(struct request *request)
{
    request->ask = ASK_DUE;
}

enum status cold_account_status(const struct request *request, struct error *error)
{
    return request->ask == ASK_DUE
               ? error_set(error, ST_QUEUE_FULL, "an account is still to be read")
               : ST_OK;
}
