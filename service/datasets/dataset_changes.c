#include "service/datasets/dataset_changes.h"

#include <string.h>

void dataset_changes_note(struct dataset_changes *changes,
                          const struct dataset_id *dataset, uint64_t version)
{
    changes->kept[changes->count++ % DATASET_CHANGES_KEPT] =
        (struct dataset_change){*dataset, version};
}

/* Returns the number of the oldest change that is still stored. */
static uint64_t oldest(const struct dataset_changes *changes)
{
    return changes->count > DATASET_CHANGES_KEPT ? changes->count - DATASET_CHANGES_KEPT
                                                 : 0;
}

bool dataset_changes_are_lost(const struct dataset_changes *changes, uint64_t version)
{
    uint64_t first = oldest(changes);
    return first > 0 &&
           changes->kept[first % DATASET_CHANGES_KEPT].version > version + 1;
}

/* Returns whether a later change up to version `to` is of the same dataset. */
static bool comes_again(const struct dataset_changes *changes, uint64_t place,
                        uint64_t to)
{
    const struct dataset_change *change = &changes->kept[place % DATASET_CHANGES_KEPT];
    for (uint64_t i = place + 1; i < changes->count; i++) {
        const struct dataset_change *later = &changes->kept[i % DATASET_CHANGES_KEPT];
        if (later->version <= to &&
            strcmp(later->dataset.text, change->dataset.text) == 0)
            return true;
    }
    return false;
}

size_t dataset_changes_between(const struct dataset_changes *changes, uint64_t after,
                               uint64_t to,
                               struct dataset_id found[DATASET_CHANGES_KEPT])
{
    size_t count = 0;
    for (uint64_t i = oldest(changes); i < changes->count; i++) {
        const struct dataset_change *change = &changes->kept[i % DATASET_CHANGES_KEPT];
        if (change->version > after && change->version <= to &&
            !comes_again(changes, i, to))
            found[count++] = change->dataset;
    }
    return count;
}
