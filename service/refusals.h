/*
 * refusals.h - acts that were refused, on their way into the audit trail. A refusal
 * changes nothing, so it is not written while its client waits: it is noted in memory,
 * and a tick writes what has been noted, in one transaction. So an answer takes no longer
 * for it, and another project's thing cannot be told from none by the time of a 404.
 *
 * Whoever sends what is refused can send a lot of it. Within a minute the same refusal of
 * the same client is one row, and where it was repeated another at the minute's end that
 * says how often; beyond REFUSALS_DISTINCT_MAX different ones a minute they are counted in
 * one row. So there are at most 2 REFUSALS_DISTINCT_MAX + 1 rows a minute, whatever is
 * sent.
 *
 * Threads: any may note; one at a time writes.
 */
#ifndef SERVICE_REFUSALS_H
#define SERVICE_REFUSALS_H

#include <stdint.h>

#include "base/status.h"
#include "store/store.h"
#include "store/audit_rows.h"

enum { REFUSALS_DISTINCT_MAX = 64 };

struct refusals; /* opaque */

struct refusals *refusals_create(void);
void refusals_destroy(struct refusals *refusals); /* NULL is allowed */

/* Notes a refusal: a row as audit_trail_append takes it. Two are the same if all but their
 * second and request are. */
void refusals_note(struct refusals *refusals, const struct audit_row *row);

/* Writes what was noted and is not written yet, and of minutes that are over by second
 * what was repeated in them. A minute is also over if the clock was set back by more than a
 * minute since. INT64_MAX ends the minute that is running.
 *   ST_IO  the store is poisoned */
enum status refusals_write(struct refusals *refusals, struct store *store,
                           int64_t second, struct error *error);

#endif
