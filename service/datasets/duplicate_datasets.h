/*
 * duplicate_datasets.h - datasets that hold the same records, and who learns of it.
 *
 * One budget covers a person's record, however often the record is registered, and what
 * is private under one id is not private while it is public under another. So datasets
 * of one owner are compared when one is imported, when a job names one to train on and
 * when it names one to evaluate with, even if they were never used.
 *
 * Invariants
 *   (1) Datasets of different owners are not compared: no byte of the other's digest is
 *       read, so neither an answer nor its time depends on what another owner holds.
 *   (2) The owner of both learns which two they are. All others read
 *       dataset_unavailable, without the reason.
 *   (3) Digests are compared in constant time.
 *
 * Threads: any.
 */
#ifndef SERVICE_DATASETS_DUPLICATE_DATASETS_H
#define SERVICE_DATASETS_DUPLICATE_DATASETS_H

#include <stdbool.h>

#include "service/datasets/datasets.h"

struct
    duplicate_dataset { /* the parts of a dataset that are compared; all is borrowed */
    const char *id;
    const struct principal *owner;
    bool is_public;
    /* Private, and deleted before anything was reserved on it: no one ever learnt or
     * will learn anything from its records. */
    bool is_void;
    const uint8_t *matrix_sha256; /* of the stored file; NULL before an import */
    const char *rows_sha256;      /* of its rows, in hex; "" if the import made none */
    bool is_fetched;              /* the daemon fetched a file of it */
    const char *sources_sha256;   /* of its files, in hex; "" if the import made none */
};

/* Returns whether a and b may not both be used: one owner, the same rows, at least one
 * of the two private, and neither void. Two public ones hide nothing from each other.
 * Rows are compared if both have that digest, else the whole matrices. If the daemon
 * fetched either one, only the files are compared, as they came: its owner may not be able
 * to read them, and could declare ranges under which their rows equal those of an upload
 * exactly if no value is above a bound. */
bool duplicate_datasets_clash(const struct duplicate_dataset *a,
                              const struct duplicate_dataset *b);

/* Refuses self to caller, because it clashes with other.
 *   ST_DUPLICATE_CONTENT    caller owns both, and the text names other
 *   ST_DATASET_UNAVAILABLE  caller does not, and the text gives no reason */
enum status duplicate_datasets_refuse(const struct duplicate_dataset *self,
                                      const struct duplicate_dataset *other,
                                      const struct principal *caller,
                                      const char *pointer, struct error *error);

struct duplicate_datasets_search {
    struct datasets *datasets;
    struct ledger *ledger;
    const struct principal *caller;
    const char *pointer; /* to the member that names the dataset, "" if there is none */
};

/* Compares dataset, as info describes it, with every other dataset, deleted ones
 * included.
 *   ST_DUPLICATE_CONTENT, ST_DATASET_UNAVAILABLE  as duplicate_datasets_refuse says */
enum status duplicate_datasets_check(const struct duplicate_datasets_search *search,
                                     const struct dataset *dataset,
                                     const struct dataset_info *info,
                                     struct error *error);

#endif
