/*
 * dataset_visibility.h - what a reader may know of a dataset. Only its owner may know
 * that an import is under way or was refused (privacy.md P6); for anyone else the dataset
 * is CREATED. Datasets of `local` hide nothing: without keys everyone is `local`.
 *
 * Pure.
 */
#ifndef SERVICE_DATASETS_DATASET_VISIBILITY_H
#define SERVICE_DATASETS_DATASET_VISIBILITY_H

#include <stdbool.h>

struct dataset_info;
struct principal;

/* Returns whether imports of a dataset of this owner are hidden from anyone. */
bool dataset_visibility_hides(const struct principal *owner);

/* Removes from info what the reader may not know. A reader of NULL is for lists and
 * event streams, which show the same to everyone, the owner included. */
void dataset_visibility_apply(const struct principal *owner,
                              const struct principal *reader,
                              struct dataset_info *info);

/* Returns whether a dataset of this owner looks the same to everyone after a change
 * (to a reader of NULL). If so, the change makes no version and no event. */
bool dataset_visibility_same(const struct principal *owner,
                             const struct dataset_info *before,
                             const struct dataset_info *after);

#endif
