/*
 * request_head.h - the head of a request: its first line and its header fields, checked
 * byte by byte. What two readers could take differently is refused, so that what follows means
 * one thing only: where the body begins, where it ends, and what each field holds.
 *
 * A head is read as it comes in: a refusal does not wait for the end.
 *
 * Pure.
 */
#ifndef API_REQUEST_HEAD_H
#define API_REQUEST_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct request_head {
    size_t size;     /* once complete, with its empty line; 0: unfinished */
    bool chunked;    /* the body comes in chunks */
    uint64_t length; /* otherwise: how long the body is; 0: none */
    bool head_only;  /* the method is HEAD: its answer has no body */

    /* how far it is read */
    size_t next;   /* the first line that is not checked begins here */
    size_t looked; /* no line ends before this */
    unsigned parts;
    unsigned once;             /* bits of the fields below that have been there */
    bool old;                  /* HTTP/1.0 */
    char *bytes;               /* of the call that reads on */
    size_t host_at, host_size; /* the value of Host, by its place */
    size_t authority_at, authority_size; /* the host of an absolute target; 0: none */
};

/* Reads on, and moves the blanks behind each field's value in front of it, where every
 * reader skips them (RFC 9110, 5.5): bytes[0..size) are the head from its first byte on, what was given before
 * included, as it was left. head is {0} at first. ST_OK: head->size tells whether it is complete.
 *   ST_INVALID         the first line is not `METHOD /target HTTP/1.1` or `1.0` with one
 *                      blank in between, or its target is none
 *                      (api/request_target.h); a line ends without CR; a control character (NUL too) anywhere, but a
 *                      tab in a value; a line begins with a blank (a folded field); a
 *                      field without a name or with a blank in it; HTTP/1.1 without Host.
 *                      A field that this server reads, and that is no list, stands twice.
 *                      An absolute target names another host than Host.
 *                      Content-Length that is not digits; Transfer-Encoding other than
 *                      `chunked`, beside Content-Length, or in HTTP/1.0
 *   ST_URI_TOO_LONG    api/request_target.h
 *   ST_BODY_TOO_LARGE  Content-Length of more than 18 digits
 *   ST_HEAD_TOO_LARGE  more than LIMIT_HEAD bytes, or more than LIMIT_HEAD_PARTS fields,
 *                      cookies and query parameters together
 * No text of a refusal repeats what was sent. */
enum status request_head_read(struct request_head *head, char *bytes, size_t size,
                              struct error *error);

#endif
