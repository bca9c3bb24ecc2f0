#include "service/datasets/datasets.h"

#include <stdlib.h>
#include <string.h>

#include "api/requests/job_defaults.h"
#include "base/check.h"
#include "base/clock.h"
#include "service/datasets/captions.h"
#include "service/datasets/dataset_table.h"
#include "service/datasets/dataset_visibility.h"
#include "service/threads/epoch_reclaim.h"
#include "store/rows/dataset_rows.h"

struct change { /* the change that is made in memory when the transaction commits */
    struct datasets *datasets;
    struct dataset *dataset;
    struct dataset_info info;
};

#define TO(state) (1u << (state))
static const unsigned moves[] = {
    [DATASET_CREATED] = TO(DATASET_IMPORTING) | TO(DATASET_DELETED),
    [DATASET_IMPORTING] = TO(DATASET_READY) | TO(DATASET_FAILED) | TO(DATASET_CREATED),
    [DATASET_READY] = TO(DATASET_DELETED),
    [DATASET_FAILED] = TO(DATASET_IMPORTING) | TO(DATASET_DELETED),
    [DATASET_DELETED] = 0,
};

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

/* Notifies the watcher, and frees the change. */
static void tell_take(struct change *change)
{
    datasets_tell(change->datasets, &change->dataset->spec.id);
    free(change);
}

static void added(void *context)
{
    struct change *change = context;
    pthread_rwlock_wrlock(&change->datasets->lock);
    datasets_list(change->datasets, change->dataset);
    change->datasets->version++;
    pthread_rwlock_unlock(&change->datasets->lock);
    tell_take(change);
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

static void declared_anew(void *context)
{
    struct change *change = context;
    datasets_replace_take(change->datasets, change->dataset);
    tell_take(change);
}

static void not_added(void *context)
{
    struct change *change = context;
    dataset_record_destroy(change->dataset);
    free(change);
}

static void moved(void *context)
{
    struct change *change = context;
    pthread_rwlock_wrlock(&change->datasets->lock);
    bool same = dataset_visibility_same(&change->dataset->owner, &change->dataset->info,
                                        &change->info);
    change->dataset->info = change->info;
    change->datasets->version += !same;
    pthread_rwlock_unlock(&change->datasets->lock);
    if (same)
        free(change);
    else
        tell_take(change);
}

static struct change *change_create(struct datasets *datasets, struct dataset *dataset)
{
    struct change *change = calloc(1, sizeof *change);
    CHECK(change != NULL);
    change->datasets = datasets;
    change->dataset = dataset;
    return change;
}

/* Writes the row of a change as its next version. Memory follows when that is
 * durable. */
static enum status change_write_take(struct change *change, struct store_tx *tx,
                                     struct error *error)
{
    change->info.version++;
    enum status status =
        dataset_record_write(tx, change->dataset, &change->info, ROW_UPDATE, error);
    if (status == ST_OK)
        store_tx_on_end(tx, moved, free, change);
    else
        free(change);
    return status;
}

/* Makes a dataset in state CREATED from the spec. Of the owner, only name and project
 * are copied. */
static struct dataset *dataset_take(struct dataset_spec *spec_take,
                                    const struct principal *owner)
{
    struct dataset *dataset = calloc(1, sizeof *dataset);
    CHECK(dataset != NULL);
    dataset->spec = *spec_take;
    *spec_take = (struct dataset_spec){0};
    memcpy(dataset->owner.name, owner->name, sizeof owner->name);
    memcpy(dataset->owner.project, owner->project, sizeof owner->project);
    dataset->caption = dataset->spec.caption;
    dataset->spec.caption = (struct caption){0};
    dataset->info.state = DATASET_CREATED;
    return dataset;
}

enum status datasets_add(struct datasets *datasets, struct store_tx *tx,
                         const struct dataset_addition *addition, struct dataset **out,
                         struct error *error)
{
    struct dataset *dataset = dataset_take(addition->spec_take, addition->owner);
    dataset->info.version = 1;
    dataset->info.create_ms = clock_wall_ms();
    if (addition->is_proposed)
        dataset->info.detail.proposal =
            proposal_make(dataset->owner.name, dataset->info.create_ms);
    enum status status =
        dataset_record_write(tx, dataset, &dataset->info, ROW_INSERT, error);
    if (status != ST_OK) {
        dataset_record_destroy(dataset);
        return status;
    }
    store_tx_on_end(tx, added, not_added, change_create(datasets, dataset));
    *out = dataset;
    return ST_OK;
}

enum status datasets_declare_anew(struct datasets *datasets, struct store_tx *tx,
                                  const struct dataset_renewal *renewal,
                                  struct dataset **out, struct error *error)
{
    struct dataset_info info;
    const struct dataset *old = datasets_find(datasets, renewal->spec_take->id.text);
    CHECK(old != NULL);
    dataset_read(datasets, old, &info);
    CHECK(info.state == DATASET_CREATED || info.state == DATASET_FAILED);
    CHECK(renewal->proposal != NULL ||
          dataset_spec_same_privacy(&old->spec, renewal->spec_take));
    struct dataset *dataset = dataset_take(renewal->spec_take, &old->owner);
    if (caption_is_empty(&dataset->caption))
        dataset->caption = dataset_caption(datasets, old);
    dataset->info.version = info.version + 1;
    dataset->info.create_ms = info.create_ms;
    dataset->info.detail.proposal =
        renewal->proposal != NULL ? *renewal->proposal : info.detail.proposal;
    dataset->info.detail.regrant = info.detail.regrant;
    dataset->info.detail.words = info.detail.words;
    dataset->info.is_fetched = info.is_fetched;
    enum status status =
        dataset_record_write(tx, dataset, &dataset->info, ROW_DECLARE, error);
    if (status != ST_OK) {
        dataset_record_destroy(dataset);
        return status;
    }
    store_tx_on_end(tx, declared_anew, not_added, change_create(datasets, dataset));
    *out = dataset;
    return ST_OK;
}

enum status dataset_move(struct datasets *datasets, struct store_tx *tx,
                         struct dataset *dataset, const struct dataset_info *info,
                         struct error *error)
{
    struct change *change = change_create(datasets, dataset);
    dataset_read(datasets, dataset, &change->info);
    if ((moves[change->info.state] & TO(info->state)) == 0) {
        free(change);
        return error_set(error, ST_CONFLICT, "another daemon has moved the dataset");
    }
    const struct proposal proposal = change->info.detail.proposal;
    const struct proposal regrant = change->info.detail.regrant;
    const struct proposal words = change->info.detail.words;
    change->info.state = info->state;
    change->info.detail = info->detail;
    change->info.detail.proposal = proposal;
    change->info.detail.regrant = regrant;
    change->info.detail.words = words;
    change->info.has_sha256 = info->has_sha256;
    memcpy(change->info.sha256, info->sha256, SHA256_SIZE);
    return change_write_take(change, tx, error);
}

enum status dataset_mark_fetched(struct datasets *datasets, struct store_tx *tx,
                                 struct dataset *dataset, struct error *error)
{
    struct change *change = change_create(datasets, dataset);
    dataset_read(datasets, dataset, &change->info);
    change->info.is_fetched = true;
    return change_write_take(change, tx, error);
}

/* Returns the place of a proposal of that kind. */
static struct proposal *place_of(struct dataset_detail *detail,
                                 const struct proposal *proposal)
{
    if (proposal_is_words(proposal))
        return &detail->words;
    return proposal_is_further(proposal) ? &detail->regrant : &detail->proposal;
}

enum status dataset_propose(struct datasets *datasets, struct store_tx *tx,
                            struct dataset *dataset, const struct proposal *proposal,
                            struct error *error)
{
    struct change *change = change_create(datasets, dataset);
    dataset_read(datasets, dataset, &change->info);
    struct proposal *before = place_of(&change->info.detail, proposal);
    CHECK(before != &change->info.detail.proposal);
    CHECK(proposal_state_at(before, proposal->propose_ms) != PROPOSAL_PENDING);
    *before = *proposal;
    return change_write_take(change, tx, error);
}

enum status dataset_decide(struct datasets *datasets, struct store_tx *tx,
                           struct dataset *dataset, const struct proposal *decided,
                           struct error *error)
{
    struct change *change = change_create(datasets, dataset);
    dataset_read(datasets, dataset, &change->info);
    struct proposal *before = place_of(&change->info.detail, decided);
    CHECK(before->state == PROPOSAL_PENDING);
    *before = *decided;
    return change_write_take(change, tx, error);
}

enum status dataset_use_words(struct datasets *datasets, struct store_tx *tx,
                              struct dataset *dataset, const struct survey_id *run,
                              struct error *error)
{
    struct change *change = change_create(datasets, dataset);
    dataset_read(datasets, dataset, &change->info);
    struct proposal *words = &change->info.detail.words;
    CHECK(words->state == PROPOSAL_APPROVED && words->words.statistics.text[0] == '\0');
    words->words.statistics = *run;
    return change_write_take(change, tx, error);
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
