/*
 * dataset_changes.h - which datasets changed last, for whoever follows the lists: under the
 * one count of versions that all jobs share (job_changes.h), so that a stream has one cursor.
 *
 * The last DATASET_CHANGES_KEPT are kept. Who reads more slowly than that is told to read the
 * lists anew.
 *
 * Threads: the lock of jobs guards it.
 */
#ifndef SERVICE_DATASET_CHANGES_H
#define SERVICE_DATASET_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"

enum { DATASET_CHANGES_KEPT = 64 };

struct dataset_change {
    struct dataset_id dataset;
    uint64_t version;
};

struct dataset_changes {                              /* zeroed: there was none */
    struct dataset_change kept[DATASET_CHANGES_KEPT]; /* in turn */
    uint64_t count;                                   /* of all there were */
};

void dataset_changes_note(struct dataset_changes *changes,
                          const struct dataset_id *dataset, uint64_t version);

/* Whether a change that is newer than that version is kept no more. */
bool dataset_changes_are_lost(const struct dataset_changes *changes, uint64_t version);

/* found = the datasets that changed after a version and up to another, each once, in the
 * order of their last changes; how many. */
size_t dataset_changes_between(const struct dataset_changes *changes, uint64_t after,
                               uint64_t to,
                               struct dataset_id found[DATASET_CHANGES_KEPT]);

#endif
