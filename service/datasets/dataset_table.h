/*
 * dataset_table.h - the table of all datasets in memory. Only for the files that
 * implement it: datasets (opening, reading), dataset_write (changes by this daemon) and
 * dataset_refresh (changes by others). Other files use the functions of datasets.h and
 * dataset_write.h.
 */
#ifndef SERVICE_DATASETS_DATASET_TABLE_H
#define SERVICE_DATASETS_DATASET_TABLE_H

#include <pthread.h>

#include "service/datasets/dataset_record.h"
#include "service/threads/registry.h"

struct datasets {
    pthread_rwlock_t lock; /* guards the members below, and every dataset's info */
    struct registry registry;
    struct epoch_reclaim *visits; /* has a lock of its own */
    uint64_t version;             /* grows with every change */
    struct dataset **publics;     /* (public_count), oldest first */
    size_t public_count;
    void (*changed)(void *context, const struct dataset_id *id);
    void *changed_context;
};

/* Adds a new dataset to the lists. The caller holds the lock for writing. */
void datasets_list(struct datasets *datasets, struct dataset *dataset);

/* Replaces the dataset of the same id, which was declared again. Takes the lock. */
void datasets_replace_take(struct datasets *datasets, struct dataset *dataset_take);

/* Notifies the watcher that a dataset has changed. The caller holds no lock. */
void datasets_tell(struct datasets *datasets, const struct dataset_id *id);

/* Returns the place of the dataset's caption. */
struct caption_place dataset_caption_place(struct datasets *datasets,
                                           struct dataset *dataset);

#endif
