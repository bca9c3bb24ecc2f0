/*
 * dataset_text.h - a dataset as answered: its declaration and caption, what has become of
 * it, and what the ledger says of its budget.
 *
 * Threads: any. Texts are to be freed.
 */
#ifndef SERVICE_DATASET_TEXT_H
#define SERVICE_DATASET_TEXT_H

#include "accountant/ledger.h"
#include "service/context.h"
#include "service/datasets.h"

/* The dataset as the reader may know it (dataset_read_as), with what ledger says of its
 * epochs. */
char *dataset_text(struct datasets *datasets, const struct dataset *dataset,
                   struct ledger *ledger, const struct principal *reader);

/* Its line of a list, with its balance: composed anew where any dataset has changed, or
 * that balance. */
char *dataset_summary_text(struct context *context, const struct dataset *dataset);

/* Its last import, with as much of its failure as whoever asks is told. */
char *dataset_import_text(const struct dataset *dataset,
                          const struct dataset_info *info,
                          const struct import_failure *told);

#endif
