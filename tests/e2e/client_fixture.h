/*
 * client_fixture.h - libcurl as an ordinary client of the daemon.
 *
 * JSON bodies are written with ' for ", so that they can be read in C; a test that
 * needs a real ' sends bytes. Failures to connect fail the running test; HTTP failures
 * are answers.
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
    size_t size; /* of body; a NUL follows it */
    char *body;
    char *headers; /* as received */
    json_t *json;  /* of a JSON body, or NULL */
    double seconds;
};

struct client {
    const struct daemon *daemon;
    struct reply *replies;
    unsigned keys; /* keys made up so far */
    bool lossy;    /* no answer is an answer, of status 0 */
    char key[64];  /* shown with each request; "": none is */
};

void client_init(struct client *client, const struct daemon *daemon);
void client_fini(struct client *client);

enum { CLIENT_HEADERS_MAX = 8 };

struct request {
    const char *method, *path;
    const char *headers[CLIENT_HEADERS_MAX]; /* "Name: value" */
    const void *body;                        /* NULL: none */
    size_t size;
    bool chunked; /* the length of body is not announced */
};

const struct reply *client_send(struct client *client, const struct request *request);

const struct reply *client_get(struct client *client, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* With one header: "If-None-Match: ...". */
const struct reply *client_get_with(struct client *client, const char *path,
                                    const char *header);
const struct reply *client_delete(struct client *client, const char *path);
const struct reply *client_put(struct client *client, const char *path,
                               const void *bytes, size_t size);
/* JSON with this Idempotency-Key, or without one where key is NULL. */
const struct reply *client_post(struct client *client, const char *path,
                                const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* JSON with a key of its own. */
const struct reply *client_create(struct client *client, const char *path,
                                  const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A merge patch, under this If-Match or, where tag is NULL, under none. */
const struct reply *client_patch(struct client *client, const char *path,
                                 const char *tag, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* No body at all, as `curl -X POST`. */
const struct reply *client_act(struct client *client, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The value of a header, or fails the test; false and nothing if absent is allowed. */
bool reply_header(const struct reply *reply, const char *name, char value[256]);

/* The member at "a.b.c", which must exist; numbers index arrays: "jobs.0.id". */
const json_t *reply_at(const struct reply *reply, const char *path);
const char *reply_text(const struct reply *reply, const char *path);
double reply_number(const struct reply *reply, const char *path);

/* Fails the test, showing the body, unless the status is this. */
#define assert_status(reply, expected)                                                 \
    reply_expect((reply), (expected), NULL, __FILE__, __LINE__)
/* The same, and that the body is problem+json with this code. */
#define assert_problem(reply, expected, code)                                          \
    reply_expect((reply), (expected), (code), __FILE__, __LINE__)
const struct reply *reply_expect(const struct reply *reply, long status,
                                 const char *code, const char *file, int line);
/* A problem of 400 invalid_argument whose first error is at pointer. */
#define assert_invalid_at(reply, pointer)                                              \
    reply_expect_invalid((reply), (pointer), __FILE__, __LINE__)
void reply_expect_invalid(const struct reply *reply, const char *pointer,
                          const char *file, int line);

#endif
