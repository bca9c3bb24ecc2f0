#include "service/runs/verified_matrix.h"

#include "base/file_checksum.h"
#include "base/id.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/datasets.h"
#include "service/process/daemon_state.h"
#include "store/blobs/blob.h"
#include "store/blobs/blob_name.h"

enum status verified_matrix_open(struct daemon_state *context,
                                 const struct dataset_id *id, const atomic_bool *cancel,
                                 struct verified_matrix *matrix, struct error *error)
{
    const struct blob_name name = blob_of_dataset(id, BLOB_MATRIX);
    struct error local = {0};
    struct dataset_info info;
    dataset_read(context->datasets, datasets_find(context->datasets, id->text), &info);
    const struct file_checksum seal = dataset_info_seal(&info);
    const char *path = matrix->loan.path;
    matrix->loan.cancel = cancel;
    enum status status = blob_fetch(context->blobs, &matrix->loan, &name, &local);
    if (status == ST_OK)
        status = file_checksum_check_path(&seal, path, cancel, &local);
    if (status == ST_OK)
        status = matrix_open(&matrix->rows, path, &local);
    if (status == ST_OK)
        return ST_OK;
    blob_give_back(context->blobs, &matrix->loan);
    if (status == ST_CANCELLED)
        return status;
    if (status == ST_DISK_FULL)
        return error_set(error, status, "dataset %s: %s", id->text, local.text);
    /* A dataset's file is not part of the ledger: its loss must not look like a corrupt
     * ledger. */
    bool damaged = status == ST_CORRUPT || status == ST_NOT_FOUND;
    return error_set(error, damaged ? ST_DATASET_CORRUPT : ST_INTERNAL,
                     "dataset %s: %s", id->text, local.text);
}

void verified_matrix_close(struct verified_matrix *matrix,
                           const struct daemon_state *context)
{
    matrix_close(&matrix->rows);
    blob_give_back(context->blobs, &matrix->loan);
}
