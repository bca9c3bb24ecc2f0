#include "service/ready_dataset.h"

#include "service/twins.h"

enum status ready_dataset_find(struct context *context,
                               const struct access_question *question,
                               const struct dataset_id *id, const struct dataset **out,
                               struct error *error)
{
    struct dataset_info info;
    struct dataset *dataset;
    const char *pointer = question->pointer;
    const struct twins_search search = {context->datasets, context->ledger,
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
    status = twins_check(&search, dataset, &info, error);
    if (status == ST_OK)
        *out = dataset;
    return status;
}
