#include "service/datasets/datasets.h"

#include <stdlib.h>
#include <string.h>

#include "api/requests/job_defaults.h"
#include "base/check.h"
#include "service/datasets/captions.h"
#include "service/datasets/dataset_table.h"
#include "service/datasets/dataset_visibility.h"
#include "service/threads/epoch_reclaim.h"
#include "store/rows/dataset_rows.h"

static void destroy(void *item)
{
    dataset_record_destroy(item);
}

static void list_public(struct datasets *datasets, struct dataset *dataset)
{
    if (!dataset->spec.is_public)
        return;
    datasets->publics = reallocarray(datasets->publics, datasets->public_count + 1,
                                     sizeof(struct dataset *));
    CHECK(datasets->publics != NULL);
    datasets->publics[datasets->public_count++] = dataset;
}

void datasets_list(struct datasets *datasets, struct dataset *dataset)
{
    registry_add(&datasets->registry, dataset);
    list_public(datasets, dataset);
}

struct loading {
    struct datasets *datasets;
    enum status status;
    struct error *error;
};

static bool load_row(void *context, const struct dataset_row *row)
{
    struct loading *loading = context;
    struct dataset *dataset;
    loading->status = dataset_record_read(&dataset, row, loading->error);
    if (loading->status == ST_OK)
        datasets_list(loading->datasets, dataset);
    return loading->status == ST_OK;
}

static struct caption *caption_of(void *things, const char *id)
{
    struct dataset *dataset = datasets_find(things, id);
    return dataset != NULL ? &dataset->caption : NULL;
}

enum status datasets_open(struct datasets **out, struct store_tx *tx,
                          struct error *error)
{
    struct datasets *datasets = calloc(1, sizeof *datasets);
    CHECK(datasets != NULL);
    pthread_rwlock_init(&datasets->lock, NULL);
    datasets->visits = epoch_reclaim_create(destroy);
    struct loading loading = {.datasets = datasets, .status = ST_OK, .error = error};
    enum status status = dataset_rows_walk(tx, load_row, &loading, error);
    if (status != ST_OK)
        error_within(error, status, "table dataset, after row %zu",
                     datasets->registry.count);
    else
        status = loading.status;
    if (status == ST_OK)
        status = captions_load(tx, CAPTIONED_DATASET, caption_of, datasets, error);
    if (status != ST_OK) {
        datasets_close(datasets);
        return status;
    }
    *out = datasets;
    return ST_OK;
}

void datasets_close(struct datasets *datasets)
{
    if (datasets == NULL)
        return;
    registry_fini(&datasets->registry, destroy);
    epoch_reclaim_destroy(datasets->visits);
    free(datasets->publics);
    pthread_rwlock_destroy(&datasets->lock);
    free(datasets);
}

void datasets_watch(struct datasets *datasets,
                    void (*changed)(void *context, const struct dataset_id *id),
                    void *context)
{
    datasets->changed = changed;
    datasets->changed_context = context;
}

void datasets_enter(struct datasets *datasets, struct reclaim_reader *visit)
{
    epoch_reclaim_enter(datasets->visits, visit);
}

void datasets_leave(struct datasets *datasets, struct reclaim_reader *visit)
{
    epoch_reclaim_leave(datasets->visits, visit);
}

struct dataset *datasets_find(struct datasets *datasets, const char *id)
{
    pthread_rwlock_rdlock(&datasets->lock);
    struct dataset *dataset = registry_find(&datasets->registry, id);
    pthread_rwlock_unlock(&datasets->lock);
    return dataset;
}

const struct dataset_spec *dataset_spec(const struct dataset *dataset)
{
    return &dataset->spec;
}

const struct principal *dataset_owner(const struct dataset *dataset)
{
    return &dataset->owner;
}

void dataset_read(struct datasets *datasets, const struct dataset *dataset,
                  struct dataset_info *info)
{
    pthread_rwlock_rdlock(&datasets->lock);
    *info = dataset->info;
    pthread_rwlock_unlock(&datasets->lock);
}

bool dataset_hides_imports(const struct dataset *dataset)
{
    return dataset_visibility_hides(&dataset->owner);
}

void dataset_read_as(struct datasets *datasets, const struct dataset *dataset,
                     const struct principal *reader, struct dataset_info *info)
{
    dataset_read(datasets, dataset, info);
    dataset_visibility_apply(&dataset->owner, reader, info);
}

struct caption dataset_caption(struct datasets *datasets, const struct dataset *dataset)
{
    pthread_rwlock_rdlock(&datasets->lock);
    struct caption copy = caption_copy(&dataset->caption);
    pthread_rwlock_unlock(&datasets->lock);
    return copy;
}

bool dataset_fits(struct datasets *datasets, const struct dataset *dataset,
                  const struct caption_search *search)
{
    pthread_rwlock_rdlock(&datasets->lock);
    bool fits = caption_fits(&dataset->caption, dataset->spec.id.text, search);
    pthread_rwlock_unlock(&datasets->lock);
    return fits;
}

atomic_bool *dataset_here_flag(struct dataset *dataset)
{
    return &dataset->here;
}

struct job_dataset dataset_facts(struct datasets *datasets,
                                 const struct dataset *dataset)
{
    struct dataset_info info;
    const struct dataset_spec *spec = dataset_spec(dataset);
    dataset_read(datasets, dataset, &info);
    return (struct job_dataset){
        .schema = &spec->schema,
        .records =
            division_count(&spec->grant.division, info.detail.records, PART_TRAIN),
        .held_out =
            division_count(&spec->grant.division, info.detail.records, PART_HOLDOUT),
        .division = spec->grant.division,
        .is_public = spec->is_public,
        .relation = spec->grant.relation,
        .delta = spec->is_public ? 0 : spec->grant.delta,
    };
}

void datasets_tell(struct datasets *datasets, const struct dataset_id *id)
{
    if (datasets->changed != NULL)
        datasets->changed(datasets->changed_context, id);
}

/* The list of public datasets is built again, so that it keeps its order. */
void datasets_replace_take(struct datasets *datasets, struct dataset *dataset_take)
{
    pthread_rwlock_wrlock(&datasets->lock);
    struct dataset *before = registry_replace(&datasets->registry, dataset_take);
    datasets->public_count = 0;
    for (size_t i = 0; i < datasets->registry.count; i++)
        list_public(datasets, datasets->registry.items[i]);
    datasets->version++;
    pthread_rwlock_unlock(&datasets->lock);
    epoch_reclaim_leave_behind(datasets->visits, before);
}

size_t datasets_evaluations(struct datasets *datasets, const struct dataset *dataset,
                            struct dataset_id found[LIMIT_EVALUATIONS])
{
    size_t count = 0;
    pthread_rwlock_rdlock(&datasets->lock);
    for (size_t i = datasets->public_count; i-- > 0 && count < LIMIT_EVALUATIONS;) {
        const struct dataset *other = datasets->publics[i];
        if (other != dataset && other->info.state == DATASET_READY &&
            strcmp(other->owner.project, dataset->owner.project) == 0 &&
            schema_agrees(&other->spec.schema, &dataset->spec.schema))
            found[count++] = other->spec.id;
    }
    pthread_rwlock_unlock(&datasets->lock);
    return count;
}

static void renamed(void *things, void *thing)
{
    struct datasets *datasets = things;
    (void)thing;
    datasets->version++;
}

struct caption_place dataset_caption_place(struct datasets *datasets,
                                           struct dataset *dataset)
{
    return (struct caption_place){
        .kind = CAPTIONED_DATASET,
        .id = dataset->spec.id.text,
        .lock = &datasets->lock,
        .caption = &dataset->caption,
        .changed = renamed,
        .things = datasets,
    };
}

enum status dataset_caption_put(struct datasets *datasets, struct store_tx *tx,
                                struct dataset *dataset, struct caption *caption_take,
                                struct error *error)
{
    const struct caption_place place = dataset_caption_place(datasets, dataset);
    return caption_put(&place, tx, caption_take, error);
}

size_t datasets_importing(struct datasets *datasets)
{
    size_t importing = 0;
    pthread_rwlock_rdlock(&datasets->lock);
    for (size_t i = 0; i < datasets->registry.count; i++) {
        const struct dataset *dataset = datasets->registry.items[i];
        importing += dataset->info.state == DATASET_IMPORTING;
    }
    pthread_rwlock_unlock(&datasets->lock);
    return importing;
}

uint64_t datasets_version(struct datasets *datasets)
{
    pthread_rwlock_rdlock(&datasets->lock);
    uint64_t version = datasets->version;
    pthread_rwlock_unlock(&datasets->lock);
    return version;
}

size_t datasets_count(struct datasets *datasets)
{
    pthread_rwlock_rdlock(&datasets->lock);
    size_t count = datasets->registry.count;
    pthread_rwlock_unlock(&datasets->lock);
    return count;
}

struct dataset *datasets_at(struct datasets *datasets, size_t index)
{
    pthread_rwlock_rdlock(&datasets->lock);
    CHECK(index < datasets->registry.count);
    struct dataset *dataset = datasets->registry.items[index];
    pthread_rwlock_unlock(&datasets->lock);
    return dataset;
}
