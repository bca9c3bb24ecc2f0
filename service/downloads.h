/*
 * downloads.h - recent downloads in parts, so that the audit trail gets one row for a
 * download and not one for each part: a part gets a row unless the same client got one
 * for the same file in the same hour.
 *
 * The last DOWNLOADS_KNOWN_MAX are stored; a download that was dropped gets a row
 * again.
 *
 * Threads: any.
 */
#ifndef SERVICE_DOWNLOADS_H
#define SERVICE_DOWNLOADS_H

#include <stdbool.h>

struct audit_row;

enum { DOWNLOADS_KNOWN_MAX = 256 };

struct downloads; /* opaque */

struct downloads *downloads_create(void);
void downloads_destroy(struct downloads *downloads); /* NULL is allowed */

/* Returns whether a row for the same client, object and hour is stored. */
bool downloads_know(struct downloads *downloads, const struct audit_row *row);

/* Stores a row that was written. */
void downloads_remember(struct downloads *downloads, const struct audit_row *row);

#endif
