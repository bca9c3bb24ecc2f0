/*
 * fetch_view.h - a fetch in API responses. It is shown only to its sender, because only
 * the sender may know how much of a file has arrived. The URL is not shown, since it
 * may be a secret.
 */
#ifndef API_VIEWS_FETCH_VIEW_H
#define API_VIEWS_FETCH_VIEW_H

#include <stdint.h>

struct fetch_view {
    const char *dataset, *file;
    const char *state;         /* WAITING RUNNING SUCCEEDED FAILED CANCELLED */
    const char *result;        /* reason if FAILED; NULL */
    unsigned http_status;      /* status of the response, if that is the reason; 0 */
    uint64_t bytes, size;      /* received so far; of the file, 0: not known */
    int64_t create_ms, end_ms; /* end_ms 0: it has not ended */
};

/* Renders {"dataset","file","state","result","status","bytes","size",
 * "create_time","end_time"}; to be freed. */
char *fetch_render(const struct fetch_view *view);

#endif
