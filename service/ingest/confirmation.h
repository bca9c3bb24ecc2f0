/*
 * confirmation.h - what a request about a dataset's budget has to confirm
 * (api/requests/acknowledgement.h), if that depends on more than the request: on n, or
 * on the other epochs of the budget. Both figures are those of all epochs together,
 * because people are exposed to all of them.
 *
 * Threads: any.
 */
#ifndef SERVICE_INGEST_CONFIRMATION_H
#define SERVICE_INGEST_CONFIRMATION_H

#include <stdint.h>

#include "accountant/ledger/entry.h"
#include "api/requests/acknowledgement.h"
#include "base/id.h"

struct daemon_state;

/* *needed = what has to be confirmed before `units` units come under the dataset's
 * budget: by an import, or by a charge on records that are elsewhere. Only delta is
 * compared; epsilon was confirmed with the budget.
 *   ST_NOT_FOUND  no such budget */
enum status confirmation_of_units(struct daemon_state *context,
                                  const struct dataset_id *dataset, uint64_t units,
                                  enum acknowledged *needed, struct error *error);

/* *needed = what has to be confirmed if `further` becomes another epoch of the
 * dataset's budget. further has every member of the grant. n is the number of imported
 * units or the one that charges name; if neither is known, delta is not compared.
 *   ST_NOT_FOUND  no such budget
 *   ST_INVALID    as filter_of */
enum status confirmation_of_epoch(struct daemon_state *context,
                                  const struct dataset_id *dataset,
                                  const struct grant *further,
                                  enum acknowledged *needed, struct error *error);

#endif
