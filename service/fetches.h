/*
 * fetches.h - files of datasets that the service gets from somewhere itself, instead of
 * having them sent: which there are, and how far each has come. fetcher.h gets them.
 *
 *   WAITING --> RUNNING --> SUCCEEDED, FAILED
 *      |           |
 *      +-----------+------> CANCELLED
 *
 * Invariants
 *   (1) There is at most one for each file of a dataset, the last one; it is begun anew
 *       only when it has ended.
 *   (2) A fetch is known to whoever began it alone.
 *   (3) What it was asked with, URL and credentials, is in memory alone, and is zeroed
 *       when the fetch ends. So a fetch ends with its process, and is to be asked for
 *       again.
 *
 * At most LIMIT_FETCHES are kept: the one that has ended for longest makes room.
 *
 * Threads: any. The lock guards all of it; it is held for no call of another file.
 */
#ifndef SERVICE_FETCHES_H
#define SERVICE_FETCHES_H

#include <stdatomic.h>
#include <stdbool.h>

#include "api/fetch_request.h"
#include "api/fetch_view.h"
#include "base/id.h"
#include "base/principal.h"

struct fetches; /* opaque */

enum fetch_state {
    FETCH_WAITING,
    FETCH_RUNNING,
    FETCH_SUCCEEDED,
    FETCH_FAILED,
    FETCH_CANCELLED,
};

enum { FETCH_FILE_SIZE = 16 };

struct fetch_place { /* which file of which dataset, for whom */
    struct dataset_id dataset;
    char file[FETCH_FILE_SIZE];
    struct principal principal;
};

struct fetch { /* a WAITING or RUNNING one, to whoever runs it */
    struct fetch_place place;
    struct fetch_request request;
    atomic_bool cancel;
};

struct fetches *fetches_create(void);
void fetches_destroy(struct fetches *fetches); /* none may run; NULL is allowed */

/* Adds a fetch, WAITING, and copies request. It is then to be run: fetches_begin.
 *   out            lives until fetches_end
 *   ST_UPLOAD_BUSY one of the same file has not ended
 *   ST_QUEUE_FULL  as many as are kept have not ended */
enum status fetches_add(struct fetches *fetches, const struct fetch_place *place,
                        const struct fetch_request *request, struct fetch **out,
                        struct error *error);

/* Makes it RUNNING. False: it was cancelled, has ended, and fetch is gone. */
bool fetches_begin(struct fetches *fetches, struct fetch *fetch);

/* Says how many bytes have come, and how large the file is; 0: not known. */
void fetches_grew(struct fetches *fetches, struct fetch *fetch, uint64_t bytes,
                  uint64_t size);

struct fetch_end {
    enum fetch_state state;
    const char *result;   /* of FETCH_FAILED: static text of a closed list */
    unsigned http_status; /* 0: it does not matter */
};

/* Ends it. Its request is zeroed, and fetch is gone. */
void fetches_end(struct fetches *fetches, struct fetch *fetch,
                 const struct fetch_end *end);

/* Cancels the fetch in that place: a running one a little later. What has ended is
 * forgotten. False: there is none. */
bool fetches_cancel(struct fetches *fetches, const struct fetch_place *place);

/* Cancels all. */
void fetches_cancel_all(struct fetches *fetches);

/* The fetch in that place as answered, to be freed; NULL: there is none. */
char *fetches_text(struct fetches *fetches, const struct fetch_place *place);

#endif
