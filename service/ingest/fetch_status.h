/*
 * fetch_status.h - the list of dataset files that the service downloads itself instead
 * of receiving them as uploads, and the progress of each. fetcher.h downloads them.
 *
 *   WAITING --> RUNNING --> SUCCEEDED, FAILED
 *      |           |
 *      +-----------+------> CANCELLED
 *
 * Invariants
 *   (1) For each file of a dataset there is at most one fetch, the last; another one
 *       can start only when it has ended.
 *   (2) Only the principal that began a fetch can see it.
 *   (3) Its request, with URL and credentials, is only in memory, and is zeroed when
 *       the fetch ends. So a fetch ends with its process, and has to be requested
 *       again.
 *
 * At most LIMIT_FETCHES are stored: the one that ended first makes room for a new one.
 *
 * Threads: any. The lock guards all of it, and is not held during calls of other files.
 */
#ifndef SERVICE_INGEST_FETCH_STATUS_H
#define SERVICE_INGEST_FETCH_STATUS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "api/requests/fetch_request.h"
#include "api/requests/query_request.h"
#include "api/views/dataset_view.h"
#include "base/id.h"
#include "base/principal.h"

struct fetch_status; /* opaque */
struct route_match;

enum fetch_state {
    FETCH_WAITING,
    FETCH_RUNNING,
    FETCH_SUCCEEDED,
    FETCH_FAILED,
    FETCH_CANCELLED,
};

enum { FETCH_FILE_SIZE = 16 };

struct fetch_place { /* which file of which dataset, and for whom */
    struct dataset_id dataset;
    char file[FETCH_FILE_SIZE];
    struct principal principal;
};

/* Returns the place as the path of a file names it. */
struct route_match fetch_place_match(const struct fetch_place *place);

/* It holds secrets: it is zeroed with its fetch. */
struct fetch_query { /* the source of query_import.h */
    struct query_request request;
    struct import_act act; /* who asked for the import, and what they confirmed */
    uint64_t version;      /* of the dataset: another one is not imported */
};

/* A fetch that is WAITING or RUNNING, for the thread that runs it. */
struct fetch {
    struct fetch_place place;
    struct fetch_request request; /* if query is NULL */
    struct fetch_query *query;    /* owned; NULL: the file comes from a URL */
    atomic_bool cancel;
};

struct fetch_status *fetch_status_create(void);
void fetch_status_destroy(
    struct fetch_status *fetches); /* none may run; NULL is allowed */

struct fetch_source { /* one of both; the other is NULL */
    const struct fetch_request *request;
    struct fetch_query *query;
};

/* Adds a fetch, WAITING, and copies its source. To run it, call fetch_status_begin.
 *   out            lives until fetch_status_end
 *   ST_UPLOAD_BUSY one of the same file has not ended
 *   ST_QUEUE_FULL  LIMIT_FETCHES have not ended */
enum status fetch_status_add(struct fetch_status *fetches,
                             const struct fetch_place *place,
                             const struct fetch_source *source, struct fetch **out,
                             struct error *error);

/* Makes it RUNNING. Returns false if it was cancelled; then it has ended, and fetch is
 * freed. */
bool fetch_status_begin(struct fetch_status *fetches, struct fetch *fetch);

/* Records how many bytes have come, and how large the file is; 0: not known. */
void fetch_status_grew(struct fetch_status *fetches, struct fetch *fetch,
                       uint64_t bytes, uint64_t size);

struct fetch_end {
    enum fetch_state state;
    const char *result;   /* of FETCH_FAILED: static text of a closed list */
    unsigned http_status; /* 0: not relevant */
};

/* Returns the end of a fetch whose piece or file could not be stored. */
struct fetch_end fetch_end_of(enum status status);

/* Ends it. Its source is zeroed, and fetch is freed. */
void fetch_status_end(struct fetch_status *fetches, struct fetch *fetch,
                      const struct fetch_end *end);

/* Cancels the fetch of that place. A running one ends a little later; an ended one is
 * removed from the list. Returns false if there is none. */
bool fetch_status_cancel(struct fetch_status *fetches, const struct fetch_place *place);

/* Cancels all. */
void fetch_status_cancel_all(struct fetch_status *fetches);

/* Returns the state of that place's query, and its result if it is FAILED; false if there
 * is none. */
bool fetch_status_query(struct fetch_status *fetches, const struct fetch_place *place,
                        enum fetch_state *state, const char **result);

/* Returns the fetch of that place as the body of an answer, which the caller frees;
 * NULL if there is none. */
char *fetch_status_text(struct fetch_status *fetches, const struct fetch_place *place);

#endif
