#include "service/models/models.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "api/views/model_view.h"
#include "base/check.h"
#include "service/datasets/captions.h"
#include "service/threads/registry.h"
#include "store/blobs/blob.h"
#include "store/blobs/blob_name.h"

struct model {
    struct model_row row; /* begins with the id, as registry.h asks */
    char *card;           /* row.card, owned */
    struct verified_file checked;
    struct caption caption; /* guarded by the lock of models */
    atomic_bool removed;
};

struct models {
    pthread_rwlock_t lock;    /* guards the rest, and every model's caption */
    struct registry registry; /* of struct model */
    uint64_t version;         /* grows with every change */
};

struct addition { /* an addition, or a removal */
    struct models *models;
    struct model *model;
};

static struct model *model_create(const struct model_row *row)
{
    struct model *model = calloc(1, sizeof *model);
    CHECK(model != NULL);
    model->row = *row;
    model->card = strdup(row->card);
    CHECK(model->card != NULL);
    model->row.card = model->card;
    verified_file_init(&model->checked);
    return model;
}

static void model_destroy(void *item)
{
    struct model *model = item;
    verified_file_fini(&model->checked);
    caption_fini(&model->caption);
    free(model->card);
    free(model);
}

struct loading {
    struct models *models;
    enum status status;
    struct error *error;
};

static enum status check_id(const struct model_row *row, struct error *error)
{
    struct model_id id;
    if (model_id_parse(&id, row->id.text))
        return ST_OK;
    return error_set(error, ST_CORRUPT, "table model, row %s: its id is no model's",
                     row->id.text);
}

static bool load_row(void *context, const struct model_row *row)
{
    struct loading *loading = context;
    loading->status = check_id(row, loading->error);
    if (loading->status != ST_OK)
        return false;
    registry_add(&loading->models->registry, model_create(row));
    return true;
}

static struct model *find_ever(struct models *models, const char *id)
{
    pthread_rwlock_rdlock(&models->lock);
    struct model *model = registry_find(&models->registry, id);
    pthread_rwlock_unlock(&models->lock);
    return model;
}

static struct caption *caption_of(void *things, const char *id)
{
    struct model *model = find_ever(things, id);
    return model != NULL ? &model->caption : NULL;
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
    if (status == ST_OK)
        status = captions_load(tx, CAPTIONED_MODEL, caption_of, models, error);
    if (status != ST_OK) {
        models_close(models);
        return status;
    }
    *out = models;
    return ST_OK;
}

enum status models_check(struct models *models, bool reads_all, struct error *error)
{
    enum status status = ST_OK;
    for (size_t i = 0; status == ST_OK && i < models_count(models); i++) {
        const struct model_row *row = models_at(models, i);
        if (reads_all || !certificate_glance(row))
            status = certificate_check(row, error);
        if (status != ST_OK)
            error_within(error, status, "table model, row %s", row->id.text);
    }
    return status;
}

void models_close(struct models *models)
{
    if (models == NULL)
        return;
    registry_fini(&models->registry, model_destroy);
    pthread_rwlock_destroy(&models->lock);
    free(models);
}

static void enter_take(struct models *models, struct model *model)
{
    pthread_rwlock_wrlock(&models->lock);
    registry_add(&models->registry, model);
    models->version++;
    pthread_rwlock_unlock(&models->lock);
}

static void added(void *context)
{
    struct addition *addition = context;
    enter_take(addition->models, addition->model);
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
    struct model_row numbered = *row;
    enum status status = row_number_draw(tx, NUMBERED_MODEL, &numbered.number, error);
    if (status == ST_OK)
        status = model_row_insert(tx, &numbered, error);
    if (status != ST_OK)
        return status;
    struct addition *addition = malloc(sizeof *addition);
    CHECK(addition != NULL);
    *addition = (struct addition){.models = models, .model = model_create(&numbered)};
    store_tx_on_end(tx, added, not_added, addition);
    return ST_OK;
}

const struct model_row *models_find(struct models *models, const char *id)
{
    const struct model *model = find_ever(models, id);
    return model != NULL && !atomic_load(&model->removed) ? &model->row : NULL;
}

uint64_t models_version(struct models *models)
{
    pthread_rwlock_rdlock(&models->lock);
    uint64_t version = models->version;
    pthread_rwlock_unlock(&models->lock);
    return version;
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

/* --- a model's caption, and its deletion --- */

struct caption model_caption(struct models *models, const struct model_row *row)
{
    const struct model *model = find_ever(models, row->id.text);
    pthread_rwlock_rdlock(&models->lock);
    struct caption copy = caption_copy(&model->caption);
    pthread_rwlock_unlock(&models->lock);
    return copy;
}

bool model_fits(struct models *models, const struct model_row *row,
                const struct caption_search *search)
{
    const struct model *model = find_ever(models, row->id.text);
    pthread_rwlock_rdlock(&models->lock);
    bool fits = caption_fits(&model->caption, row->id.text, search);
    pthread_rwlock_unlock(&models->lock);
    return fits;
}

static void renamed(void *things, void *thing)
{
    struct models *models = things;
    (void)thing;
    models->version++;
}

static struct caption_place caption_place_of(struct models *models, struct model *model)
{
    return (struct caption_place){
        .kind = CAPTIONED_MODEL,
        .id = model->row.id.text,
        .lock = &models->lock,
        .caption = &model->caption,
        .changed = renamed,
        .things = models,
    };
}

enum status model_caption_put(struct models *models, struct store_tx *tx,
                              const struct model_row *row, struct caption *caption_take,
                              struct error *error)
{
    const struct caption_place place =
        caption_place_of(models, find_ever(models, row->id.text));
    return caption_put(&place, tx, caption_take, error);
}

enum status model_caption_renew(struct models *models, struct store_tx *tx,
                                const char *id, struct error *error)
{
    struct model *model = find_ever(models, id);
    if (model == NULL || atomic_load(&model->removed))
        return ST_OK;
    const struct caption_place place = caption_place_of(models, model);
    return caption_renew(&place, tx, error);
}

bool model_is_removed(struct models *models, const struct model_row *row)
{
    return atomic_load(&find_ever(models, row->id.text)->removed);
}

static void leave(struct models *models, struct model *model)
{
    pthread_rwlock_wrlock(&models->lock);
    atomic_store(&model->removed, true);
    caption_fini(&model->caption);
    models->version++;
    pthread_rwlock_unlock(&models->lock);
}

static void removed(void *context)
{
    struct addition *removal = context;
    leave(removal->models, removal->model);
    free(removal);
}

enum status model_remove(struct models *models, struct store_tx *tx,
                         const struct model_row *row, struct error *error)
{
    struct model *model = find_ever(models, row->id.text);
    enum status status = model_row_delete(tx, &row->id, error);
    if (status == ST_OK)
        status = caption_row_delete(tx, CAPTIONED_MODEL, row->id.text, error);
    if (status != ST_OK)
        return status;
    struct addition *removal = malloc(sizeof *removal);
    CHECK(removal != NULL);
    *removal = (struct addition){models, model};
    store_tx_on_end(tx, removed, free, removal);
    return ST_OK;
}

/* --- changes by other daemons --- */

/* Rows never change. */
static bool is_there(void *context, const struct model_row *row)
{
    struct loading *renewal = context;
    (void)row;
    renewal->status = ST_OK;
    return false;
}

static bool read_row(void *context, const struct model_row *row)
{
    struct loading *renewal = context;
    renewal->status = check_id(row, renewal->error);
    if (renewal->status == ST_OK)
        renewal->status = certificate_check(row, renewal->error);
    if (renewal->status == ST_OK)
        enter_take(renewal->models, model_create(row));
    return false;
}

enum status models_renew(struct models *models, struct store_tx *tx, const char *id,
                         struct error *error)
{
    struct model_id parsed;
    struct model *known = find_ever(models, id);
    struct loading renewal = {models, ST_NOT_FOUND, error};
    if (!model_id_parse(&parsed, id))
        return error_set(error, ST_CORRUPT, "table model, row %s: its id is no model's",
                         id);
    if (known != NULL && atomic_load(&known->removed))
        return ST_OK;
    enum status status = known != NULL
                             ? model_row_find(tx, &parsed, is_there, &renewal, error)
                             : model_row_find(tx, &parsed, read_row, &renewal, error);
    if (status != ST_OK)
        return status;
    if (known != NULL && renewal.status == ST_NOT_FOUND)
        leave(models, known);
    return renewal.status == ST_NOT_FOUND ? ST_OK : renewal.status;
}

/* --- its file --- */

struct file_checksum model_row_seal(const struct model_row *row)
{
    struct file_checksum seal = {.size = row->size};
    memcpy(seal.sha256, row->sha256, sizeof seal.sha256);
    return seal;
}

enum status models_open_file(struct models *models, const struct blobs *blobs,
                             const struct model_row *row, enum check_kind kind,
                             int *file, struct error *error)
{
    struct blob_loan loan = {.is_lent = false};
    const struct blob_name name = blob_of_model(&row->id);
    const struct file_checksum seal = model_row_seal(row);
    struct error local = {0};
    struct model *model = find_ever(models, row->id.text);
    enum status status = blob_fetch(blobs, &loan, &name, &local);
    if (status == ST_OK)
        status =
            verified_file_open(&model->checked, loan.path, &seal, kind, file, &local);
    blob_give_back(blobs, &loan);
    if (status == ST_OK)
        return ST_OK;
    if (atomic_load(&model->removed)) /* after it was found */
        return error_set(error, ST_NOT_FOUND, "no model \"%s\"", row->id.text);
    if (status == ST_CORRUPT || status == ST_NOT_FOUND)
        status = ST_MODEL_CORRUPT;
    else if (status != ST_DISK_FULL)
        status = ST_INTERNAL;
    return error_set(error, status, "model %s: %s", row->id.text, local.text);
}
