#include "service/ingest/fetched_dataset.h"

#include <stddef.h>

#include "engine/data/schema.h"
#include "service/datasets/dataset_write.h"
#include "service/datasets/datasets.h"
#include "service/process/daemon_state.h"
#include "store/store.h"

enum status fetched_dataset_check(const struct schema *schema, struct error *error)
{
    size_t column;
    if (schema_unit(schema) != PRIVACY_UNIT_RECORD)
        return error_set(
            error, ST_INVALID,
            "upload the files: the number of persons in a file that the "
            "service fetches would show how many different cells it has in "
            "a column of your choice");
    if (schema_takes_any(schema, &column))
        return ST_OK;
    return error_set(error, ST_INVALID,
                     "the service reads these records itself and may not refuse one: "
                     "declare for column \"%.60s\" where undeclared words go, by "
                     "\"default\"%s",
                     schema->columns[column].name,
                     schema->columns[column].kind == COLUMN_LABEL
                         ? ""
                         : ", \"other\" or \"if_missing\"");
}

enum status fetched_dataset_mark(struct daemon_state *context, struct dataset *dataset,
                                 struct error *error)
{
    struct dataset_info info;
    struct store_tx *tx = NULL;
    enum status status = fetched_dataset_check(&dataset_spec(dataset)->schema, error);
    dataset_read(context->datasets, dataset, &info);
    if (status != ST_OK || info.is_fetched)
        return status;
    status = store_begin(context->store, STORE_ROW, &tx, error);
    if (status != ST_OK)
        return status;
    return store_end(tx, dataset_mark_fetched(context->datasets, tx, dataset, error),
                     error);
}
