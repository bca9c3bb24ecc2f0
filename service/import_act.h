/*
 * import_act.h - who asked for an import, kept with the dataset until it is READY, and then
 * appended to the audit trail. Whoever reads the trail finds an import there only if it
 * succeeded: how the others ended is known to the dataset's owner only (privacy.md P6).
 *
 * Threads: that of the transaction.
 */
#ifndef SERVICE_IMPORT_ACT_H
#define SERVICE_IMPORT_ACT_H

#include "service/datasets.h"
#include "store/audit_rows.h"

/* What is kept of the act. Its actor and project are the dataset's owner and project. */
struct import_act import_act_of(const struct audit_row *row);

/* Appends the act, as of the current second. An import that an earlier version began has
 * its row already, and no act is kept of it: then nothing is done.
 *   ST_IO  the store is poisoned */
enum status import_act_append(struct store_tx *tx, const struct dataset *dataset,
                              const struct import_act *act, struct error *error);

#endif
