/*
 * fetch_view.h - a fetch as answered to whoever began it, and to nobody else: how much of
 * a file there is, is the sender's to know. The URL is not shown, since it may be a
 * secret.
 */
#ifndef API_FETCH_VIEW_H
#define API_FETCH_VIEW_H

#include <stdint.h>

struct fetch_view {
    const char *dataset, *file;
    const char *state;         /* WAITING RUNNING SUCCEEDED FAILED CANCELLED */
    const char *result;        /* why it FAILED; NULL */
    unsigned http_status;      /* that it was answered with, where that is why; 0 */
    uint64_t bytes, size;      /* that have come; of the file, 0: not known */
    int64_t create_ms, end_ms; /* end_ms 0: it has not ended */
};

/* {"dataset","file","state","result","status","bytes","size","create_time","end_time"};
 * to be freed. */
char *fetch_render(const struct fetch_view *view);

#endif
