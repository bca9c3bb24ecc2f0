/*
 * refusals.h - collects refused acts for the audit trail. A refusal changes nothing, so
 * it is not written while its client waits: it is noted in memory, and a tick writes
 * what has been noted, in one transaction. So it does not delay the answer, and the
 * time of a 404 does not reveal whether the thing exists in another project.
 *
 * A client whose requests are refused can send many of them. Within a minute the same
 * refusal of the same client is one row and, if it was repeated, another row at the
 * minute's end with the count; if there are more than REFUSALS_DISTINCT_MAX different
 * ones in a minute, the rest are counted in one row. So there are at most 2
 * REFUSALS_DISTINCT_MAX + 1 rows a minute, whatever is sent.
 *
 * Threads: any may note; one at a time writes.
 */
#ifndef SERVICE_REFUSALS_H
#define SERVICE_REFUSALS_H

#include <stdint.h>

#include "store/audit_rows.h"

enum { REFUSALS_DISTINCT_MAX = 64 };

struct refusals; /* opaque */

struct refusals *refusals_create(void);
void refusals_destroy(struct refusals *refusals); /* NULL is allowed */

/* Notes a refusal: a row as audit_trail_append takes it. Two are the same if they
 * differ only in second and request. */
void refusals_note(struct refusals *refusals, const struct audit_row *row);

/* Writes the noted refusals that are not written yet, and the repetitions of minutes
 * that have ended by second. A minute has also ended if the clock was set back by more
 * than a minute since. INT64_MAX ends the current minute.
 *   ST_IO  the store is poisoned */
enum status refusals_write(struct refusals *refusals, struct store *store,
                           int64_t second, struct error *error);

#endif
