/*
 * dataset_write.h - declares datasets and changes them, in transactions of the store.
 * Memory follows when a transaction is durable: until then readers see what was before
 * (datasets.h has the states).
 *
 * Threads: any. The lock of datasets.h guards what changes in memory.
 */
#ifndef SERVICE_DATASETS_DATASET_WRITE_H
#define SERVICE_DATASETS_DATASET_WRITE_H

#include "service/datasets/dataset_info.h"

struct dataset;
struct datasets;

struct dataset_addition {
    struct dataset_spec *spec_take;
    const struct principal *owner; /* the dataset will be in the owner's project */
    bool is_proposed; /* the grant waits for a second person: nothing is granted yet */
};

/* Inserts a dataset in state CREATED; takes its spec (on failure too).
 *   out  found by datasets_find once the transaction is durable, freed if it fails
 *   ST_ALREADY_EXISTS  the id was used before */
enum status datasets_add(struct datasets *datasets, struct store_tx *tx,
                         const struct dataset_addition *addition, struct dataset **out,
                         struct error *error);

struct dataset_renewal {
    struct dataset_spec *spec_take;
    /* Replaces the dataset's proposal; zeroed if no approval is needed. NULL: the old
     * one stays, and the privacy is unchanged. */
    const struct proposal *proposal;
};

/* Declares a dataset that is CREATED or FAILED again, with the same id and owner. It is
 * CREATED again, as its next version. Takes the spec (on failure too). If the spec has
 * no caption, the dataset keeps its old one.
 *   out  found by datasets_find, instead of the old dataset, once the transaction is
 *        durable; freed if it fails */
enum status datasets_declare_anew(struct datasets *datasets, struct store_tx *tx,
                                  const struct dataset_renewal *renewal,
                                  struct dataset **out, struct error *error);

/* Moves dataset to the state, detail and sha256 of info. The rest of info, and the
 * proposals in its detail, are ignored: dataset_propose and dataset_decide change
 * those.
 *   ST_CONFLICT  the diagram has no such move: another daemon has moved the dataset
 *                since it was read, or this is our bug
 *   ST_IO        the store is poisoned */
enum status dataset_move(struct datasets *datasets, struct store_tx *tx,
                         struct dataset *dataset, const struct dataset_info *info,
                         struct error *error);

/* Records that the daemon fetches a file of the dataset, or reads its records from
 * another system itself. Call it before the first byte is asked for. From then on no
 * import of the dataset fails by content, for files of every sender.
 *   ST_IO  the store is poisoned */
enum status dataset_mark_fetched(struct datasets *datasets, struct store_tx *tx,
                                 struct dataset *dataset, struct error *error);

/* Records that a further epoch of the budget, or a discovery, is proposed.
 * Precondition: none is pending.
 *   ST_IO  the store is poisoned */
enum status dataset_propose(struct datasets *datasets, struct store_tx *tx,
                            struct dataset *dataset, const struct proposal *proposal,
                            struct error *error);

/* Records the decision on a proposal of the dataset. Precondition: it is pending.
 *   ST_IO  the store is poisoned */
enum status dataset_decide(struct datasets *datasets, struct store_tx *tx,
                           struct dataset *dataset, const struct proposal *decided,
                           struct error *error);

/* Records the run that uses the approval of a discovery, which no other run can use
 * then. Precondition: it is approved, and was not used.
 *   ST_IO  the store is poisoned */
enum status dataset_use_words(struct datasets *datasets, struct store_tx *tx,
                              struct dataset *dataset, const struct survey_id *run,
                              struct error *error);

#endif
