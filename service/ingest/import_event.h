/*
 * import_event.h - the act of an import: who asked for it, stored with the dataset
 * until it is READY, and then appended to the audit trail. So the trail shows only
 * imports that succeeded: only the dataset's owner may know how the others ended
 * (privacy.md P6).
 *
 * Threads: that of the transaction.
 */
#ifndef SERVICE_INGEST_IMPORT_EVENT_H
#define SERVICE_INGEST_IMPORT_EVENT_H

#include "api/requests/acknowledgement.h"
#include "store/rows/audit_rows.h"

struct dataset;

/* Returns the stored part of the act: of its row, and what its request confirms. Its
 * actor and project are the dataset's owner and project. */
struct import_act import_event_of(const struct audit_row *row,
                                  enum acknowledged acknowledged);

/* Appends the act, as of the current second. Does nothing for an import that an earlier
 * version began: it has its row already, and its act is not stored.
 *   ST_IO  the store is poisoned */
enum status import_event_append(struct store_tx *tx, const struct dataset *dataset,
                                const struct import_act *act, struct error *error);

#endif
