/*
 * twins.h - datasets that hold the same records, and who is told of it.
 *
 * One budget covers a person's record, however often the record is registered, and what
 * is private under one id is not private while it is public under another. So datasets
 * of one owner are compared when one is imported, when a job names one to train on and
 * when it names one to evaluate with; whether they were ever used does not matter.
 *
 * Invariants
 *   (1) Datasets of different owners are not compared: no byte of the other's digest is
 *       read, so neither an answer nor its time depends on what somebody else holds.
 *   (2) The owner of both is told which two they are. Anybody else reads
 *       dataset_unavailable, and not why.
 *   (3) Digests are compared in constant time.
 *
 * Threads: any.
 */
#ifndef SERVICE_TWINS_H
#define SERVICE_TWINS_H

#include <stdbool.h>

#include "accountant/ledger.h"
#include "base/principal.h"
#include "service/datasets.h"

struct twin { /* what a comparison looks at in a dataset; all is borrowed */
    const char *id;
    const struct principal *owner;
    bool is_public;
    bool
        is_void; /* private, and deleted before anything was reserved on it: nobody ever
                     learnt or will learn anything from its records */
    const uint8_t *matrix_sha256; /* of the stored file; NULL before an import */
    const char *rows_sha256; /* of its rows, in hex; "" where the import made none */
};

/* Whether a and b may not both be used: one owner, the same rows, at least one of the
 * two private, and neither void. Two public ones hide nothing from each other. Rows are
 * compared where both have their digest, else the whole files. */
bool twins_clash(const struct twin *a, const struct twin *b);

/* Refuses self to caller, because it clashes with other.
 *   ST_DUPLICATE_CONTENT    caller owns both, and the text names other
 *   ST_DATASET_UNAVAILABLE  caller does not, and the text says nothing */
enum status twins_refuse(const struct twin *self, const struct twin *other,
                         const struct principal *caller, const char *pointer,
                         struct error *error);

struct twins_search {
    struct datasets *datasets;
    struct ledger *ledger;
    const struct principal *caller;
    const char *pointer; /* to the member that names the dataset, "" if there is none */
};

/* Compares dataset, as info describes it, with every other there ever was.
 *   ST_DUPLICATE_CONTENT, ST_DATASET_UNAVAILABLE  as twins_refuse says */
enum status twins_check(const struct twins_search *search,
                        const struct dataset *dataset, const struct dataset_info *info,
                        struct error *error);

#endif
