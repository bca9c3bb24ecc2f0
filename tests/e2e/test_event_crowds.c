/* Goal: very many event streams, and streams that are never read: those beyond a limit
 * are refused, closed ones make room, even if all close at once, and the daemon closes
 * those that are not read. */
#include <arpa/inet.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "api/limits.h"
#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"
#include "tests/e2e/stream_fixture.h"

enum { UNREAD = 20 };

static int begin(void **state)
{
    stage_begin_with(state,
                     (const char *const[]){"--workers", "2", "--threads", "1", NULL});
    ready_points(&((struct stage *)*state)->client, "points", 500, 1, SAMPLE_BUDGET(8));
    return 0;
}

static struct client *client_of(void **state)
{
    return &((struct stage *)*state)->client;
}

static const char *events_of(const char *job)
{
    static char path[96];
    snprintf(path, sizeof path, "/v1/jobs/%s/events", job);
    return path;
}

static void allow_descriptors(void)
{
    struct rlimit files;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = files.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
}

/* Waits for the head of an answer and returns its status. */
static unsigned status_of(int client)
{
    char head[256];
    unsigned status = 0;
    ssize_t got = recv(client, head, sizeof head - 1, 0);
    assert_true(got > 0);
    head[got] = '\0';
    assert_int_equal(sscanf(head, "HTTP/1.1 %u", &status), 1);
    return status;
}

/* The test reads only the first bytes of these streams; the daemon still serves
 * others. */
static void streams_beyond_the_limit_are_told_so_and_left_ones_make_room(void **state)
{
    struct client *client = client_of(state);
    static int clients[LIMIT_FOLLOWERS];
    char after[256];
    const char *job = submit(client, SAMPLE_JOB, "points", 2 * SAMPLE_LONG, 1e6);
    for (int i = 0; i < LIMIT_FOLLOWERS; i++) {
        clients[i] = stream_ask(client->daemon, events_of(job), NULL);
        assert_true(clients[i] >= 0);
        assert_int_equal(status_of(clients[i]), 200);
    }
    const struct reply *refused = client_get(client, "%s", events_of(job));
    assert_problem(refused, 503, "queue_full");
    assert_true(reply_header(refused, "retry-after", after));
    long resident = daemon_resident(client->daemon);
    await_training(client, job);
    for (int i = 0; i < 2000; i++)
        close(clients[i]);
    /* The daemon notices a closed stream when it has something to send to it. */
    int again = -1;
    for (unsigned status = 0; status != 200;) {
        if (again >= 0)
            close(again);
        again = stream_ask(client->daemon, events_of(job), NULL);
        assert_true(again >= 0);
        status = status_of(again);
        assert_true(status == 200 || status == 503);
    }
    close(again);
    assert_growth(daemon_resident(client->daemon) - resident, 64 << 10);
    for (int i = 2000; i < LIMIT_FOLLOWERS; i++)
        close(clients[i]);
    cancel(client, job);
    await_end(client, job);
}

/* Returns the number of files and connections that the daemon has open. */
static int descriptors_of(const struct daemon *daemon)
{
    char path[64];
    int count = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)daemon->pid);
    DIR *folder = opendir(path);
    assert_non_null(folder);
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

/* A client with a tiny receive buffer asks for a job with all its histograms. */
static int ask_and_read_nothing(const struct daemon *daemon, const char *job)
{
    char text[256];
    const int room = 2048;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)daemon->port),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(setsockopt(client, SOL_SOCKET, SO_RCVBUF, &room, sizeof room), 0);
    assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof address), 0);
    int size = snprintf(text, sizeof text,
                        "GET /v1/jobs/%s/events?histograms=1 HTTP/1.1\r\n"
                        "Host: localhost\r\n\r\n",
                        job);
    assert_int_equal(send(client, text, (size_t)size, MSG_NOSIGNAL), size);
    return client;
}

/* The job's events are longer than the system's buffers for the client. */
static void a_stream_that_nobody_reads_is_closed(void **state)
{
    struct client *client = client_of(state);
    int clients[UNREAD];
    const char *job =
        submit(client, "{'dataset':'points','model':{'preset':'linear'},"
                       "'algorithm':{'name':'dcsgd_e'},'batch_size':50,"
                       "'steps':1000,'privacy':{'noise_multiplier':100}}");
    await_success(client, job);
    int before = descriptors_of(client->daemon);
    for (int i = 0; i < UNREAD; i++)
        clients[i] = ask_and_read_nothing(client->daemon, job);
    /* A connection of earlier requests may still be closing. */
    while (descriptors_of(client->daemon) < before + UNREAD / 2)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    /* It takes half a minute; the test's time-out is the bound. */
    while (descriptors_of(client->daemon) > before)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    for (int i = 0; i < UNREAD; i++)
        close(clients[i]);
}

int main(void)
{
    /* Each test has its own daemon: streams left by the first would be counted in the
     * second. */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            streams_beyond_the_limit_are_told_so_and_left_ones_make_room, begin,
            stage_end),
        cmocka_unit_test_setup_teardown(a_stream_that_nobody_reads_is_closed, begin,
                                        stage_end),
    };
    allow_descriptors();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
