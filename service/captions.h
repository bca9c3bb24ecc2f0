/*
 * captions.h - how the captions of datasets, jobs and models (api/caption.h) are read at
 * a start and changed. Each stands in its thing, under the lock of the registry that has
 * it; what is the same for all three is here.
 *
 * Threads: those of the transaction that is passed in.
 */
#ifndef SERVICE_CAPTIONS_H
#define SERVICE_CAPTIONS_H

#include <pthread.h>

#include "api/caption.h"
#include "service/long_polls.h"
#include "store/caption_rows.h"

/* Reads the rows of one kind into what find answers for their ids.
 *   ST_CORRUPT  a row does not read back, or find answers NULL; the error names it
 *   ST_IO       the store cannot be read */
enum status captions_load(struct store_tx *tx, enum captioned kind,
                          struct caption *(*find)(void *things, const char *id),
                          void *things, struct error *error);

/* Writes the row of a thing that is about to be added or declared anew; nothing where
 * the caption is empty.
 *   ST_IO  the store is poisoned */
enum status caption_write_row(struct store_tx *tx, enum captioned kind, const char *id,
                              const struct caption *caption, struct error *error);

struct caption_place { /* where the caption of a thing stands */
    enum captioned kind;
    const char *id;
    pthread_rwlock_t *lock; /* guards caption and versions */
    struct caption *caption;
    /* Called under the lock when the caption has changed. */
    void (*changed)(void *things, void *thing);
    void *things, *thing;
    struct long_polls *long_polls; /* that wait for thing to change; NULL: none do */
};

/* Puts into its place what its row in tx says, which another daemon may have changed.
 * Nothing where that is what stands there.
 *   ST_CORRUPT  the row does not read back
 *   ST_IO       the store is poisoned */
enum status caption_renew(const struct caption_place *place, struct store_tx *tx,
                          struct error *error);

/* Puts another caption in its place: its row in tx, and in memory once tx is durable.
 *   ST_IO  the store is poisoned */
enum status caption_put(const struct caption_place *place, struct store_tx *tx,
                        struct caption *caption_take, struct error *error);

#endif
