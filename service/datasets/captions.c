#include "service/datasets/captions.h"

#include <stdlib.h>

#include "api/requests/caption.h"
#include "base/check.h"
#include "service/threads/long_polls.h"

struct loading {
    struct caption *(*find)(void *things, const char *id);
    void *things;
    enum status status;
    struct error *error;
};

static bool load_row(void *context, const struct caption_row *row)
{
    struct loading *loading = context;
    struct caption *caption = loading->find(loading->things, row->id);
    if (caption == NULL)
        loading->status =
            error_set(loading->error, ST_CORRUPT, "it is of nothing that there is");
    else
        loading->status = caption_restore(caption, row->text, loading->error);
    if (loading->status == ST_OK)
        return true;
    error_within(loading->error, loading->status, "table caption, row %s", row->id);
    return false;
}

enum status captions_load(struct store_tx *tx, enum captioned kind,
                          struct caption *(*find)(void *things, const char *id),
                          void *things, struct error *error)
{
    struct loading loading = {find, things, ST_OK, error};
    enum status status = caption_rows_walk(tx, kind, load_row, &loading, error);
    return status != ST_OK ? status : loading.status;
}

static enum status set_row(struct store_tx *tx, enum captioned kind, const char *id,
                           const struct caption *caption, struct error *error)
{
    char *text = caption_render(caption);
    const struct caption_row row = {kind, id, text};
    enum status status = caption_row_set(tx, &row, error);
    free(text);
    return status;
}

enum status caption_write_row(struct store_tx *tx, enum captioned kind, const char *id,
                              const struct caption *caption, struct error *error)
{
    return caption_is_empty(caption) ? ST_OK : set_row(tx, kind, id, caption, error);
}

struct change { /* the new caption, kept until the transaction ends */
    struct caption_place place;
    struct caption next;
};

static void replace_take(const struct caption_place *place, struct caption *next_take)
{
    pthread_rwlock_wrlock(place->lock);
    struct caption before = *place->caption;
    *place->caption = *next_take;
    place->changed(place->things, place->thing);
    pthread_rwlock_unlock(place->lock);
    caption_fini(&before);
    if (place->long_polls != NULL)
        long_polls_wake(place->long_polls, place->thing);
}

static void kept(void *context)
{
    struct change *change = context;
    replace_take(&change->place, &change->next);
    free(change);
}

static void dropped(void *context)
{
    struct change *change = context;
    caption_fini(&change->next);
    free(change);
}

enum status caption_put(const struct caption_place *place, struct store_tx *tx,
                        struct caption *caption_take, struct error *error)
{
    struct change *change = calloc(1, sizeof *change);
    CHECK(change != NULL);
    *change = (struct change){*place, *caption_take};
    *caption_take = (struct caption){0};
    enum status status =
        caption_is_empty(&change->next)
            ? caption_row_delete(tx, place->kind, place->id, error)
            : set_row(tx, place->kind, place->id, &change->next, error);
    if (status == ST_OK)
        store_tx_on_end(tx, kept, dropped, change);
    else
        dropped(change);
    return status;
}

/* --- changes by other daemons --- */

struct renewal {
    struct caption found;
    enum status status;
    struct error *error;
};

static bool read_row(void *context, const struct caption_row *row)
{
    struct renewal *renewal = context;
    renewal->status = caption_restore(&renewal->found, row->text, renewal->error);
    if (renewal->status != ST_OK)
        error_within(renewal->error, ST_CORRUPT, "table caption, row %s", row->id);
    return false;
}

/* Only the owner of a transaction changes a caption, so the caption does not change
 * after the comparison. */
static bool is_as(const struct caption_place *place, const struct caption *found)
{
    pthread_rwlock_rdlock(place->lock);
    bool same = caption_equal(place->caption, found);
    pthread_rwlock_unlock(place->lock);
    return same;
}

enum status caption_renew(const struct caption_place *place, struct store_tx *tx,
                          struct error *error)
{
    struct renewal renewal = {.status = ST_OK, .error = error};
    enum status status =
        caption_row_find(tx, place->kind, place->id, read_row, &renewal, error);
    if (status != ST_OK)
        return status;
    if (renewal.status != ST_OK)
        return ST_CORRUPT;
    if (is_as(place, &renewal.found))
        caption_fini(&renewal.found);
    else
        replace_take(place, &renewal.found);
    return ST_OK;
}
