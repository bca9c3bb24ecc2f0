#include "service/ingest/confirmation.h"

#include "accountant/ledger/ledger_view.h"
#include "accountant/pricing/odometer.h"
#include "service/datasets/datasets.h"
#include "service/jobs/charges.h"
#include "service/process/daemon_state.h"

/* *all = what all epochs guarantee together, with a further one if it is not NULL. */
static enum status guarantee_of(struct daemon_state *context,
                                const struct dataset_id *dataset,
                                const struct grant *further, struct guarantee *all,
                                struct error *error)
{
    struct epochs epochs = {0};
    struct balance unused;
    enum status status =
        ledger_epochs(context->ledger, dataset, &epochs, &unused, error);
    if (status != ST_OK)
        return status;
    if (further != NULL) {
        struct epoch next = {.number = epochs.items[epochs.count - 1].number + 1,
                             .grant = *further};
        status = filter_of(&next.filter, further, error);
        epochs_append(&epochs, &next);
    }
    if (status == ST_OK)
        *all = odometer_guarantee(&epochs);
    epochs_fini(&epochs);
    return status;
}

/* Returns n of the dataset; 0 if it is not known yet. */
static uint64_t units_of(struct daemon_state *context, const struct dataset_id *dataset)
{
    struct dataset_info info;
    const struct dataset *found = datasets_find(context->datasets, dataset->text);
    if (found == NULL)
        return 0;
    dataset_read(context->datasets, found, &info);
    return info.detail.records > 0 ? info.detail.records
                                   : charges_records(context->charges, dataset);
}

enum status confirmation_of_units(struct daemon_state *context,
                                  const struct dataset_id *dataset, uint64_t units,
                                  enum acknowledged *needed, struct error *error)
{
    struct guarantee all;
    enum status status = guarantee_of(context, dataset, NULL, &all, error);
    if (status == ST_OK)
        *needed = acknowledgement_needed(0, all.delta, units);
    return status;
}

enum status confirmation_of_epoch(struct daemon_state *context,
                                  const struct dataset_id *dataset,
                                  const struct grant *further,
                                  enum acknowledged *needed, struct error *error)
{
    struct guarantee all;
    enum status status = guarantee_of(context, dataset, further, &all, error);
    if (status == ST_OK)
        *needed =
            acknowledgement_needed(all.epsilon, all.delta, units_of(context, dataset));
    return status;
}
