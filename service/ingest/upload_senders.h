/*
 * upload_senders.h - which key sent each complete file that waits for its import. Only
 * that key may be shown what is in the file (import_reports.h).
 *
 * Kept in memory only: after a start it is not known who sent a file, and nobody is shown
 * what is in it. If daemons share the store nothing is noted, because another daemon may
 * have replaced the file. A file that the daemon fetched has no sender.
 *
 * Threads: any.
 */
#ifndef SERVICE_INGEST_UPLOAD_SENDERS_H
#define SERVICE_INGEST_UPLOAD_SENDERS_H

#include <stdbool.h>

struct blob_name;
struct principal;
struct upload_senders; /* opaque */

/* Files whose senders are noted at once; the one noted first makes room. */
enum { UPLOAD_SENDERS_MAX = 1024 };

struct upload_senders *upload_senders_create(void);
void upload_senders_destroy(struct upload_senders *senders); /* NULL is allowed */

/* Notes who sent the file that was just published under this name. */
void upload_senders_note(struct upload_senders *senders, const struct blob_name *name,
                         const struct principal *sender);

/* Forgets the sender: the file was replaced or removed. */
void upload_senders_forget(struct upload_senders *senders,
                           const struct blob_name *name);

/* Returns whether the principal's key sent the file. */
bool upload_senders_is(struct upload_senders *senders, const struct blob_name *name,
                       const struct principal *principal);

/* Returns whether two requests came with the same key, or both without any because there
 * are no keys, or from the same person by the same proxy. */
bool upload_sender_same(const struct principal *a, const struct principal *b);

#endif
