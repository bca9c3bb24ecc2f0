#include "service/datasets/dataset_refresh.h"

#include <stdlib.h>
#include <string.h>

#include "service/datasets/captions.h"
#include "service/datasets/dataset_table.h"
#include "service/datasets/dataset_visibility.h"
#include "store/rows/dataset_rows.h"

struct renewal {
    struct dataset *fresh; /* the dataset as in its row; NULL: there is no row */
    enum status status;
    struct error *error;
};

static bool read_row(void *context, const struct dataset_row *row)
{
    struct renewal *renewal = context;
    renewal->status = dataset_record_read(&renewal->fresh, row, renewal->error);
    return false;
}

static bool declares_same(const struct dataset *a, const struct dataset *b)
{
    char *one = dataset_spec_render(&a->spec);
    char *other = dataset_spec_render(&b->spec);
    bool same = strcmp(one, other) == 0;
    free(one);
    free(other);
    return same;
}

static void add(struct datasets *datasets, struct dataset *fresh_take)
{
    pthread_rwlock_wrlock(&datasets->lock);
    datasets_list(datasets, fresh_take);
    datasets->version++;
    pthread_rwlock_unlock(&datasets->lock);
}

/* Takes over what may change of a dataset whose declaration is unchanged. Returns
 * whether the dataset looks the same to everyone. */
static bool take_info(struct datasets *datasets, struct dataset *known,
                      const struct dataset *fresh)
{
    pthread_rwlock_wrlock(&datasets->lock);
    bool same = dataset_visibility_same(&known->owner, &known->info, &fresh->info);
    known->info = fresh->info;
    datasets->version += !same;
    pthread_rwlock_unlock(&datasets->lock);
    return same;
}

static void declare_anew(struct datasets *datasets, const struct dataset *known,
                         struct dataset *fresh_take)
{
    fresh_take->caption = dataset_caption(datasets, known);
    datasets_replace_take(datasets, fresh_take);
}

/* Returns whether another daemon has ended the import that a thread of this daemon is
 * still making, because it took this daemon for dead. The thread reads the dataset, so
 * the dataset stays unchanged for the short time until this process ends. */
static bool is_lost_here(struct dataset *known, const struct dataset *fresh)
{
    return atomic_load(&known->here) &&
           (fresh->info.state != DATASET_IMPORTING || !declares_same(known, fresh));
}

static void take_over(struct datasets *datasets, struct dataset *fresh_take)
{
    bool same = false;
    struct dataset_info info = {0};
    const struct dataset_id id = fresh_take->spec.id;
    struct dataset *known = datasets_find(datasets, id.text);
    if (known != NULL)
        dataset_read(datasets, known, &info);
    if (known == NULL) {
        add(datasets, fresh_take);
    } else if (info.version >= fresh_take->info.version ||
               is_lost_here(known, fresh_take)) {
        dataset_record_destroy(fresh_take);
        return;
    } else if (declares_same(known, fresh_take)) {
        same = take_info(datasets, known, fresh_take);
        dataset_record_destroy(fresh_take);
    } else {
        declare_anew(datasets, known, fresh_take);
    }
    if (!same)
        datasets_tell(datasets, &id);
}

enum status dataset_renew(struct datasets *datasets, struct store_tx *tx,
                          const char *id, struct error *error)
{
    struct dataset_id parsed;
    struct renewal renewal = {.status = ST_OK, .error = error};
    if (!dataset_id_parse(&parsed, id))
        return error_set(error, ST_CORRUPT,
                         "table dataset, row %s: its id is no dataset's", id);
    enum status status = dataset_row_find(tx, &parsed, read_row, &renewal, error);
    if (status == ST_OK && renewal.status != ST_OK)
        status = ST_CORRUPT;
    if (status == ST_OK && renewal.fresh != NULL)
        take_over(datasets, renewal.fresh);
    return status;
}

enum status dataset_caption_renew(struct datasets *datasets, struct store_tx *tx,
                                  const char *id, struct error *error)
{
    struct dataset *known = datasets_find(datasets, id);
    if (known == NULL)
        return ST_OK;
    const struct caption_place place = dataset_caption_place(datasets, known);
    return caption_renew(&place, tx, error);
}
