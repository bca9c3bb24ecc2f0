/*
 * dataset_json.h - the body of an answer that shows a dataset: its declaration and
 * caption, its state, and its budget from the ledger.
 *
 * Threads: any. The caller frees texts.
 */
#ifndef SERVICE_DATASETS_DATASET_JSON_H
#define SERVICE_DATASETS_DATASET_JSON_H

struct daemon_state;
struct dataset;
struct dataset_info;
struct datasets;
struct import_failure;
struct import_report;
struct ledger;
struct principal;

/* Returns what the reader may see of the dataset (dataset_read_as), with its epochs
 * from the ledger. */
char *dataset_json(struct datasets *datasets, const struct dataset *dataset,
                   struct ledger *ledger, const struct principal *reader);

/* Returns its line in a list, with its balance. The line is composed again if any
 * dataset or that balance has changed. */
char *dataset_summary_text(struct daemon_state *context, const struct dataset *dataset);

/* Returns its last import; `told` is as much of the failure as the reader may see,
 * and `report` is NULL except for the key that sent the files. */
char *dataset_import_text(const struct dataset *dataset,
                          const struct dataset_info *info,
                          const struct import_failure *told,
                          const struct import_report *report);

#endif
