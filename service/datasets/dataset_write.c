#include "service/datasets/dataset_write.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "service/datasets/dataset_table.h"
#include "service/datasets/dataset_visibility.h"
#include "service/datasets/datasets.h"
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
