/*
 * stream_fixture.h - a client of event streams: it reads one event after another and
 * notes the time at which each arrived.
 *
 * Failures of the connection fail the running test. Threads: a stream belongs to one.
 */
#ifndef TESTS_E2E_STREAM_FIXTURE_H
#define TESTS_E2E_STREAM_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <jansson.h>

#include "tests/e2e/daemon_fixture.h"

enum { STREAM_ID_SIZE = 64, STREAM_LINE_SIZE = 1 << 20 };

struct event_stream {
    int socket;
    unsigned status;
    char head[4096];
    char buffer[4096]; /* received bytes; those in [at, size) are unread */
    size_t at, size;
    size_t chunk; /* bytes left of the current chunk */
    bool ended;   /* the last chunk was read, as HTTP requires */
    char *line;   /* (STREAM_LINE_SIZE) */
    unsigned comments;
};

struct event {
    char name[16];
    char id[STREAM_ID_SIZE]; /* "": the event has none */
    char *text;              /* its data, owned */
    json_t *data;            /* text, parsed; owned */
    double at;               /* seconds of the wall clock */
};

/* Requests the path and reads the head of the answer. last_id may be NULL. */
void stream_open(struct event_stream *stream, const struct daemon *daemon,
                 const char *path, const char *last_id);
/* The same with this header, "Name: value"; more headers may follow it after \r\n. */
void stream_open_with(struct event_stream *stream, const struct daemon *daemon,
                      const char *path, const char *header);
/* Sends the request and reads nothing. Returns the socket, or -1 if it cannot
 * connect. */
int stream_ask(const struct daemon *daemon, const char *path, const char *last_id);
void stream_close(struct event_stream *stream);

/* Reads the next event; returns false if the stream has ended. */
bool stream_next(struct event_stream *stream, struct event *event);
void event_fini(struct event *event);

/* Reads the next event, which must have that name. */
void stream_expect(struct event_stream *stream, struct event *event, const char *name);

#endif
