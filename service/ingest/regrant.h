/*
 * regrant.h - a further epoch of a budget that a restored backup has frozen, granted on
 * the host (regrant_command.h), by a request, or by a second person's approval.
 *
 * Threads: that of the transaction.
 */
#ifndef SERVICE_INGEST_REGRANT_H
#define SERVICE_INGEST_REGRANT_H

#include "accountant/ledger/entry.h"
#include "api/requests/acknowledgement.h"

struct daemon_state;

/* Grants the promise in tx. Only epsilon, delta and order of the grant are used;
 * relation, unit and division are the budget's and never change. acknowledged: what the
 * request confirms.
 *   ST_DATASET_NOT_FROZEN  the budget's epoch is in force
 *   ST_INVALID             also: acknowledged is not what this grant needs
 *                          (confirmation.h)
 *   ST_DATASET_IN_USE, ST_INVALID, ST_NOT_FOUND  as ledger_regrant */
enum status regrant_make(struct daemon_state *context, struct store_tx *tx,
                         const struct ledger_promise *promise,
                         enum acknowledged acknowledged, struct error *error);

/* Checks whether regrant_make would accept that grant now, apart from what jobs still
 * hold. */
enum status regrant_check(struct daemon_state *context,
                          const struct dataset_id *dataset, const struct grant *grant,
                          enum acknowledged acknowledged, struct error *error);

/* *needed = what regrant_make requires to be confirmed for that grant.
 *   as regrant_check */
enum status regrant_needs(struct daemon_state *context,
                          const struct dataset_id *dataset, const struct grant *grant,
                          enum acknowledged *needed, struct error *error);

#endif
