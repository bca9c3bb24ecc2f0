/*
 * dataset_table.h - all datasets in memory, for the files that make up that room: datasets
 * (opening, reading, changing) and dataset_renewal (what another daemon has written of
 * them). Everybody else knows datasets by the functions of datasets.h.
 */
#ifndef SERVICE_DATASET_TABLE_H
#define SERVICE_DATASET_TABLE_H

#include <pthread.h>

#include "service/captions.h"
#include "service/dataset_record.h"
#include "service/registry.h"
#include "service/visits.h"

struct datasets {
    pthread_rwlock_t lock; /* guards all below, and every dataset's info */
    struct registry registry;
    struct visits *visits;    /* has a lock of its own */
    uint64_t version;         /* grows with every change */
    struct dataset **publics; /* (public_count), oldest first */
    size_t public_count;
    void (*changed)(void *context, const struct dataset_id *id);
    void *changed_context;
};

/* Lists a dataset that is new. The lock is held, for writing. */
void datasets_list(struct datasets *datasets, struct dataset *dataset);

/* Puts a dataset into the place of the one of its id, which was declared anew. Takes the
 * lock. */
void datasets_replace_take(struct datasets *datasets, struct dataset *dataset_take);

/* Whether everybody finds the dataset the same after a change (dataset_read_as of NULL):
 * then the change makes no version and no event. */
bool dataset_shows_same(const struct dataset *dataset,
                        const struct dataset_info *before,
                        const struct dataset_info *after);

/* Tells who watches that a dataset has changed. No lock is held. */
void datasets_tell(struct datasets *datasets, const struct dataset_id *id);

/* Where its caption stands. */
struct caption_place dataset_caption_place(struct datasets *datasets,
                                           struct dataset *dataset);

#endif
