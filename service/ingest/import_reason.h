/*
 * import_reason.h - why an import failed: what is kept of it, and what a reader is shown.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef SERVICE_INGEST_IMPORT_REASON_H
#define SERVICE_INGEST_IMPORT_REASON_H

#include "engine/data/readers/import.h"

struct principal;

/* Returns what is kept for the owner. Failures of the service itself are reported only
 * as such. */
struct import_failure import_reason_kept(const struct import_failure *failure);

/* Returns what reader may know of why an import failed. The dataset's owner may know
 * all of it. Anyone else does not learn that it failed (privacy.md P6), and gets a
 * zeroed result. A dataset of the local principal has no owner who could ask, because
 * no one is local once there are keys; its text says how to find out all the same. */
struct import_failure import_reason_for(const struct import_failure *failure,
                                        const struct principal *owner,
                                        const struct principal *reader);

#endif
