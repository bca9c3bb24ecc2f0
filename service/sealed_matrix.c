#include "service/sealed_matrix.h"

#include "base/file_seal.h"

enum status sealed_matrix_open(struct context *context, const struct dataset_id *id,
                               const atomic_bool *cancel, struct matrix *matrix,
                               struct error *error)
{
    char path[BLOB_PATH_SIZE];
    const struct blob_name name = blob_of_dataset(id, BLOB_MATRIX);
    struct error local = {0};
    struct dataset_info info;
    dataset_read(context->datasets, datasets_find(context->datasets, id->text), &info);
    const struct file_seal seal = dataset_info_seal(&info);
    blob_fetch(context->blobs, path, &name);
    enum status status = file_seal_check_path(&seal, path, cancel, &local);
    if (status == ST_OK)
        status = matrix_open(matrix, path, &local);
    if (status == ST_OK || status == ST_CANCELLED)
        return status;
    /* A dataset's file is no part of the ledger, so its loss must not read as damage to
     * the ledger. */
    return error_set(error, status == ST_CORRUPT ? ST_DATASET_CORRUPT : ST_INTERNAL,
                     "dataset %s: %s", id->text, local.text);
}
