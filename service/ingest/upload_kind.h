/*
 * upload_kind.h - the files that a dataset is imported from: features and labels, or
 * only data, as its format requires, and the ids of persons if they come in a file.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef SERVICE_INGEST_UPLOAD_KIND_H
#define SERVICE_INGEST_UPLOAD_KIND_H

#include <stdbool.h>

#include "store/blobs/blob.h"

struct schema;

enum { UPLOAD_KINDS = 4 };

struct upload_kind {
    const char *name; /* in the path of a request */
    enum blob_kind blob;
};

extern const struct upload_kind upload_kinds[UPLOAD_KINDS];

/* Returns whether a dataset of that schema has a file of this kind. */
bool upload_kind_is_of(const struct upload_kind *kind, const struct schema *schema);

/* The kind of this name that such a dataset has; NULL if it has none. */
const struct upload_kind *upload_kind_find(const struct schema *schema,
                                           const char *name);

#endif
