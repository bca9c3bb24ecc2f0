/* Goal: a connection never costs other clients anything: after its client has gone,
 * while the daemon stops, or when one client opens as many as it can. Method: the
 * test's own sockets against a running daemon. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/expect.h"
#include "tests/e2e/key_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

/* An idle connection times out after 30 s, so the time-out has not caused what has
 * happened by then. */
enum { BEFORE_TIMEOUT_S = 20 };

static const char *begin_upload(const struct daemon *daemon, const char *id,
                                size_t length)
{
    static char head[512];
    snprintf(head, sizeof head,
             "PUT /v1/datasets/%s/files/data HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
             "Upload-Offset: 0\r\nUpload-Length: %zu\r\nContent-Length: %zu\r\n"
             "Expect: 100-continue\r\n\r\n",
             id, daemon->port, length, length);
    return head;
}

/* Connects from 127.0.0.last to the daemon. Returns -1 with errno if it is refused. */
static int dial(const struct daemon *daemon, unsigned last)
{
    struct sockaddr_in from = {.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(0x7f000000 | last)};
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)daemon->port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(client >= 0);
    assert_int_equal(bind(client, (const struct sockaddr *)&from, sizeof from), 0);
    if (connect(client, (const struct sockaddr *)&to, sizeof to) == 0)
        return client;
    close(client);
    return -1;
}

static void say(int client, const char *text)
{
    assert_int_equal(send(client, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Waits for something to read. Returns false if the time is up. */
static bool await(int client, int seconds)
{
    struct pollfd ready = {.fd = client, .events = POLLIN};
    return poll(&ready, 1, seconds * 1000) == 1;
}

static void await_stop(const struct daemon *daemon)
{
    siginfo_t stopped;
    assert_int_equal(kill(daemon->pid, SIGSTOP), 0);
    assert_int_equal(waitid(P_PID, (id_t)daemon->pid, &stopped, WSTOPPED), 0);
}

static size_t offset_of(struct client *client, const char *path)
{
    char value[256];
    const struct reply *head =
        client_send(client, &(struct request){.method = "HEAD", .path = path});
    assert_true(reply_header(head, "upload-offset", value));
    return strtoul(value, NULL, 10);
}

/* The daemon is suspended while the bytes and the end arrive, so that it finds both at
 * once. */
static void an_upload_is_free_when_its_client_has_gone_with_its_last_bytes(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    static const char text[] = ".1,.2,no\n.3,.4,yes\n", part[] = ".1,.2,no\n";
    for (int i = 0; i < 4; i++) {
        char id[24], path[64], answer[64], offset[40];
        snprintf(id, sizeof id, "gone-%d", i);
        snprintf(path, sizeof path, "/v1/datasets/%s/files/data", id);
        assert_status(declare_points(client, id, SAMPLE_PUBLIC), 201);
        int gone = dial(&stage->daemon, 1);
        say(gone, begin_upload(&stage->daemon, id, strlen(text)));
        assert_true(recv(gone, answer, sizeof answer, 0) > 0); /* status 100 */
        await_stop(&stage->daemon);
        say(gone, part);
        close(gone);
        assert_int_equal(kill(stage->daemon.pid, SIGCONT), 0);
        struct timespec begun, now;
        clock_gettime(CLOCK_MONOTONIC, &begun);
        const struct reply *reply;
        do {
            size_t there = offset_of(client, path);
            snprintf(offset, sizeof offset, "Upload-Offset: %zu", there);
            reply = client_send(
                client, &(struct request){.method = "PUT",
                                          .path = path,
                                          .headers = {offset, "Upload-Length: 19"},
                                          .body = text + there,
                                          .size = strlen(text) - there});
            clock_gettime(CLOCK_MONOTONIC, &now);
        } while (reply->status == 409 && now.tv_sec - begun.tv_sec < BEFORE_TIMEOUT_S);
        assert_status(reply, 204);
    }
}

static void while_it_ends_new_connections_are_refused_at_once(void **state)
{
    struct stage *stage = *state;
    assert_status(declare_points(&stage->client, "open", SAMPLE_PUBLIC), 201);
    int upload = dial(&stage->daemon, 1);
    say(upload, begin_upload(&stage->daemon, "open", 1000));
    assert_true(await(upload, BEFORE_TIMEOUT_S)); /* status 100: it has begun */
    assert_int_equal(kill(stage->daemon.pid, SIGTERM), 0);
    unsigned refused = 0, hung = 0;
    while (waitpid(stage->daemon.pid, NULL, WNOHANG) == 0) {
        int client = dial(&stage->daemon, 1);
        refused += client < 0;
        if (client < 0) {
            usleep(50000);
            continue;
        }
        /* A connection that was accepted is answered or closed. */
        send(client, "GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 41,
             MSG_NOSIGNAL);
        hung += !await(client, 2);
        close(client);
    }
    close(upload);
    stage->daemon.pid = 0;
    assert_int_equal(hung, 0);
    assert_true(refused > 0);
    daemon_start(&stage->daemon, NULL);
}

/* Returns whether the other end has closed the connection. */
static bool is_closed(int client)
{
    char byte;
    ssize_t got = recv(client, &byte, 1, MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN);
}

/* One address may have a quarter of all connections; each of the daemon's threads may
 * let in one more. */
static void one_address_leaves_room_for_others(void **state)
{
    enum { ALL = 4096, PART = ALL / 4, THREADS = 4 };
    static int clients[ALL];
    struct daemon daemon;
    struct client client;
    struct rlimit files;
    char key[KEY_SIZE];
    size_t open = 0;
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = files.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
    daemon_init(&daemon);
    key_make(&daemon, "ana", "data_owner", "default", key);
    daemon_start(&daemon, NULL);
    client_init(&client, &daemon);
    snprintf(client.key, sizeof client.key, "%.63s", key);
    for (size_t i = 0; i < ALL; i++) {
        clients[i] = dial(&daemon, 2);
        assert_true(clients[i] >= 0);
    }
    assert_status(client_get(&client, "/v1/jobs"), 200); /* from another address */
    for (size_t i = 0; i < ALL; i++) {
        open += !is_closed(clients[i]);
        close(clients[i]);
    }
    assert_true(open > 0 && open <= PART + THREADS);
    /* A closed connection makes room for a new one. */
    int again;
    do {
        again = dial(&daemon, 2);
        say(again, "GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
        assert_true(await(again, BEFORE_TIMEOUT_S));
        open = !is_closed(again);
        close(again);
    } while (!open);
    client_fini(&client);
    daemon_fini(&daemon);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            an_upload_is_free_when_its_client_has_gone_with_its_last_bytes),
        cmocka_unit_test(while_it_ends_new_connections_are_refused_at_once),
        cmocka_unit_test(one_address_leaves_room_for_others),
    };
    return cmocka_run_group_tests(tests, stage_begin, stage_end);
}
