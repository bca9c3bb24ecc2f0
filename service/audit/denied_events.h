/*
 * denied_events.h - collects refused acts for the audit trail. A refusal changes
 * nothing, so it is not written while its client waits: it is noted in memory, and a
 * tick writes what has been noted, in one transaction. So it does not delay the answer,
 * and the time of a 404 does not reveal whether the thing exists in another project.
 *
 * A client whose requests are refused can send many of them. Within a minute the same
 * refusal of the same client is one row and, if it was repeated, another row at the
 * minute's end with the count; if there are more than DENIED_EVENTS_DISTINCT_MAX
 * different ones in a minute, the rest are counted in one row. So there are at most 2
 * DENIED_EVENTS_DISTINCT_MAX + 1 rows a minute, whatever is sent.
 *
 * Threads: any may note; one at a time writes.
 */
#ifndef SERVICE_AUDIT_DENIED_EVENTS_H
#define SERVICE_AUDIT_DENIED_EVENTS_H

#include <stdint.h>

#include "store/rows/audit_rows.h"

enum { DENIED_EVENTS_DISTINCT_MAX = 64 };

struct denied_events; /* opaque */

struct denied_events *denied_events_create(void);
void denied_events_destroy(struct denied_events *refusals); /* NULL is allowed */

/* Notes a refusal: a row as audit_trail_append takes it. Two are the same if they
 * differ only in second and request. */
void denied_events_note(struct denied_events *refusals, const struct audit_row *row);

/* Writes the noted refusals that are not written yet, and the repetitions of minutes
 * that have ended by second. A minute has also ended if the clock was set back by more
 * than a minute since. INT64_MAX ends the current minute.
 *   ST_IO  the store is poisoned */
enum status denied_events_write(struct denied_events *refusals, struct store *store,
                                int64_t second, struct error *error);

#endif
