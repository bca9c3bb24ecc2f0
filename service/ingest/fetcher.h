/*
 * fetcher.h - downloads a file of a dataset by https, or by S3's signed https, as if
 * its owner had uploaded it: into a draft, with the limits of uploads (upload.h), which
 * is published when it is complete. Queries of a database run here too
 * (query_import.h).
 *
 * A connection that breaks is resumed where it broke, at most RESUMES_MAX times, if the
 * server says which version of the file it sends. A file is accepted only if its
 * completeness can be checked: the server gives its size, or the client gave its
 * digest, and both match.
 *
 * Threads: fetcher_start is the write queue's, fetcher_run the fetchers'.
 */
#ifndef SERVICE_INGEST_FETCHER_H
#define SERVICE_INGEST_FETCHER_H

#include "base/status.h"

struct daemon_state;
struct error;
struct fetch_place;
struct fetch_source;

/* Starts to fetch the file of place from source, and marks its dataset as one that the
 * service fetched a file of. Sets the version of a query.
 *   ST_INVALID, ST_CONFLICT, ST_IO  as fetched_dataset_mark
 *   ST_NOT_FOUND, ST_DATASET_BUSY, ST_DATASET_IMMUTABLE, ST_DISK_FULL  as upload_begin
 *   ST_UPLOAD_BUSY, ST_QUEUE_FULL  as fetch_status_add
 *   ST_DRAINING  the service is stopping */
enum status fetcher_start(struct daemon_state *context, const struct fetch_place *place,
                          const struct fetch_source *source, struct error *error);

/* The pool's run function: argument is the context, item the fetch. */
void fetcher_run(void *argument, void *item);

#endif
