#define _XOPEN_SOURCE 700 /* declares nftw */

#include "service/commands/backup_copy.h"

#include <ftw.h>
#include <stdio.h>

#include "accountant/ledger/ledger_view.h"
#include "service/config/store_config.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/datasets.h"
#include "service/jobs/jobs_base.h"
#include "service/models/models.h"
#include "service/recovery/consistency_check.h"
#include "service/recovery/file_check.h"
#include "store/blobs/blob_objects.h"
#include "store/rows/model_rows.h"

struct copying {
    struct backup_copy *copy;
    struct blobs *from, *to;
    bool forward;
    struct store *store; /* the copy's */
    struct consistency_check inventory;
};

/* Copies the database as it is now, and opens the copy. */
static enum status copy_database(struct copying *copying, struct error *error)
{
    char from[BLOB_PATH_SIZE], to[BLOB_PATH_SIZE];
    blobs_database_path(copying->from, from);
    blobs_database_path(copying->to, to);
    enum status status = store_copy(from, to, error);
    if (status != ST_OK)
        return status;
    return copying->forward ? store_open(&copying->store, to, error)
                            : store_open_read(&copying->store, to, error);
}

/* Reads and checks the rows of the copy. A database that was migrated elsewhere is
 * refused, because its copy would be a second successor. */
static enum status read_rows(struct copying *copying, struct error *error)
{
    const struct jobs_base base = {.reads_all = true};
    struct store_tx *tx = NULL;
    struct ledger *ledger = NULL;
    struct migration_row row;
    enum status status = store_begin(copying->store, STORE_READ, &tx, error);
    if (status != ST_OK)
        return status;
    status = migration_row_read(tx, &row, error);
    if (status == ST_OK)
        status = store_config_check(&row, error);
    if (status == ST_OK)
        status = ledger_open_whole(&ledger, copying->store, tx, error);
    if (status == ST_OK)
        status = consistency_check_open(&copying->inventory, tx, &base, error);
    store_rollback(tx);
    if (status == ST_OK)
        status = consistency_check_run(&copying->inventory, ledger, error);
    if (ledger != NULL)
        ledger_head(ledger, &copying->copy->head);
    ledger_close(ledger);
    return status;
}

static enum status copy_datasets(struct copying *copying, struct error *error)
{
    struct datasets *datasets = copying->inventory.datasets;
    enum status status = ST_OK;
    for (size_t i = 0; status == ST_OK && i < datasets_count(datasets); i++) {
        struct dataset_info info;
        const struct dataset *dataset = datasets_at(datasets, i);
        const struct blob_name name =
            blob_of_dataset(&dataset_spec(dataset)->id, BLOB_MATRIX);
        dataset_read(datasets, dataset, &info);
        if (info.state != DATASET_READY)
            continue;
        status = blob_copy(copying->from, copying->to, &name, error);
        copying->copy->datasets += status == ST_OK;
    }
    return status;
}

static enum status copy_models(struct copying *copying, struct error *error)
{
    struct models *models = copying->inventory.models;
    enum status status = ST_OK;
    for (size_t i = 0; status == ST_OK && i < models_count(models); i++) {
        const struct blob_name name = blob_of_model(&models_at(models, i)->id);
        status = blob_copy(copying->from, copying->to, &name, error);
        copying->copy->models += status == ST_OK;
    }
    return status;
}

static enum status copy_weights(struct copying *copying, struct error *error)
{
    struct weight_files *files = copying->inventory.weight_files;
    enum status status = ST_OK;
    for (size_t i = 0; status == ST_OK && i < weight_files_count(files); i++) {
        const struct blob_name name = blob_of_weights(&weight_files_at(files, i)->id);
        status = blob_copy(copying->from, copying->to, &name, error);
    }
    return status;
}

/* Files in a bucket stay there: the copy has only their rows, and with them their
 * keys. */
static enum status copy_files(struct copying *copying, struct error *error)
{
    bool *elsewhere = &copying->copy->elsewhere;
    const struct blob_objects_setup rows_alone = {.store = copying->store};
    enum status status = blob_objects_claimed(copying->store, elsewhere, error);
    if (status == ST_OK && *elsewhere)
        return blob_objects_use_read(copying->to, &rows_alone, error);
    if (status == ST_OK)
        status = copy_datasets(copying, error);
    if (status == ST_OK)
        status = copy_models(copying, error);
    return status == ST_OK ? copy_weights(copying, error) : status;
}

static enum status copy_all(struct copying *copying, struct error *error)
{
    enum status status = copy_database(copying, error);
    if (status == ST_OK)
        status = read_rows(copying, error);
    if (status == ST_OK)
        status = copy_files(copying, error);
    if (status == ST_OK)
        status =
            file_check_run(&copying->inventory, copying->store, copying->to, error);
    return status == ST_OK ? blobs_sync(copying->to, error) : status;
}

static int remove_one(const char *path, const struct stat *info, int kind,
                      struct FTW *place)
{
    (void)info, (void)kind, (void)place;
    remove(path); /* a failure is not reported: what stays is visible */
    return 0;
}

void backup_copy_remove(const char *path)
{
    enum { FOLDERS_OPEN = 8 };
    nftw(path, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
}

enum status backup_copy_make(struct backup_copy *copy, const char *from, const char *to,
                             bool forward, struct error *error)
{
    struct copying copying = {.copy = copy, .forward = forward};
    *copy = (struct backup_copy){0};
    enum status status = blobs_open_read(&copying.from, from, error);
    if (status == ST_OK)
        status = blobs_make(&copying.to, to, error);
    if (status == ST_OK)
        status = copy_all(&copying, error);
    consistency_check_close(&copying.inventory);
    blob_objects_leave(copying.to);
    store_close(copying.store);
    if (status != ST_OK && copying.to != NULL)
        backup_copy_remove(to);
    blobs_close(copying.to);
    blobs_close(copying.from);
    return status;
}
