/*
 * ready_dataset.h - finds a dataset that can be used for training, evaluation or
 * statistics: it is imported, and does not hold the records of another dataset
 * (twins.h).
 *
 * Threads: the desk's (desk.h).
 */
#ifndef SERVICE_READY_DATASET_H
#define SERVICE_READY_DATASET_H

#include "service/dataset_table.h"

struct access_question;
struct context;
struct dataset;
struct datasets;

/*   ST_NOT_FOUND          there is no dataset of that id, it was deleted, or is not
 *                         seen
 *   ST_FORBIDDEN          the principal may not use it as the scope requires
 *   ST_GRANT_PENDING      its grant is not approved
 *   ST_DATASET_NOT_READY  it is not imported
 *   ST_DUPLICATE_CONTENT, ST_DATASET_UNAVAILABLE  as twins.h says
 * error->pointer is the question's. */
enum status ready_dataset_find(struct context *context,
                               const struct access_question *question,
                               const struct dataset_id *id, const struct dataset **out,
                               struct error *error);

/* Refuses a use that reads one part of a divided private dataset whose units have their
 * indices by the order of a file, as earlier versions imported them: in such a dataset
 * one person's rows decide which part many other persons are in (privacy.md P1).
 * pointer names the dataset in the request.
 *   ST_DATASET_ORDER  it is such a dataset */
enum status ready_dataset_check_order(struct datasets *datasets,
                                      const struct dataset *dataset,
                                      const char *pointer, struct error *error);

#endif
