/*
 * dataset_record.h - a dataset in memory, and its conversion from and to its row in the
 * store. Only for datasets.c, which guards what may change.
 *
 * Threads: none of its own. Small allocations that fail abort.
 */
#ifndef SERVICE_DATASETS_DATASET_RECORD_H
#define SERVICE_DATASETS_DATASET_RECORD_H

#include <stdatomic.h>

#include "service/datasets/dataset_info.h"

struct dataset_row;

struct dataset {
    struct dataset_spec spec; /* starts with the id, as registry.h requires */
    struct principal owner;   /* name and project */
    struct dataset_info info; /* guarded by the lock of datasets */
    struct caption caption;   /* guarded by the lock of datasets */
    atomic_bool here;         /* a thread of this process is importing it */
};

/* Reads a dataset from its row, without its caption. The caller releases *out with
 * dataset_record_destroy.
 *   ST_CORRUPT  the row cannot be read; the error names it */
enum status dataset_record_read(struct dataset **out, const struct dataset_row *row,
                                struct error *error);

void dataset_record_destroy(struct dataset *dataset);

enum writing { ROW_INSERT, ROW_DECLARE, ROW_UPDATE };

/* Writes the row of the dataset with the state of info. Also writes its caption, except
 * for ROW_UPDATE.
 *   ST_ALREADY_EXISTS  as dataset_row_insert
 *   ST_IO              the store is poisoned */
enum status dataset_record_write(struct store_tx *tx, const struct dataset *dataset,
                                 const struct dataset_info *info, enum writing writing,
                                 struct error *error);

#endif
