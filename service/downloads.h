/*
 * downloads.h - files that are being fetched in parts, so that the audit trail has one row
 * for a download and not one for each of its parts: a part leaves a row unless the same
 * client has left one of the same file in the same hour.
 *
 * The last DOWNLOADS_KNOWN_MAX are known; what was forgotten leaves a row again.
 *
 * Threads: any.
 */
#ifndef SERVICE_DOWNLOADS_H
#define SERVICE_DOWNLOADS_H

#include <stdbool.h>

#include "store/audit_rows.h"

enum { DOWNLOADS_KNOWN_MAX = 256 };

struct downloads; /* opaque */

struct downloads *downloads_create(void);
void downloads_destroy(struct downloads *downloads); /* NULL is allowed */

/* Tells whether a row for the same client, object and hour was remembered. */
bool downloads_know(struct downloads *downloads, const struct audit_row *row);

/* Remembers a row that is written. */
void downloads_remember(struct downloads *downloads, const struct audit_row *row);

#endif
