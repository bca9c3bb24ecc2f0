/*
 * captions.h - reads the captions of datasets, jobs and models (api/requests/caption.h)
 * at start, and changes them. Each caption is a member of its object, guarded by the
 * lock of the registry that has the object. The code that is the same for all three
 * kinds is here.
 *
 * Threads: those of the transaction that is passed in.
 */
#ifndef SERVICE_DATASETS_CAPTIONS_H
#define SERVICE_DATASETS_CAPTIONS_H

#include <pthread.h>

#include "store/rows/caption_rows.h"

struct caption;

/* Reads the rows of one kind into the captions that find returns for their ids.
 *   ST_CORRUPT  a row cannot be read, or find returns NULL; the error names the row
 *   ST_IO       the store cannot be read */
enum status captions_load(struct store_tx *tx, enum captioned kind,
                          struct caption *(*find)(void *things, const char *id),
                          void *things, struct error *error);

/* Writes the caption row of an object that is being added or declared again. Writes
 * nothing if the caption is empty.
 *   ST_IO  the store is poisoned */
enum status caption_write_row(struct store_tx *tx, enum captioned kind, const char *id,
                              const struct caption *caption, struct error *error);

/* The caption of an object, and how to change it. */
struct caption_place {
    enum captioned kind;
    const char *id;
    pthread_rwlock_t *lock; /* guards caption and versions */
    struct caption *caption;
    /* Called under the lock when the caption has changed. */
    void (*changed)(void *things, void *thing);
    void *things, *thing;
    struct long_polls *long_polls; /* requests that wait for thing; NULL: none */
};

/* Takes over the caption's row in tx, which another daemon may have changed. Does
 * nothing if memory has the same caption already.
 *   ST_CORRUPT  the row cannot be read
 *   ST_IO       the store is poisoned */
enum status caption_renew(const struct caption_place *place, struct store_tx *tx,
                          struct error *error);

/* Replaces the caption: writes its row in tx, and changes memory once tx is durable.
 *   ST_IO  the store is poisoned */
enum status caption_put(const struct caption_place *place, struct store_tx *tx,
                        struct caption *caption_take, struct error *error);

#endif
