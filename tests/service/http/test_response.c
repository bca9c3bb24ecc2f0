/* Goal: a reply's body arrives whole from any kind of source, and a stream's resources
 * are released once. Method: a libmicrohttpd server that answers every request with the
 * reply of the test, and a client that reads the bytes of the connection. */
#include "tests/expect.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <microhttpd.h>

#include "service/http/request.h"
#include "service/http/response.h"

enum { SIZE = 200000 }; /* more than a stream may write at a time */

static char expected[SIZE];

struct source { /* of a stream */
    uint64_t broken_at;
    atomic_int pulls, closed;
};

struct scene {
    void (*reply)(struct request *request, void *argument);
    void *argument;
    struct MHD_Daemon *daemon;
    uint16_t port;
    char read[2 * SIZE];
    size_t size;
};

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
                                  const char *path, const char *method,
                                  const char *version, const char *data, size_t *size,
                                  void **held)
{
    struct scene *scene = context;
    (void)path, (void)method, (void)version, (void)data, (void)size, (void)held;
    struct request *request = calloc(1, sizeof *request);
    request->connection = connection;
    snprintf(request->caller.request_id, sizeof request->caller.request_id, "test");
    if (route_find(&request->match, "GET", "/v1/datasets/a/ledger", NULL) != ST_OK)
        return MHD_NO;
    scene->reply(request, scene->argument);
    enum MHD_Result result = response_queue(request);
    request_fini(request);
    free(request);
    return result;
}

static struct scene *begin(void (*reply)(struct request *request, void *argument),
                           void *argument)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct scene *scene = calloc(1, sizeof *scene);
    for (size_t i = 0; i < SIZE; i++)
        expected[i] = (char)('a' + i % 26 + (i / 26) % 2);
    scene->reply = reply;
    scene->argument = argument;
    scene->daemon =
        MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, on_request,
                         scene, MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_END);
    assert_non_null(scene->daemon);
    scene->port = MHD_get_daemon_info(scene->daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
    return scene;
}

static void end(struct scene *scene)
{
    MHD_stop_daemon(scene->daemon); /* waits for its thread */
    free(scene);
}

static int ask(const struct scene *scene, const char *method)
{
    char request[128];
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(scene->port),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof address), 0);
    snprintf(request, sizeof request,
             "%s / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", method);
    assert_int_equal(send(client, request, strlen(request), MSG_NOSIGNAL),
                     strlen(request));
    return client;
}

/* Sends a request, reads the whole response, and returns where the body begins. */
static const char *fetch(struct scene *scene, const char *method)
{
    int client = ask(scene, method);
    ssize_t got = 1;
    while (got > 0) {
        got = recv(client, scene->read + scene->size,
                   sizeof scene->read - 1 - scene->size, 0);
        scene->size += got > 0 ? (size_t)got : 0;
    }
    close(client);
    scene->read[scene->size] = '\0';
    const char *blank = strstr(scene->read, "\r\n\r\n");
    assert_non_null(blank);
    return blank + 4;
}

static void expect_body(struct scene *scene, size_t size)
{
    char length[64];
    const char *body = fetch(scene, "GET");
    snprintf(length, sizeof length, "Content-Length: %zu\r\n", size);
    assert_non_null(strstr(scene->read, length));
    assert_int_equal(scene->read + scene->size - body, size);
    assert_memory_equal(body, expected, size);
    end(scene);
}

/* --- bytes and files --- */

static void reply_with_text(struct request *request, void *argument)
{
    (void)argument;
    reply_json(&request->reply, MHD_HTTP_OK, strndup(expected, SIZE));
}

static void reply_with_constant(struct request *request, void *argument)
{
    (void)argument;
    reply_constant(&request->reply, "text/plain", expected, SIZE);
}

static void reply_with_nothing(struct request *request, void *argument)
{
    (void)argument;
    reply_empty(&request->reply, MHD_HTTP_OK);
}

/* Sends the second half of a file that contains the expected bytes twice. */
static void reply_with_file(struct request *request, void *argument)
{
    char path[] = "/tmp/epsilond-response-XXXXXX";
    int file = mkstemp(path);
    (void)argument;
    unlink(path);
    if (write(file, expected, SIZE) != SIZE || write(file, expected, SIZE) != SIZE)
        abort();
    reply_file(&request->reply, MHD_HTTP_OK, "text/plain", file,
               (struct byte_range){.offset = SIZE, .size = SIZE});
}

static void bytes_and_files_arrive_whole(void **state)
{
    (void)state;
    expect_body(begin(reply_with_text, NULL), SIZE);
    expect_body(begin(reply_with_constant, NULL), SIZE);
    expect_body(begin(reply_with_file, NULL), SIZE);
    expect_body(begin(reply_with_nothing, NULL), 0);
}

/* --- streams --- */

/* Returns pieces of uneven sizes, up to SIZE or until the stream breaks. */
static ssize_t pull(void *context, uint64_t position, char *to, size_t room)
{
    struct source *source = context;
    size_t size = 1 + (size_t)(position % 1777);
    atomic_fetch_add(&source->pulls, 1);
    if (source->broken_at > 0 && position >= source->broken_at)
        return STREAM_BROKEN;
    if (position == SIZE)
        return STREAM_END;
    if (size > room)
        size = room;
    if (size > SIZE - position)
        size = (size_t)(SIZE - position);
    memcpy(to, expected + position, size);
    return (ssize_t)size;
}

static void close_source(void *context)
{
    struct source *source = context;
    atomic_fetch_add(&source->closed, 1);
}

static void reply_with_stream(struct request *request, void *argument)
{
    const struct stream stream = {
        .size = SIZE, .pull = pull, .close = close_source, .context = argument};
    reply_stream(&request->reply, "text/plain", &stream);
}

static void reply_with_unknown_length(struct request *request, void *argument)
{
    const struct stream stream = {.size = stream_size_unknown,
                                  .pull = pull,
                                  .close = close_source,
                                  .context = argument};
    reply_stream(&request->reply, "text/plain", &stream);
    assert_int_equal(reply_size(&request->reply), 0);
}

static void reply_with_problem(struct request *request, void *argument)
{
    struct error error = {0};
    reply_with_stream(request, argument);
    error_set(&error, ST_NO_MEMORY, "something else went wrong");
    request_refuse(request, &error, NULL);
}

static void a_stream_arrives_whole_and_is_closed(void **state)
{
    (void)state;
    struct source source = {0};
    expect_body(begin(reply_with_stream, &source), SIZE);
    assert_true(atomic_load(&source.pulls) > 2);
    assert_int_equal(atomic_load(&source.closed), 1);
}

/* A chunk is a size in hexadecimal digits, a line end, that number of bytes, a line
 * end. */
static void a_stream_of_unknown_length_comes_in_chunks(void **state)
{
    (void)state;
    struct source source = {0};
    struct scene *scene = begin(reply_with_unknown_length, &source);
    const char *body = fetch(scene, "GET");
    char *at = scene->read + (body - scene->read);
    size_t total = 0, size;
    assert_non_null(strstr(scene->read, "Transfer-Encoding: chunked\r\n"));
    assert_null(strstr(scene->read, "Content-Length"));
    while ((size = strtoul(at, &at, 16)) > 0) {
        assert_memory_equal(at + 2, expected + total, size);
        total += size;
        at += 2 + size + 2;
    }
    assert_int_equal(total, SIZE);
    end(scene);
    assert_int_equal(atomic_load(&source.closed), 1);
}

static void a_head_request_pulls_nothing(void **state)
{
    (void)state;
    struct source source = {0};
    struct scene *scene = begin(reply_with_stream, &source);
    assert_string_equal(fetch(scene, "HEAD"), "");
    assert_non_null(strstr(scene->read, "Content-Length: 200000\r\n"));
    end(scene);
    assert_int_equal(atomic_load(&source.pulls), 0);
    assert_int_equal(atomic_load(&source.closed), 1);
}

static void a_stream_that_breaks_ends_the_connection_early(void **state)
{
    (void)state;
    struct source source = {.broken_at = SIZE / 2};
    struct scene *scene = begin(reply_with_stream, &source);
    const char *body = fetch(scene, "GET");
    assert_in_range(scene->read + scene->size - body, SIZE / 2, SIZE / 2 + 2000);
    end(scene);
    assert_int_equal(atomic_load(&source.closed), 1);
}

static void a_stream_is_closed_when_its_client_leaves(void **state)
{
    (void)state;
    struct source source = {0};
    struct scene *scene = begin(reply_with_stream, &source);
    int client = ask(scene, "GET");
    assert_true(recv(client, scene->read, 100, 0) > 0);
    close(client);
    end(scene);
    assert_int_equal(atomic_load(&source.closed), 1);
}

static void a_stream_is_closed_when_another_reply_takes_its_place(void **state)
{
    (void)state;
    struct source source = {0};
    struct scene *scene = begin(reply_with_problem, &source);
    assert_non_null(strstr(fetch(scene, "GET"), "no_memory"));
    end(scene);
    assert_int_equal(atomic_load(&source.pulls), 0);
    assert_int_equal(atomic_load(&source.closed), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_and_files_arrive_whole),
        cmocka_unit_test(a_stream_arrives_whole_and_is_closed),
        cmocka_unit_test(a_stream_of_unknown_length_comes_in_chunks),
        cmocka_unit_test(a_head_request_pulls_nothing),
        cmocka_unit_test(a_stream_that_breaks_ends_the_connection_early),
        cmocka_unit_test(a_stream_is_closed_when_its_client_leaves),
        cmocka_unit_test(a_stream_is_closed_when_another_reply_takes_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
