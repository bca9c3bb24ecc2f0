/*
 * request_head.h - the head of a request: its first line and its header fields, checked
 * byte by byte. Anything that two readers could interpret differently is refused. So an
 * accepted head has one meaning: where the body begins, where it ends, and the value of
 * each field.
 *
 * A head is read as it arrives: a refusal does not wait for the end.
 *
 * Pure.
 */
#ifndef API_HTTP_REQUEST_HEAD_H
#define API_HTTP_REQUEST_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct request_head {
    size_t size;     /* once complete, including its empty line; 0: unfinished */
    bool chunked;    /* the body comes in chunks */
    uint64_t length; /* otherwise: size of the body; 0: none */
    bool head_only;  /* the method is HEAD: its response has no body */

    /* the position of the reader */
    size_t next;   /* start of the first line that is not checked yet */
    size_t looked; /* no line ends before this */
    unsigned parts;
    unsigned once;             /* bits of the ONCE_LIST fields that have occurred */
    bool old;                  /* HTTP/1.0 */
    char *bytes;               /* those of the current call */
    size_t host_at, host_size; /* position of the value of Host */
    size_t authority_at, authority_size; /* the host of an absolute target; 0: none */
};

/* Continues reading, and moves the blanks after each field's value in front of it,
 * where every reader skips them (RFC 9110, 5.5). bytes[0..size) must be the head from
 * its first byte on, including the bytes of earlier calls as those calls left them.
 * head is {0} at first. ST_OK: head->size shows whether the head is complete.
 *   ST_INVALID         the first line is not `METHOD /target HTTP/1.1` or `1.0` with
 *                      one blank in between, or its target is invalid
 *                      (api/http/request_target.h); a line ends without CR; a control
 *                      character (NUL too) anywhere, except a tab in a value; a line
 *                      begins with a blank (a folded field); a field without a name or
 *                      with a blank in it; HTTP/1.1 without Host. A field that this
 *                      server reads, and that is not a list, occurs twice. An absolute
 *                      target names another host than Host. Content-Length that is not
 *                      digits; Transfer-Encoding other than `chunked`, together with
 *                      Content-Length, or in HTTP/1.0
 *   ST_URI_TOO_LONG    api/http/request_target.h
 *   ST_BODY_TOO_LARGE  Content-Length of more than 18 digits
 *   ST_HEAD_TOO_LARGE  more than LIMIT_HEAD bytes, or more than LIMIT_HEAD_PARTS
 *                      fields, cookies and query parameters together
 * No error text repeats what the client sent. */
enum status request_head_read(struct request_head *head, char *bytes, size_t size,
                              struct error *error);

#endif
