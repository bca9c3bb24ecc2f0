#include "tests/e2e/stream_fixture.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/expect.h"

/* header: header lines without the last line's end; "": none. */
static int ask(const struct daemon *daemon, const char *path, const char *header)
{
    char text[1024];
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)daemon->port),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client < 0 || connect(client, (struct sockaddr *)&address, sizeof address) != 0)
        return -1;
    int size = snprintf(text, sizeof text,
                        "GET %s HTTP/1.1\r\nHost: localhost\r\n"
                        "Accept: text/event-stream\r\n%s%s\r\n",
                        path, header, header[0] != '\0' ? "\r\n" : "");
    assert_true((size_t)size < sizeof text);
    assert_int_equal(send(client, text, (size_t)size, MSG_NOSIGNAL), size);
    return client;
}

int stream_ask(const struct daemon *daemon, const char *path, const char *last_id)
{
    char header[128] = "";
    if (last_id != NULL)
        snprintf(header, sizeof header, "Last-Event-ID: %s", last_id);
    return ask(daemon, path, header);
}

/* --- bytes --- */

static int received_byte(struct event_stream *stream)
{
    if (stream->at == stream->size) {
        ssize_t got = recv(stream->socket, stream->buffer, sizeof stream->buffer, 0);
        if (got <= 0)
            return -1;
        stream->at = 0;
        stream->size = (size_t)got;
    }
    return (unsigned char)stream->buffer[stream->at++];
}

static void read_head(struct event_stream *stream)
{
    size_t size = 0;
    while (size < 4 || memcmp(stream->head + size - 4, "\r\n\r\n", 4) != 0) {
        int byte = received_byte(stream);
        assert_true(byte >= 0 && size + 1 < sizeof stream->head);
        stream->head[size++] = (char)byte;
    }
    stream->head[size] = '\0';
    assert_int_equal(sscanf(stream->head, "HTTP/1.1 %u", &stream->status), 1);
}

/* Reads the line with a chunk's size, after skipping the line end of the previous
 * chunk. */
static void next_chunk(struct event_stream *stream)
{
    char line[32];
    size_t size = 0;
    int byte = received_byte(stream);
    while (byte == '\r' || byte == '\n')
        byte = received_byte(stream);
    for (; byte >= 0 && byte != '\n'; byte = received_byte(stream))
        if (size + 1 < sizeof line)
            line[size++] = (char)byte;
    line[size] = '\0';
    assert_true(byte == '\n');
    stream->chunk = strtoul(line, NULL, 16);
    stream->ended = stream->chunk == 0;
}

static int body_byte(struct event_stream *stream)
{
    if (stream->chunk == 0 && !stream->ended)
        next_chunk(stream);
    if (stream->ended)
        return -1;
    stream->chunk--;
    return received_byte(stream);
}

/* Reads a line without its end; returns false at the end of the stream. */
static bool read_line(struct event_stream *stream)
{
    size_t size = 0;
    int byte;
    while ((byte = body_byte(stream)) >= 0 && byte != '\n') {
        assert_true(size + 1 < STREAM_LINE_SIZE);
        stream->line[size++] = (char)byte;
    }
    stream->line[size] = '\0';
    assert_true(byte >= 0 || (size == 0 && stream->ended));
    return byte >= 0;
}

/* --- events --- */

static void open_at(struct event_stream *stream, int client)
{
    *stream = (struct event_stream){.socket = client};
    assert_true(stream->socket >= 0);
    stream->line = malloc(STREAM_LINE_SIZE);
    assert_non_null(stream->line);
    read_head(stream);
}

void stream_open(struct event_stream *stream, const struct daemon *daemon,
                 const char *path, const char *last_id)
{
    open_at(stream, stream_ask(daemon, path, last_id));
}

void stream_open_with(struct event_stream *stream, const struct daemon *daemon,
                      const char *path, const char *header)
{
    open_at(stream, ask(daemon, path, header));
}

void stream_close(struct event_stream *stream)
{
    close(stream->socket);
    free(stream->line);
}

static void take_field(struct event *event, const char *line)
{
    if (strncmp(line, "event: ", 7) == 0)
        snprintf(event->name, sizeof event->name, "%s", line + 7);
    if (strncmp(line, "id: ", 4) == 0)
        snprintf(event->id, sizeof event->id, "%s", line + 4);
    if (strncmp(line, "data: ", 6) == 0)
        event->text = strdup(line + 6);
}

bool stream_next(struct event_stream *stream, struct event *event)
{
    struct timespec now;
    *event = (struct event){0};
    while (read_line(stream)) {
        stream->comments += stream->line[0] == ':';
        if (stream->line[0] != '\0') {
            take_field(event, stream->line);
            continue;
        }
        if (event->text == NULL)
            continue;
        clock_gettime(CLOCK_REALTIME, &now);
        event->at = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
        event->data = json_loads(event->text, JSON_REJECT_DUPLICATES, NULL);
        assert_non_null(event->data);
        return true;
    }
    return false;
}

void event_fini(struct event *event)
{
    json_decref(event->data);
    free(event->text);
    *event = (struct event){0};
}

void stream_expect(struct event_stream *stream, struct event *event, const char *name)
{
    assert_true(stream_next(stream, event));
    assert_string_equal(event->name, name);
}
