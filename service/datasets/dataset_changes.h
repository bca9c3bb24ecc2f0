/*
 * dataset_changes.h - the datasets that changed last, for clients that follow the
 * lists. Changes are numbered by the version count that all jobs share (job_changes.h),
 * so that a stream has one cursor.
 *
 * The last DATASET_CHANGES_KEPT are stored. A client that reads more slowly than that
 * has to read the lists again.
 *
 * Threads: the lock of jobs guards it.
 */
#ifndef SERVICE_DATASETS_DATASET_CHANGES_H
#define SERVICE_DATASETS_DATASET_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"

enum { DATASET_CHANGES_KEPT = 64 };

struct dataset_change {
    struct dataset_id dataset;
    uint64_t version;
};

/* Zeroed: there was no change. */
struct dataset_changes {
    struct dataset_change kept[DATASET_CHANGES_KEPT]; /* a ring */
    uint64_t count;                                   /* of all changes so far */
};

void dataset_changes_note(struct dataset_changes *changes,
                          const struct dataset_id *dataset, uint64_t version);

/* Returns whether a change that is newer than that version is no longer stored. */
bool dataset_changes_are_lost(const struct dataset_changes *changes, uint64_t version);

/* Writes to found the datasets that changed after one version and up to another, each
 * once, in the order of their last changes. Returns how many. */
size_t dataset_changes_between(const struct dataset_changes *changes, uint64_t after,
                               uint64_t to,
                               struct dataset_id found[DATASET_CHANGES_KEPT]);

#endif
