/*
 * ready_dataset.h - finds a dataset that can be used: trained on, evaluated on, asked for
 * statistics. It is imported, and no twin of another.
 *
 * Threads: the desk's.
 */
#ifndef SERVICE_READY_DATASET_H
#define SERVICE_READY_DATASET_H

#include "service/access.h"
#include "service/context.h"

/*   ST_NOT_FOUND          there is none of that id, it was deleted, or is not seen
 *   ST_FORBIDDEN          the principal may not do with it what the scope says
 *   ST_GRANT_PENDING      its grant is not approved
 *   ST_DATASET_NOT_READY  it is not imported
 *   ST_DUPLICATE_CONTENT, ST_DATASET_UNAVAILABLE  as twins.h says
 * error->pointer is the question's. */
enum status ready_dataset_find(struct context *context,
                               const struct access_question *question,
                               const struct dataset_id *id, const struct dataset **out,
                               struct error *error);

/* Refuses what reads one part of a divided private dataset whose units have their indices by
 * the order of a file, as earlier versions imported them: there one person's rows decide which
 * part many others are in (privacy.md P1). pointer names the dataset in the request.
 *   ST_DATASET_ORDER  it is such a dataset */
enum status ready_dataset_check_order(struct datasets *datasets,
                                      const struct dataset *dataset,
                                      const char *pointer, struct error *error);

#endif
