/*
 * query.h - the values of a query string, and the canonical form of a body.
 */
#ifndef API_HTTP_QUERY_H
#define API_HTTP_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/json/json_reader.h"
#include "api/http/routes.h"
#include "base/hash.h"
#include "base/status.h"

/* The parameters of one query string so far: the route, and which of its row's
 * parameters have occurred. */
struct query_seen {
    const struct route *route;
    unsigned places;
};

/* Records the next parameter by its name.
 *   ST_INVALID  the route has no such parameter, or it occurred before; the error
 *               names it */
enum status query_take(struct query_seen *seen, const char *name, struct error *error);

/* Refuses a parameter, and returns ST_INVALID: "query parameter NAME TEXT", where text
 * is for instance "must be ...". */
enum status query_refuse(const char *name, const char *text, struct error *error);

struct query_range {
    uint64_t low, high, fallback;
};

/* Reads a whole number in [low, high]; text NULL: fallback.
 *   ST_INVALID  anything else; the error names the parameter */
enum status query_count(uint64_t *value, const char *name, const char *text,
                        struct query_range range, struct error *error);

/* Reads page_size: a whole number up to LIMIT_PAGE_SIZE; 0 means absent.
 *   ST_INVALID  anything else */
enum status query_page_size(size_t *page_size, const char *text, struct error *error);

/* *place = the index of text among names, which are NULL-ended; text NULL: *place is
 * not changed.
 *   ST_INVALID  it is none of them; the error names the parameter, and them */
enum status query_choice(unsigned *place, const char *name, const char *text,
                         const char *const *names, struct error *error);

/* Reads one or more of the names, separated by commas: *places has the bit of each
 * one's index. Text NULL: *places is not changed.
 *   ST_INVALID  a part is none of them */
enum status query_choices(unsigned *places, const char *name, const char *text,
                          const char *const *names, struct error *error);

/* Reads a time in the form of responses, 2026-01-31T12:00:00Z; text NULL: *wall_ms is
 * not changed.
 *   ST_INVALID  anything else */
enum status query_time(int64_t *wall_ms, const char *name, const char *text,
                       struct error *error);

/* The end of a page of a list, which clients see as an opaque token. order is a letter
 * for the order of the list; position is below LIMIT_COUNT. If a list is ordered by a
 * figure of its items, the mark also has the figure of the page's last item. */
struct page_mark {
    char order;
    bool has_number;
    uint64_t position;
    double number;
};

enum { PAGE_TOKEN_SIZE = 40 };

void page_mark_render(char token[PAGE_TOKEN_SIZE], const struct page_mark *mark);
/* Reads position and number of a token for mark's order, with a number if mark has one.
 *   ST_INVALID  not a token, or one for another order; mark is untouched */
enum status page_mark_parse(struct page_mark *mark, const char *text,
                            struct error *error);

struct request_line {
    const char *method, *path;
};

/* fingerprint = SHA-256 of method, path and the body with members sorted and blanks
 * dropped. ST_INVALID: the body is not JSON. */
enum status body_fingerprint(uint8_t fingerprint[SHA256_SIZE],
                             const struct request_line *line, struct json_text body,
                             struct error *error);

#endif
