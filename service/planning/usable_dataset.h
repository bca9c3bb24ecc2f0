/*
 * usable_dataset.h - finds a dataset that can be used for training, evaluation or
 * statistics: it is imported, and does not hold the records of another dataset
 * (duplicate_datasets.h).
 *
 * Threads: the write queue's.
 */
#ifndef SERVICE_PLANNING_USABLE_DATASET_H
#define SERVICE_PLANNING_USABLE_DATASET_H

#include "base/status.h"

struct access_question;
struct daemon_state;
struct dataset;
struct dataset_id;
struct datasets;
struct error;

/*   ST_NOT_FOUND          there is no dataset of that id, it was deleted, or is not
 *                         seen
 *   ST_FORBIDDEN          the principal may not use it as the scope requires
 *   ST_GRANT_PENDING      its grant is not approved
 *   ST_DATASET_NOT_READY  it is not imported
 *   ST_DUPLICATE_CONTENT, ST_DATASET_UNAVAILABLE  as duplicate_datasets.h says
 * error->pointer is the question's. */
enum status usable_dataset_find(struct daemon_state *context,
                                const struct access_question *question,
                                const struct dataset_id *id, const struct dataset **out,
                                struct error *error);

/* Refuses a use that reads one part of a divided private dataset whose units have their
 * indices by the order of a file, as earlier versions imported them: in such a dataset
 * one person's rows decide which part many other persons are in (privacy.md P1).
 * pointer names the dataset in the request.
 *   ST_DATASET_ORDER  it is such a dataset */
enum status usable_dataset_check_order(struct datasets *datasets,
                                       const struct dataset *dataset,
                                       const char *pointer, struct error *error);

#endif
