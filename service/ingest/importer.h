/*
 * importer.h - imports datasets, one at a time, on a thread of its own.
 *
 * The matrix is written to a draft, which is published; then, in one transaction, the
 * dataset becomes READY. A failure leaves nothing behind except its reason, which only
 * the owner can read in full. Success and failure are shown at a tick of the public
 * clock, and the next import begins then, because the duration of an import depends on
 * the records. If the duration would reveal more than n, the end is shown at one of
 * only a few ticks (import_padding.h).
 *
 * Threads: importer_start is the write queue's, or a fetcher's that has read the rows of a
 * query; importer_run the importer's.
 */
#ifndef SERVICE_INGEST_IMPORTER_H
#define SERVICE_INGEST_IMPORTER_H

#include <stdbool.h>

#include "api/requests/acknowledgement.h"
#include "base/principal.h"
#include "base/status.h"

struct audit_row;
struct daemon_state;
struct dataset;
struct import_failure;
struct principal;

struct import_request {          /* a request for an import */
    const struct audit_row *act; /* who asks */
    enum acknowledged acknowledged;
};

/* Imports that were requested and have not ended, including the one under way. */
enum { IMPORTS_MAX = 65 };

/* Moves the dataset to IMPORTING, and passes it to the importer's thread, or leaves it
 * to the worker that takes it. Long polls on it are woken when the import has ended.
 * The act is stored with the dataset, and appended to the audit trail when the dataset
 * is READY, because the row of an import that is refused would reveal the refusal. Does
 * nothing if the dataset is READY.
 *   begun             set if an import has begun
 *   ST_DATASET_BUSY   it is being imported
 *   ST_NOT_FOUND      it was deleted
 *   ST_GRANT_PENDING  its grant is not approved
 *   ST_IMPORT_FAILED  a file is not uploaded, and failure says which
 *   ST_DRAINING       the service is stopping
 *   ST_QUEUE_FULL     too many imports wait
 *   ST_DISK_FULL      the disk is nearly full
 *   ST_IO             the store is poisoned
 * On failure nothing has changed. */
enum status importer_start(struct daemon_state *context, struct dataset *dataset,
                           const struct import_request *request, bool *begun,
                           struct import_failure *failure, struct error *error);

/* The pool's run function: argument is the context, item the dataset. */
void importer_run(void *argument, void *item);

#endif
