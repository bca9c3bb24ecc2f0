/*
 * query.h - what a query string may hold, and the canonical form of a body.
 */
#ifndef API_QUERY_H
#define API_QUERY_H

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

enum { PAGE_TOKEN_SIZE = 32 };

/* An opaque page token that holds a position below LIMIT_COUNT; text NULL reads as 0.
 *   ST_INVALID  not a token that was given out */
void page_token_render(char token[PAGE_TOKEN_SIZE], uint64_t position);
enum status page_token_parse(uint64_t *position, const char *text, struct error *error);

struct request_line {
    const char *method, *path;
};

/* fingerprint = SHA-256 of method, path and the body with members sorted and blanks
 * dropped. ST_INVALID: not JSON. */
enum status body_fingerprint(uint8_t fingerprint[SHA256_SIZE],
                             const struct request_line *line, const char *body,
                             size_t size, struct error *error);

#endif
