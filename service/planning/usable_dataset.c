#include "service/planning/usable_dataset.h"

#include "service/access/access.h"
#include "service/datasets/duplicate_datasets.h"
#include "service/process/daemon_state.h"

enum status usable_dataset_find(struct daemon_state *context,
                                const struct access_question *question,
                                const struct dataset_id *id, const struct dataset **out,
                                struct error *error)
{
    struct dataset_info info;
    struct dataset *dataset;
    const char *pointer = question->pointer;
    const struct duplicate_datasets_search search = {context->datasets, context->ledger,
                                                     question->principal, pointer};
    enum status status =
        access_find_dataset(context, question, id->text, &dataset, error);
    if (status != ST_OK)
        return status;
    dataset_read(context->datasets, dataset, &info);
    if (info.state == DATASET_DELETED)
        return error_set_at(error, ST_NOT_FOUND, pointer, "dataset \"%s\" was deleted",
                            id->text);
    if (proposal_bars(&info.detail.proposal))
        return error_set_at(error, ST_GRANT_PENDING, pointer,
                            "the grant of dataset \"%s\" is not approved", id->text);
    if (info.state != DATASET_READY)
        return error_set_at(error, ST_DATASET_NOT_READY, pointer,
                            "dataset \"%s\" is not imported", id->text);
    status = duplicate_datasets_check(&search, dataset, &info, error);
    if (status == ST_OK)
        *out = dataset;
    return status;
}

enum status usable_dataset_check_order(struct datasets *datasets,
                                       const struct dataset *dataset,
                                       const char *pointer, struct error *error)
{
    struct dataset_info info;
    const struct dataset_spec *spec = dataset_spec(dataset);
    dataset_read(datasets, dataset, &info);
    if (spec->is_public || info.detail.is_shuffled ||
        division_parts(&spec->grant.division) == 1)
        return ST_OK;
    return error_set_at(
        error, ST_DATASET_ORDER, pointer,
        "dataset \"%s\" was imported by a version that divided it by the order of its "
        "file: neither its holdout nor the rest of it is read any more; import the "
        "files "
        "under another id, if nothing was charged to this one",
        spec->id.text);
}
