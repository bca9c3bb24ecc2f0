/*
 * query.h - what a query string may hold, and the canonical form of a body.
 */
#ifndef API_QUERY_H
#define API_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/routes.h"
#include "base/hash.h"
#include "base/status.h"

/* These are the parameters of one query string so far: the route, and which of its
 * row's parameters have been there. */
struct query_seen {
    const struct route *route;
    unsigned places;
};

/* Takes the next parameter by its name.
 *   ST_INVALID  the route has no such parameter, or it stood here before; the error
 *               names it */
enum status query_take(struct query_seen *seen, const char *name, struct error *error);

/* Refuses a parameter, and answers ST_INVALID: "query parameter NAME TEXT", where text
 * says for instance "must be ...". */
enum status query_refuse(const char *name, const char *text, struct error *error);

struct query_range {
    uint64_t low, high, fallback;
};

/* A whole number in [low, high]; text NULL: fallback.
 *   ST_INVALID  anything else; the error names the parameter */
enum status query_count(uint64_t *value, const char *name, const char *text,
                        struct query_range range, struct error *error);

/* page_size: a whole number up to LIMIT_PAGE_SIZE; 0 is taken as absent.
 *   ST_INVALID  anything else */
enum status query_page_size(size_t *page_size, const char *text, struct error *error);

/* The place of text among names, which NULL ends; text NULL: *place stays as it is.
 *   ST_INVALID  it is none of them; the error names the parameter, and them */
enum status query_choice(unsigned *place, const char *name, const char *text,
                         const char *const *names, struct error *error);

/* One or more of the names, a comma between them: *places has the bit of each one's
 * place. Text NULL: *places stays as it is.
 *   ST_INVALID  a part is none of them */
enum status query_choices(unsigned *places, const char *name, const char *text,
                          const char *const *names, struct error *error);

/* A time as it is answered, 2026-01-31T12:00:00Z; text NULL: *wall_ms stays as it is.
 *   ST_INVALID  anything else */
enum status query_time(int64_t *wall_ms, const char *name, const char *text,
                       struct error *error);

/* Where a page of a list ends, as an opaque token says it. order is a letter for the
 * order of the list; position is below LIMIT_COUNT. A list that is ordered by a figure of
 * its things has that of its page's last thing too. */
struct page_mark {
    char order;
    bool has_number;
    uint64_t position;
    double number;
};

enum { PAGE_TOKEN_SIZE = 40 };

void page_mark_render(char token[PAGE_TOKEN_SIZE], const struct page_mark *mark);
/* Reads position and number of a token that was given out for mark's order, with a
 * number where mark has one.
 *   ST_INVALID  it is none, or of another order; mark is untouched */
enum status page_mark_parse(struct page_mark *mark, const char *text,
                            struct error *error);

struct request_line {
    const char *method, *path;
};

/* fingerprint = SHA-256 of method, path and the body with members sorted and blanks
 * dropped. ST_INVALID: not JSON. */
enum status body_fingerprint(uint8_t fingerprint[SHA256_SIZE],
                             const struct request_line *line, const char *body,
                             size_t size, struct error *error);

#endif
