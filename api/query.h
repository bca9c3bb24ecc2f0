/*
 * query.h - what a query string may hold, and the canonical form of a body.
 */
#ifndef API_QUERY_H
#define API_QUERY_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/status.h"

/* A whole number in [low, high]; text NULL: fallback.
 *   ST_INVALID  anything else; the error names the parameter */
enum status query_count(uint64_t *value, const char *name, const char *text, uint64_t low,
                        uint64_t high, uint64_t fallback, struct error *error);

/* page_size: above LIMIT_PAGE_SIZE is taken as that; negative or no number ST_INVALID. */
enum status query_page_size(size_t *page_size, const char *text, struct error *error);

/* An opaque page token that holds a position; text NULL reads as 0. */
void page_token_render(char token[32], uint64_t position);
enum status page_token_parse(uint64_t *position, const char *text, struct error *error);

/* fingerprint = SHA-256 of method, path and the body with members sorted and blanks
 * dropped. ST_INVALID: not JSON. */
enum status body_fingerprint(uint8_t fingerprint[SHA256_SIZE], const char *method,
                             const char *path, const char *body, size_t size,
                             struct error *error);

#endif
