/*
 * download_events.h - recent downloads in parts, so that the audit trail gets one row
 * for a download and not one for each part: a part gets a row unless the same client
 * got one for the same file in the same hour.
 *
 * The last DOWNLOAD_EVENTS_KNOWN_MAX are stored; a download that was dropped gets a row
 * again.
 *
 * Threads: any.
 */
#ifndef SERVICE_AUDIT_DOWNLOAD_EVENTS_H
#define SERVICE_AUDIT_DOWNLOAD_EVENTS_H

#include <stdbool.h>

struct audit_row;

enum { DOWNLOAD_EVENTS_KNOWN_MAX = 256 };

struct download_events; /* opaque */

struct download_events *download_events_create(void);
void download_events_destroy(struct download_events *downloads); /* NULL is allowed */

/* Returns whether a row for the same client, object and hour is stored. */
bool download_events_know(struct download_events *downloads,
                          const struct audit_row *row);

/* Stores a row that was written. */
void download_events_remember(struct download_events *downloads,
                              const struct audit_row *row);

#endif
