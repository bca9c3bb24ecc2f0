/*
 * dataset_record.h - a dataset as it stands in memory, and as its row in the store has it.
 * Inside datasets.c only, which guards what may change of it.
 *
 * Threads: none of its own. Small allocations that fail abort.
 */
#ifndef SERVICE_DATASET_RECORD_H
#define SERVICE_DATASET_RECORD_H

#include <stdatomic.h>

#include "api/dataset_request.h"
#include "base/principal.h"
#include "service/dataset_info.h"
#include "store/store.h"
#include "store/dataset_rows.h"

struct dataset {
    struct dataset_spec spec; /* begins with the id, as registry.h asks */
    struct principal owner;   /* name and project */
    struct dataset_info info; /* guarded by the lock of datasets, */
    struct caption caption;   /* and so is this */
    atomic_bool here;         /* a thread of this process imports it */
};

/* A dataset as its row says it, without its caption; *out is released with
 * dataset_record_destroy.
 *   ST_CORRUPT  the row does not read back; the error names it */
enum status dataset_record_read(struct dataset **out, const struct dataset_row *row,
                                struct error *error);

void dataset_record_destroy(struct dataset *dataset);

enum writing { ROW_INSERT, ROW_DECLARE, ROW_UPDATE };

/* Writes the row of the dataset as info has it; and its caption, unless it updates.
 *   ST_ALREADY_EXISTS  as dataset_row_insert
 *   ST_IO              the store is poisoned */
enum status dataset_record_write(struct store_tx *tx, const struct dataset *dataset,
                                 const struct dataset_info *info, enum writing writing,
                                 struct error *error);

#endif
