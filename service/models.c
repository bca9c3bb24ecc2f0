#include "service/models.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/model_view.h"
#include "base/check.h"
#include "service/registry.h"

struct model {
    struct model_row row; /* begins with the id, as registry.h asks */
    char *card;           /* row.card, owned */
    struct checked_file checked;
};

struct models {
    pthread_rwlock_t lock;    /* guards registry */
    struct registry registry; /* of struct model */
};

struct addition {
    struct models *models;
    struct model *model;
};

static struct model *model_create(const struct model_row *row)
{
    struct model *model = malloc(sizeof *model);
    CHECK(model != NULL);
    model->row = *row;
    model->card = strdup(row->card);
    CHECK(model->card != NULL);
    model->row.card = model->card;
    checked_file_init(&model->checked);
    return model;
}

static void model_destroy(void *item)
{
    struct model *model = item;
    checked_file_fini(&model->checked);
    free(model->card);
    free(model);
}

struct loading {
    struct models *models;
    enum status status;
    struct error *error;
};

static bool load_row(void *context, const struct model_row *row)
{
    struct loading *loading = context;
    struct model_id id;
    if (model_id_parse(&id, row->id.text))
        loading->status = certificate_check(row, loading->error);
    else
        loading->status = error_set(loading->error, ST_CORRUPT, "its id is no model's");
    if (loading->status != ST_OK) {
        error_within(loading->error, loading->status, "table model, row %s",
                     row->id.text);
        return false;
    }
    registry_add(&loading->models->registry, model_create(row));
    return true;
}

enum status models_open(struct models **out, struct store_tx *tx, struct error *error)
{
    struct models *models = calloc(1, sizeof *models);
    CHECK(models != NULL);
    pthread_rwlock_init(&models->lock, NULL);
    struct loading loading = {.models = models, .status = ST_OK, .error = error};
    enum status status = model_rows_walk(tx, load_row, &loading, error);
    if (status != ST_OK)
        error_within(error, status, "table model, after row %zu",
                     models->registry.count);
    else
        status = loading.status;
    if (status != ST_OK) {
        models_close(models);
        return status;
    }
    *out = models;
    return ST_OK;
}

void models_close(struct models *models)
{
    if (models == NULL)
        return;
    registry_fini(&models->registry, model_destroy);
    pthread_rwlock_destroy(&models->lock);
    free(models);
}

static void added(void *context)
{
    struct addition *addition = context;
    pthread_rwlock_wrlock(&addition->models->lock);
    registry_add(&addition->models->registry, addition->model);
    pthread_rwlock_unlock(&addition->models->lock);
    free(addition);
}

static void not_added(void *context)
{
    struct addition *addition = context;
    model_destroy(addition->model);
    free(addition);
}

enum status models_add(struct models *models, struct store_tx *tx,
                       const struct model_row *row, struct error *error)
{
    enum status status = model_row_insert(tx, row, error);
    if (status != ST_OK)
        return status;
    struct addition *addition = malloc(sizeof *addition);
    CHECK(addition != NULL);
    *addition = (struct addition){.models = models, .model = model_create(row)};
    store_tx_on_end(tx, added, not_added, addition);
    return ST_OK;
}

const struct model_row *models_find(struct models *models, const char *id)
{
    pthread_rwlock_rdlock(&models->lock);
    const struct model *model = registry_find(&models->registry, id);
    pthread_rwlock_unlock(&models->lock);
    return model != NULL ? &model->row : NULL;
}

size_t models_count(struct models *models)
{
    pthread_rwlock_rdlock(&models->lock);
    size_t count = models->registry.count;
    pthread_rwlock_unlock(&models->lock);
    return count;
}

const struct model_row *models_at(struct models *models, size_t index)
{
    pthread_rwlock_rdlock(&models->lock);
    CHECK(index < models->registry.count);
    const struct model *model = models->registry.items[index];
    pthread_rwlock_unlock(&models->lock);
    return &model->row;
}

struct file_seal model_row_seal(const struct model_row *row)
{
    struct file_seal seal = {.size = row->size};
    memcpy(seal.sha256, row->sha256, sizeof seal.sha256);
    return seal;
}

enum status models_open_file(struct models *models, const struct blobs *blobs,
                             const struct model_row *row, enum check_kind kind,
                             int *file, struct error *error)
{
    char path[BLOB_PATH_SIZE];
    const struct blob_name name = blob_of_model(&row->id);
    const struct file_seal seal = model_row_seal(row);
    struct error local = {0};
    pthread_rwlock_rdlock(&models->lock);
    struct model *model = registry_find(&models->registry, row->id.text);
    pthread_rwlock_unlock(&models->lock);
    CHECK(model != NULL);
    blob_fetch(blobs, path, &name);
    enum status status =
        checked_file_open(&model->checked, path, &seal, kind, file, &local);
    if (status == ST_OK)
        return ST_OK;
    return error_set(error, status == ST_CORRUPT ? ST_MODEL_CORRUPT : ST_INTERNAL,
                     "model %s: %s", row->id.text, local.text);
}
