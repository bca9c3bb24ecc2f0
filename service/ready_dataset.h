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

#endif
