#include "service/recovery/file_check.h"

#include <string.h>

#include "api/views/model_view.h"
#include "base/file_checksum.h"
#include "base/id.h"
#include "base/status.h"
#include "engine/data/text_column.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/datasets.h"
#include "service/models/models.h"
#include "service/models/weight_files.h"
#include "service/recovery/consistency_check.h"
#include "store/blobs/blob.h"
#include "store/blobs/blob_name.h"
#include "store/rows/model_rows.h"

/* A file, and the size and digest in its row of the table. */
struct sealed_blob {
    const char *table;
    struct blob_name name;
    struct file_checksum seal;
};

static enum status check_file(const struct blobs *blobs, const struct sealed_blob *blob,
                              struct error *error)
{
    char file_name[BLOB_FILE_NAME_SIZE];
    enum status status = blob_check(blobs, &blob->name, &blob->seal, error);
    if (status == ST_OK)
        return ST_OK;
    blob_file_name(file_name, &blob->name);
    return error_within(error, status, "table %s, row %s: file %s", blob->table,
                        blob->name.id, file_name);
}

/* Reads the row of a thing again whose file is damaged. A daemon that runs at the same
 * time changes a row first and then removes its file, so a missing file is no damage if
 * the row has changed. If the read fails, nothing is known about the file. */
struct asked_again {
    const char *id;
    enum status (*ask)(struct store_tx *tx, const char *id, bool *there,
                       struct error *error);
};

static enum status ask_again(const struct asked_again *asked, struct store *store,
                             bool *there, struct error *error)
{
    struct store_tx *tx;
    enum status status;
    do {
        *there = false;
        status = store_begin(store, STORE_READ, &tx, error);
        if (status != ST_OK)
            return status;
        status = asked->ask(tx, asked->id, there, error);
    } while (store_again(tx, &status, error));
    return status;
}

/* Checks the file of a thing. Also returns ST_OK if its row by now says that it has
 * none. */
static enum status check_file_of(const struct asked_again *asked, struct store *store,
                                 const struct blobs *blobs,
                                 const struct sealed_blob *blob, struct error *error)
{
    struct error found = {0};
    bool there = false;
    enum status of_file = check_file(blobs, blob, &found);
    if (of_file == ST_OK)
        return ST_OK;
    enum status status = ask_again(asked, store, &there, error);
    if (status != ST_OK || !there)
        return status;
    return error_set(error, of_file, "%s", found.text);
}

static enum status is_imported(struct store_tx *tx, const char *id, bool *there,
                               struct error *error)
{
    struct dataset_info info = {.state = DATASET_READY};
    struct datasets *datasets = NULL;
    enum status status = datasets_open(&datasets, tx, error);
    const struct dataset *dataset =
        status == ST_OK ? datasets_find(datasets, id) : NULL;
    if (dataset != NULL)
        dataset_read(datasets, dataset, &info);
    datasets_close(datasets);
    *there = info.state == DATASET_READY;
    return status;
}

static enum status is_published(struct store_tx *tx, const char *id, bool *there,
                                struct error *error)
{
    struct models *models = NULL;
    enum status status = models_open(&models, tx, error);
    *there = status == ST_OK && models_find(models, id) != NULL;
    models_close(models);
    return status;
}

static enum status check_model_file(struct store *store, const struct blobs *blobs,
                                    const struct model_row *row, struct error *error)
{
    const struct asked_again asked = {row->id.text, is_published};
    const struct sealed_blob blob = {"model", blob_of_model(&row->id),
                                     model_row_seal(row)};
    return check_file_of(&asked, store, blobs, &blob, error);
}

/* A file that a certificate names, and what the model has in it. */
struct named_file {
    const char *id, *sha256, *role;
};

/* Checks that the file is there; check_weights reads it. */
static enum status check_named(const struct consistency_check *inventory,
                               const struct model_row *row,
                               const struct named_file *named, struct error *error)
{
    const struct weights_row *file =
        weight_files_find(inventory->weight_files, named->id);
    char sha256[SHA256_HEX_SIZE] = "";
    if (file != NULL)
        sha256_render(sha256, file->sha256);
    if (strcmp(sha256, named->sha256) == 0)
        return ST_OK;
    return error_set(error, ST_CORRUPT,
                     "table model, row %s: the file of its %s, %s, is %s", row->id.text,
                     named->role, named->id, file == NULL ? "gone" : "another one");
}

static enum status check_body(const struct consistency_check *inventory,
                              const struct model_row *row, struct error *error)
{
    struct certificate_base base;
    if (!certificate_base(&base, row))
        return ST_OK;
    return check_named(inventory, row,
                       &(struct named_file){base.file, base.sha256, "frozen layers"},
                       error);
}

static enum status check_text(const struct consistency_check *inventory,
                              const struct model_row *row, struct error *error)
{
    struct text_column text;
    enum status status = ST_OK;
    if (!certificate_text(&text, row))
        return ST_OK;
    for (size_t i = 0; status == ST_OK && i < text_column_files(&text); i++)
        status = check_named(
            inventory, row,
            &(struct named_file){text.files[i].text, text.sha256[i], "tokenizer"},
            error);
    return status;
}

static enum status has_weights(struct store_tx *tx, const char *id, bool *there,
                               struct error *error)
{
    struct weight_files *files = NULL;
    enum status status = weight_files_open(&files, tx, error);
    *there = status == ST_OK && weight_files_find(files, id) != NULL;
    weight_files_close(files);
    return status;
}

static enum status check_weights(struct store *store, const struct blobs *blobs,
                                 const struct weights_row *row, struct error *error)
{
    const struct asked_again asked = {row->id.text, has_weights};
    const struct sealed_blob blob = {"weights", blob_of_weights(&row->id),
                                     weights_row_seal(row)};
    return check_file_of(&asked, store, blobs, &blob, error);
}

static enum status check_matrix(const struct consistency_check *inventory,
                                struct store *store, const struct blobs *blobs,
                                size_t index, struct error *error)
{
    struct dataset_info info;
    const struct dataset *dataset = datasets_at(inventory->datasets, index);
    const struct dataset_id *id = &dataset_spec(dataset)->id;
    dataset_read(inventory->datasets, dataset, &info);
    if (info.state != DATASET_READY)
        return ST_OK;
    const struct sealed_blob blob = {"dataset", blob_of_dataset(id, BLOB_MATRIX),
                                     dataset_info_seal(&info)};
    const struct asked_again asked = {id->text, is_imported};
    return check_file_of(&asked, store, blobs, &blob, error);
}

enum status file_check_run(const struct consistency_check *inventory,
                           struct store *store, const struct blobs *blobs,
                           struct error *error)
{
    enum status status = ST_OK;
    for (size_t i = 0; status == ST_OK && i < datasets_count(inventory->datasets); i++)
        status = check_matrix(inventory, store, blobs, i, error);
    for (size_t i = 0; status == ST_OK && i < models_count(inventory->models); i++) {
        const struct model_row *row = models_at(inventory->models, i);
        status = check_model_file(store, blobs, row, error);
        if (status == ST_OK)
            status = check_body(inventory, row, error);
        if (status == ST_OK)
            status = check_text(inventory, row, error);
    }
    struct weight_files *files = inventory->weight_files;
    for (size_t i = 0; status == ST_OK && i < weight_files_count(files); i++)
        status = check_weights(store, blobs, weight_files_at(files, i), error);
    return status;
}
