#include "service/datasets.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/limits.h"
#include "base/check.h"
#include "base/clock.h"
#include "service/captions.h"
#include "service/registry.h"
#include "store/table_rows.h"

struct dataset {
    struct dataset_spec spec; /* begins with the id, as registry.h asks */
    struct principal owner;   /* name and project */
    struct dataset_info info; /* guarded by the lock of datasets, */
    struct caption caption;   /* and so is this */
    struct dataset *before;   /* as declared before, for whoever still holds it */
};

struct datasets {
    pthread_rwlock_t lock; /* guards all below, and every dataset's info */
    struct registry registry;
    uint64_t version;         /* grows with every change */
    struct dataset **publics; /* (public_count), oldest first */
    size_t public_count;
    void (*changed)(void *context, const struct dataset_id *id);
    void *changed_context;
};

struct change { /* what becomes of memory when the transaction ends */
    struct datasets *datasets;
    struct dataset *dataset;
    struct dataset_info info;
};

const char *const dataset_state_names[DATASET_STATE_COUNT + 1] = {
    [DATASET_CREATED] = "CREATED", [DATASET_IMPORTING] = "IMPORTING",
    [DATASET_READY] = "READY",     [DATASET_FAILED] = "FAILED",
    [DATASET_DELETED] = "DELETED",
};

#define TO(state) (1u << (state))
static const unsigned moves[] = {
    [DATASET_CREATED] = TO(DATASET_IMPORTING) | TO(DATASET_DELETED),
    [DATASET_IMPORTING] = TO(DATASET_READY) | TO(DATASET_FAILED) | TO(DATASET_CREATED),
    [DATASET_READY] = TO(DATASET_DELETED),
    [DATASET_FAILED] = TO(DATASET_IMPORTING) | TO(DATASET_DELETED),
    [DATASET_DELETED] = 0,
};

static bool state_parse(enum dataset_state *state, const char *text)
{
    for (unsigned i = 0; i < DATASET_STATE_COUNT; i++) {
        if (strcmp(text, dataset_state_names[i]) == 0) {
            *state = (enum dataset_state)i;
            return true;
        }
    }
    return false;
}

static void dataset_destroy(void *item)
{
    for (struct dataset *dataset = item, *before; dataset != NULL; dataset = before) {
        before = dataset->before;
        dataset_spec_fini(&dataset->spec);
        caption_fini(&dataset->caption);
        free(dataset);
    }
}

/* Lists a dataset. The lock is held, for writing. */
static void enter(struct datasets *datasets, struct dataset *dataset)
{
    registry_add(&datasets->registry, dataset);
    if (!dataset->spec.is_public)
        return;
    datasets->publics = reallocarray(datasets->publics, datasets->public_count + 1,
                                     sizeof(struct dataset *));
    CHECK(datasets->publics != NULL);
    datasets->publics[datasets->public_count++] = dataset;
}

struct loading {
    struct datasets *datasets;
    enum status status;
    struct error *error;
};

static enum status read_owner(struct principal *owner, const struct dataset_row *row,
                              struct error *error)
{
    if (!principal_parse(owner, row->created_by) || !project_name_is_good(row->project))
        return error_set(error, ST_CORRUPT, "its owner or project is no name");
    strcpy(owner->project, row->project); /* a good name has room */
    return ST_OK;
}

static bool load_row(void *context, const struct dataset_row *row)
{
    struct loading *loading = context;
    struct dataset *dataset = calloc(1, sizeof *dataset);
    CHECK(dataset != NULL);
    loading->status = dataset_spec_restore(&dataset->spec, row->spec, loading->error);
    if (loading->status == ST_OK)
        loading->status =
            dataset_detail_parse(&dataset->info.detail, row->detail, loading->error);
    if (loading->status == ST_OK && !state_parse(&dataset->info.state, row->state))
        loading->status = error_set(loading->error, ST_CORRUPT,
                                    "state \"%.32s\" is no state", row->state);
    if (loading->status == ST_OK && strcmp(dataset->spec.id.text, row->id.text) != 0)
        loading->status = error_set(loading->error, ST_CORRUPT, "its spec is of \"%s\"",
                                    dataset->spec.id.text);
    if (loading->status == ST_OK)
        loading->status = read_owner(&dataset->owner, row, loading->error);
    if (loading->status != ST_OK) {
        error_within(loading->error, loading->status, "table dataset, row %s",
                     row->id.text);
        dataset_destroy(dataset);
        return false;
    }
    dataset->info.version = row->version;
    dataset->info.create_ms = row->create_ms;
    dataset->info.has_sha256 = row->sha256 != NULL;
    if (row->sha256 != NULL)
        memcpy(dataset->info.sha256, row->sha256, SHA256_SIZE);
    enter(loading->datasets, dataset);
    return true;
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
    registry_fini(&datasets->registry, dataset_destroy);
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

struct file_seal dataset_info_seal(const struct dataset_info *info)
{
    struct file_seal seal = {.size = info->detail.size};
    CHECK(info->has_sha256);
    memcpy(seal.sha256, info->sha256, sizeof seal.sha256);
    return seal;
}

void dataset_read(struct datasets *datasets, const struct dataset *dataset,
                  struct dataset_info *info)
{
    pthread_rwlock_rdlock(&datasets->lock);
    *info = dataset->info;
    pthread_rwlock_unlock(&datasets->lock);
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

/* Tells who watches, no lock being held, and lets go of the change. */
static void tell_take(struct change *change)
{
    struct datasets *datasets = change->datasets;
    if (datasets->changed != NULL)
        datasets->changed(datasets->changed_context, &change->dataset->spec.id);
    free(change);
}

static void added(void *context)
{
    struct change *change = context;
    pthread_rwlock_wrlock(&change->datasets->lock);
    enter(change->datasets, change->dataset);
    change->datasets->version++;
    pthread_rwlock_unlock(&change->datasets->lock);
    tell_take(change);
}

static void declared_anew(void *context)
{
    struct change *change = context;
    pthread_rwlock_wrlock(&change->datasets->lock);
    change->dataset->before =
        registry_replace(&change->datasets->registry, change->dataset);
    for (size_t i = 0; i < change->datasets->public_count; i++)
        if (change->datasets->publics[i] == change->dataset->before)
            change->datasets->publics[i] = change->dataset;
    change->datasets->version++;
    pthread_rwlock_unlock(&change->datasets->lock);
    tell_take(change);
}

static void not_added(void *context)
{
    struct change *change = context;
    dataset_destroy(change->dataset);
    free(change);
}

static void moved(void *context)
{
    struct change *change = context;
    pthread_rwlock_wrlock(&change->datasets->lock);
    change->dataset->info = change->info;
    change->datasets->version++;
    pthread_rwlock_unlock(&change->datasets->lock);
    tell_take(change);
}

enum writing { ROW_INSERT, ROW_DECLARE, ROW_UPDATE };

static enum status write_row(struct store_tx *tx, const struct dataset *dataset,
                             const struct dataset_info *info, enum writing writing,
                             struct error *error)
{
    enum status status = ST_OK;
    char *spec = dataset_spec_render(&dataset->spec);
    char *detail = dataset_detail_render(&info->detail);
    struct dataset_row row = {
        .id = dataset->spec.id,
        .version = info->version,
        .replaces = info->version - 1,
        .state = dataset_state_names[info->state],
        .spec = spec,
        .detail = detail,
        .sha256 = info->has_sha256 ? info->sha256 : NULL,
        .create_ms = info->create_ms,
        .project = dataset->owner.project,
        .created_by = dataset->owner.name,
    };
    switch (writing) {
    case ROW_INSERT: status = dataset_row_insert(tx, &row, error); break;
    case ROW_DECLARE: status = dataset_row_declare(tx, &row, error); break;
    case ROW_UPDATE: status = dataset_row_update(tx, &row, error); break;
    }
    if (status == ST_OK && writing != ROW_UPDATE)
        status = caption_write_row(tx, CAPTIONED_DATASET, row.id.text,
                                   &dataset->caption, error);
    free(detail);
    free(spec);
    return status;
}

static struct change *change_create(struct datasets *datasets, struct dataset *dataset)
{
    struct change *change = calloc(1, sizeof *change);
    CHECK(change != NULL);
    change->datasets = datasets;
    change->dataset = dataset;
    return change;
}

/* Writes the row of a change as its next version; memory follows when that is durable. */
static enum status change_write_take(struct change *change, struct store_tx *tx,
                                     struct error *error)
{
    change->info.version++;
    enum status status =
        write_row(tx, change->dataset, &change->info, ROW_UPDATE, error);
    if (status == ST_OK)
        store_tx_on_end(tx, moved, free, change);
    else
        free(change);
    return status;
}

/* Makes a dataset in state CREATED from the spec. Of its owner name and project are
 * kept. */
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

/* The dataset's own grant is proposed, by its owner, at the time of its creation. */
static void propose(struct dataset *dataset)
{
    struct proposal *proposal = &dataset->info.detail.proposal;
    proposal->state = PROPOSAL_PENDING;
    grant_id_make(&proposal->id);
    memcpy(proposal->proposed_by, dataset->owner.name, sizeof proposal->proposed_by);
    proposal->propose_ms = dataset->info.create_ms;
}

enum status datasets_add(struct datasets *datasets, struct store_tx *tx,
                         const struct dataset_addition *addition, struct dataset **out,
                         struct error *error)
{
    struct dataset *dataset = dataset_take(addition->spec_take, addition->owner);
    dataset->info.version = 1;
    dataset->info.create_ms = clock_wall_ms();
    if (addition->is_proposed)
        propose(dataset);
    enum status status = write_row(tx, dataset, &dataset->info, ROW_INSERT, error);
    if (status != ST_OK) {
        dataset_destroy(dataset);
        return status;
    }
    store_tx_on_end(tx, added, not_added, change_create(datasets, dataset));
    *out = dataset;
    return ST_OK;
}

enum status datasets_declare_anew(struct datasets *datasets, struct store_tx *tx,
                                  struct dataset_spec *spec_take, struct dataset **out,
                                  struct error *error)
{
    struct dataset_info info;
    const struct dataset *old = datasets_find(datasets, spec_take->id.text);
    CHECK(old != NULL);
    dataset_read(datasets, old, &info);
    CHECK(info.state == DATASET_CREATED || info.state == DATASET_FAILED);
    CHECK(dataset_spec_same_privacy(&old->spec, spec_take));
    struct dataset *dataset = dataset_take(spec_take, &old->owner);
    if (caption_is_empty(&dataset->caption))
        dataset->caption = dataset_caption(datasets, old);
    dataset->info.version = info.version + 1;
    dataset->info.create_ms = info.create_ms;
    dataset->info.detail.proposal = info.detail.proposal;
    dataset->info.detail.regrant = info.detail.regrant;
    enum status status = write_row(tx, dataset, &dataset->info, ROW_DECLARE, error);
    if (status != ST_OK) {
        dataset_destroy(dataset);
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
    CHECK((moves[change->info.state] & TO(info->state)) != 0);
    const struct proposal proposal = change->info.detail.proposal;
    const struct proposal regrant = change->info.detail.regrant;
    change->info.state = info->state;
    change->info.detail = info->detail;
    change->info.detail.proposal = proposal;
    change->info.detail.regrant = regrant;
    change->info.has_sha256 = info->has_sha256;
    memcpy(change->info.sha256, info->sha256, SHA256_SIZE);
    return change_write_take(change, tx, error);
}

enum status dataset_propose(struct datasets *datasets, struct store_tx *tx,
                            struct dataset *dataset, const struct proposal *proposal,
                            struct error *error)
{
    struct change *change = change_create(datasets, dataset);
    dataset_read(datasets, dataset, &change->info);
    CHECK(proposal_is_further(proposal));
    CHECK(proposal_state_at(&change->info.detail.regrant, proposal->propose_ms) !=
          PROPOSAL_PENDING);
    change->info.detail.regrant = *proposal;
    return change_write_take(change, tx, error);
}

enum status dataset_decide(struct datasets *datasets, struct store_tx *tx,
                           struct dataset *dataset, const struct proposal *decided,
                           struct error *error)
{
    struct change *change = change_create(datasets, dataset);
    dataset_read(datasets, dataset, &change->info);
    struct proposal *before = proposal_is_further(decided)
                                  ? &change->info.detail.regrant
                                  : &change->info.detail.proposal;
    CHECK(before->state == PROPOSAL_PENDING);
    *before = *decided;
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

enum status dataset_caption_put(struct datasets *datasets, struct store_tx *tx,
                                struct dataset *dataset, struct caption *caption_take,
                                struct error *error)
{
    const struct caption_place place = {
        .kind = CAPTIONED_DATASET,
        .id = dataset->spec.id.text,
        .lock = &datasets->lock,
        .caption = &dataset->caption,
        .changed = renamed,
        .things = datasets,
    };
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
