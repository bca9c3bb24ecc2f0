/*
 * client_fixture.h - libcurl as an ordinary client of the daemon.
 *
 * JSON bodies are written with ' for ", so that they are readable in C; a test that
 * needs a real ' sends bytes. A failure to connect fails the running test; an HTTP
 * error status is an ordinary reply.
 *
 * Ownership: every reply belongs to its client and lives until client_fini.
 * Threads: a client belongs to one thread.
 */
#ifndef TESTS_E2E_CLIENT_FIXTURE_H
#define TESTS_E2E_CLIENT_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <jansson.h>

#include "tests/e2e/daemon_fixture.h"

struct reply {
    struct reply *next;
    long status;
    size_t size; /* bytes of body; a NUL follows it */
    char *body;
    char *headers; /* as received */
    json_t *json;  /* the body parsed as JSON, or NULL */
    double seconds;
};

struct client {
    const struct daemon *daemon;
    struct reply *replies;
    unsigned keys; /* idempotency keys made up so far */
    bool lossy;    /* a request without an answer gives status 0 */
    char key[64];  /* sent with each request; "": none */
};

void client_init(struct client *client, const struct daemon *daemon);
void client_fini(struct client *client);

enum { CLIENT_HEADERS_MAX = 8 };

struct request {
    const char *method, *path;
    const char *headers[CLIENT_HEADERS_MAX]; /* "Name: value" */
    const void *body;                        /* NULL: none */
    size_t size;
    bool chunked; /* sends body without announcing its length */
};

const struct reply *client_send(struct client *client, const struct request *request);

const struct reply *client_get(struct client *client, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* GET with one more header, such as "If-None-Match: ...". */
const struct reply *client_get_with(struct client *client, const char *path,
                                    const char *header);
const struct reply *client_delete(struct client *client, const char *path);
const struct reply *client_put(struct client *client, const char *path,
                               const void *bytes, size_t size);
/* POST of JSON with this Idempotency-Key; without one if key is NULL. */
const struct reply *client_post(struct client *client, const char *path,
                                const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* POST of JSON with a new Idempotency-Key. */
const struct reply *client_create(struct client *client, const char *path,
                                  const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* PATCH with a merge patch and this If-Match; without If-Match if tag is NULL. */
const struct reply *client_patch(struct client *client, const char *path,
                                 const char *tag, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* POST without a body, as `curl -X POST` sends it. */
const struct reply *client_act(struct client *client, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Copies the value of a header into value. Returns false, with value "", if the reply
 * has no such header. */
bool reply_header(const struct reply *reply, const char *name, char value[256]);

/* Returns the member at "a.b.c", which must exist; numbers index arrays:
 * "jobs.0.id". */
const json_t *reply_at(const struct reply *reply, const char *path);
const char *reply_text(const struct reply *reply, const char *path);
double reply_number(const struct reply *reply, const char *path);

/* Fails the test, and shows the body, if the status differs from this one. */
#define assert_status(reply, expected)                                                 \
    reply_expect((reply), (expected), NULL, __FILE__, __LINE__)
/* The same; the body must also be problem+json with this code. */
#define assert_problem(reply, expected, code)                                          \
    reply_expect((reply), (expected), (code), __FILE__, __LINE__)
const struct reply *reply_expect(const struct reply *reply, long status,
                                 const char *code, const char *file, int line);
/* The reply must be a 400 invalid_argument whose first error is at pointer. */
#define assert_invalid_at(reply, pointer)                                              \
    reply_expect_invalid((reply), (pointer), __FILE__, __LINE__)
void reply_expect_invalid(const struct reply *reply, const char *pointer,
                          const char *file, int line);

#endif
