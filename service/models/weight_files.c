#include "service/models/weight_files.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/file_checksum.h"
#include "service/threads/registry.h"
#include "store/rows/weights_rows.h"

struct weight_file {
    struct weights_row row; /* begins with the id, as registry.h asks */
    char *project, *created_by, *kind, *note; /* of the row, owned */
    atomic_bool removed;
};

struct weight_files {
    pthread_rwlock_t lock;    /* guards the rest */
    struct registry registry; /* of struct weight_file */
};

struct change { /* an addition or a removal */
    struct weight_files *files;
    struct weight_file *file;
};

static char *copy(const char *text)
{
    char *copied = strdup(text);
    CHECK(copied != NULL);
    return copied;
}

static struct weight_file *file_create(const struct weights_row *row)
{
    struct weight_file *file = calloc(1, sizeof *file);
    CHECK(file != NULL);
    file->row = *row;
    file->row.project = file->project = copy(row->project);
    file->row.created_by = file->created_by = copy(row->created_by);
    file->row.kind = file->kind = copy(row->kind);
    file->row.note = file->note = copy(row->note);
    return file;
}

static void file_destroy(void *item)
{
    struct weight_file *file = item;
    free(file->project);
    free(file->created_by);
    free(file->kind);
    free(file->note);
    free(file);
}

struct loading {
    struct weight_files *files;
    enum status status;
    struct error *error;
};

static bool load_row(void *context, const struct weights_row *row)
{
    struct loading *loading = context;
    struct file_id id;
    if (!file_id_parse(&id, row->id.text)) {
        loading->status =
            error_set(loading->error, ST_CORRUPT,
                      "table weights, row %s: its id is no file's", row->id.text);
        return false;
    }
    registry_add(&loading->files->registry, file_create(row));
    return true;
}

enum status weight_files_open(struct weight_files **out, struct store_tx *tx,
                              struct error *error)
{
    struct weight_files *files = calloc(1, sizeof *files);
    CHECK(files != NULL);
    pthread_rwlock_init(&files->lock, NULL);
    struct loading loading = {.files = files, .status = ST_OK, .error = error};
    enum status status = weights_rows_walk(tx, load_row, &loading, error);
    if (status != ST_OK)
        error_within(error, status, "table weights, after row %zu",
                     files->registry.count);
    else
        status = loading.status;
    if (status != ST_OK) {
        weight_files_close(files);
        return status;
    }
    *out = files;
    return ST_OK;
}

void weight_files_close(struct weight_files *files)
{
    if (files == NULL)
        return;
    registry_fini(&files->registry, file_destroy);
    pthread_rwlock_destroy(&files->lock);
    free(files);
}

static void enter_take(struct weight_files *files, struct weight_file *file)
{
    pthread_rwlock_wrlock(&files->lock);
    registry_add(&files->registry, file);
    pthread_rwlock_unlock(&files->lock);
}

static void added(void *context)
{
    struct change *change = context;
    enter_take(change->files, change->file);
    free(change);
}

static void not_added(void *context)
{
    struct change *change = context;
    file_destroy(change->file);
    free(change);
}

static struct change *change_of(struct weight_files *files, struct weight_file *file)
{
    struct change *change = malloc(sizeof *change);
    CHECK(change != NULL);
    *change = (struct change){files, file};
    return change;
}

enum status weight_files_add(struct weight_files *files, struct store_tx *tx,
                             const struct weights_row *row, struct error *error)
{
    struct weights_row numbered = *row;
    enum status status = row_number_draw(tx, NUMBERED_WEIGHTS, &numbered.number, error);
    if (status == ST_OK)
        status = weights_row_insert(tx, &numbered, error);
    if (status == ST_OK)
        store_tx_on_end(tx, added, not_added, change_of(files, file_create(&numbered)));
    return status;
}

static struct weight_file *find_ever(struct weight_files *files, const char *id)
{
    pthread_rwlock_rdlock(&files->lock);
    struct weight_file *file = registry_find(&files->registry, id);
    pthread_rwlock_unlock(&files->lock);
    return file;
}

static void removed(void *context)
{
    struct change *change = context;
    atomic_store(&change->file->removed, true);
    free(change);
}

enum status weight_files_remove(struct weight_files *files, struct store_tx *tx,
                                const struct weights_row *row, struct error *error)
{
    struct weight_file *file = find_ever(files, row->id.text);
    enum status status = weights_row_delete(tx, &row->id, error);
    if (status == ST_OK)
        store_tx_on_end(tx, removed, free, change_of(files, file));
    return status;
}

/* --- changes by other daemons --- */

struct renewal {
    struct weight_files *files;
    bool known, found;
};

/* Rows never change. */
static bool read_row(void *context, const struct weights_row *row)
{
    struct renewal *renewal = context;
    renewal->found = true;
    if (!renewal->known)
        enter_take(renewal->files, file_create(row));
    return false;
}

enum status weight_files_renew(struct weight_files *files, struct store_tx *tx,
                               const char *id, struct error *error)
{
    struct file_id parsed;
    struct weight_file *known = find_ever(files, id);
    struct renewal renewal = {.files = files, .known = known != NULL};
    if (!file_id_parse(&parsed, id))
        return error_set(error, ST_CORRUPT,
                         "table weights, row %s: its id is no file's", id);
    enum status status = weights_row_find(tx, &parsed, read_row, &renewal, error);
    if (status == ST_OK && known != NULL && !renewal.found)
        atomic_store(&known->removed, true);
    return status;
}

const struct weights_row *weight_files_find(struct weight_files *files, const char *id)
{
    const struct weight_file *file = find_ever(files, id);
    return file != NULL && !atomic_load(&file->removed) ? &file->row : NULL;
}

size_t weight_files_count(struct weight_files *files)
{
    pthread_rwlock_rdlock(&files->lock);
    size_t count = files->registry.count;
    pthread_rwlock_unlock(&files->lock);
    return count;
}

const struct weights_row *weight_files_at(struct weight_files *files, size_t index)
{
    pthread_rwlock_rdlock(&files->lock);
    CHECK(index < files->registry.count);
    const struct weight_file *file = files->registry.items[index];
    pthread_rwlock_unlock(&files->lock);
    return &file->row;
}

bool weight_file_is_removed(struct weight_files *files, const struct weights_row *row)
{
    return atomic_load(&find_ever(files, row->id.text)->removed);
}

struct file_checksum weights_row_seal(const struct weights_row *row)
{
    struct file_checksum seal = {.size = row->size};
    memcpy(seal.sha256, row->sha256, sizeof seal.sha256);
    return seal;
}
