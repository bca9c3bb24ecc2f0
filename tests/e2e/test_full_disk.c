/* Goal: on a full disk the daemon first accepts nothing new (503 disk_full), then ends
 * with 75; the next start settles in the space that the ballast has left free, and all
 * it reports is true. Method: a small tmpfs. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <arpa/inet.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/expect.h"
#include "tests/e2e/account_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

static const long mib = 1 << 20;
static const char *const options[] = {"--workers", "1", "--threads", "1", NULL};

/* A stage whose data directory is a file system of 128 MiB. */
static int begin(void **state)
{
    struct stage *stage = stage_prepare(state);
    assert_int_equal(mkdir(stage->daemon.data_dir, 0700), 0);
    if (mount("tmpfs", stage->daemon.data_dir, "tmpfs", 0, "size=128m,mode=0700") != 0)
        skip_part("no tmpfs can be mounted here (%s)", strerror(errno));
    else
        daemon_start(&stage->daemon, options);
    return 0;
}

static int end(void **state)
{
    struct stage *stage = *state;
    if (stage->daemon.pid > 0)
        daemon_stop(&stage->daemon, SIGKILL);
    umount(stage->daemon.data_dir);
    return stage_end(state);
}

static void file_path(char path[128], const struct daemon *daemon, const char *name)
{
    snprintf(path, 128, "%s/%s", daemon->data_dir, name);
}

/* Writes until the file has size bytes more or the disk is full. */
static void fill(const struct daemon *daemon, const char *name, long size)
{
    static const char zeros[1 << 16];
    char path[128];
    file_path(path, daemon, name);
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    while (size > 0) {
        long part = size < (long)sizeof zeros ? size : (long)sizeof zeros;
        ssize_t written = write(file, zeros, (size_t)part);
        if (written < 0 && errno == ENOSPC)
            break;
        assert_true(written > 0);
        size -= written;
    }
    close(file);
}

/* The daemon measures the disk at each tick. */
static void await_full(struct client *client, const char *dataset)
{
    char path[64];
    const struct reply *reply;
    snprintf(path, sizeof path, "/v1/datasets/%s/files/data", dataset);
    while ((reply = client_put(client, path, "1", 1))->status == 204)
        continue;
    assert_problem(reply, 503, "disk_full");
}

static void a_full_disk_is_survived(void **state)
{
    struct stage *stage = *state;
    struct daemon *daemon = &stage->daemon;
    struct client *client = &stage->client;
    char ballast[128], filler[128];
    if (daemon->pid == 0)
        skip_because("no tmpfs can be mounted here");
    file_path(ballast, daemon, "ballast");
    file_path(filler, daemon, "filler");
    assert_int_equal(access(ballast, F_OK), 0);
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(4));
    const char *running = submit(client, SAMPLE_JOB, "points", SAMPLE_LONG, 30000.0);
    const char *queued = submit(client, SAMPLE_JOB, "points", 30, 100.0);
    await_training(client, running);

    assert_status(declare_points(client, "probe", SAMPLE_PUBLIC), 201);
    fill(daemon, "filler", 60 * mib); /* less than 64 MiB are left */
    await_full(client, "probe");
    assert_problem(client_create(client, "/v1/jobs", SAMPLE_JOB, "points", 7, 33.0),
                   503, "disk_full");
    assert_problem(client_put(client, "/v1/datasets/points/files/data", "1", 1), 409,
                   "dataset_immutable");
    const struct reply *seen = await_step(client, running, 2);
    double step = reply_number(seen, "progress.step");
    fill(daemon, "filler", 128 * mib); /* nothing is left */
    assert_int_equal(daemon_wait(daemon), 75);
    assert_int_equal(access(ballast, F_OK), -1);

    daemon_start(daemon, options);
    const struct reply *lost = client_get(client, "/v1/jobs/%s", running);
    assert_string_equal(reply_text(lost, "state"), "FAILED");
    assert_string_equal(reply_text(lost, "state_reason"), "worker_lost");
    assert_true(reply_number(lost, "privacy.authorised_steps") >= step);
    assert_true(reply_number(lost, "privacy.epsilon_spent") > 0);
    assert_problem(client_create(client, "/v1/jobs", SAMPLE_JOB, "points", 7, 33.0),
                   503, "disk_full");
    await_success(client, queued);
    struct account account;
    account_read(&account, client, "points");
    assert_true(account_is_sound(&account));
    assert_int_equal(daemon_verify(daemon), 0);
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);

    assert_int_equal(unlink(filler), 0);
    daemon_start(daemon, options);
    assert_int_equal(access(ballast, F_OK), 0);
    await_end(client, submit(client, SAMPLE_JOB, "points", 7, 33.0));
}

/* 20,000 records of 784 features are uploaded as 120 KB, and become 60 MiB. */
static void an_import_that_has_no_room_says_that_the_disk_is_full(void **state)
{
    enum { RECORDS = 20000 };
    struct stage *stage = *state;
    struct daemon *daemon = &stage->daemon;
    struct client *client = &stage->client;
    char filler[128];
    if (daemon->pid == 0)
        skip_because("no tmpfs can be mounted here");
    char *text = malloc(RECORDS * 6 + 1);
    assert_non_null(text);
    for (size_t i = 0; i < RECORDS; i++)
        memcpy(text + 6 * i, i % 2 == 0 ? "0 1:1\n" : "1 2:1\n", 6);
    assert_status(
        client_create(client, "/v1/datasets",
                      "{'id':'wide','format':'libsvm','task':'classification',"
                      "'classes':2,'features':{'count':784},"
                      "'privacy':'public'}"),
        201);
    assert_status(client_put(client, "/v1/datasets/wide/files/data", text, RECORDS * 6),
                  204);
    free(text);
    const struct reply *refused = client_act(client, "/v1/datasets/wide:import");
    assert_problem(refused, 503, "disk_full");
    char after[256];
    assert_true(reply_header(refused, "retry-after", after));
    assert_string_equal(
        reply_text(client_get(client, "/v1/datasets/wide"), "state_reason"),
        "disk_full");
    assert_string_equal(
        reply_text(client_get(client, "/v1/datasets/wide/import"), "failure.code"),
        "disk_full");
    /* With less than 64 MiB left, an import is not begun. */
    file_path(filler, daemon, "filler");
    fill(daemon, "filler", 60 * mib);
    assert_problem(client_act(client, "/v1/datasets/wide:import"), 503, "disk_full");
    assert_int_equal(daemon_stop(daemon, SIGTERM), 0);
    daemon_start(daemon, options);
    assert_string_equal(
        reply_text(client_get(client, "/v1/datasets/wide/import"), "failure.code"),
        "disk_full");
}

static const char big[] = "/v1/datasets/big/files/data";

/* Sends zeros as one piece of an upload of 16 MiB. */
static const struct reply *send_piece(struct client *client, long offset, long size)
{
    char from[64];
    char *zeros = calloc((size_t)size, 1);
    assert_non_null(zeros);
    snprintf(from, sizeof from, "Upload-Offset: %ld", offset);
    const struct reply *reply = client_send(
        client, &(struct request){.method = "PUT",
                                  .path = big,
                                  .headers = {from, "Upload-Length: 16777216"},
                                  .body = zeros,
                                  .size = (size_t)size});
    free(zeros);
    return reply;
}

static void await_offset(struct client *client, long offset)
{
    while (reply_number(client_get(client, "%s", big), "offset") != (double)offset)
        continue;
}

/* Begins a piece of 15 MiB after the first one, and sends half of it. */
static int send_half(const struct daemon *daemon)
{
    char head[256], *zeros = calloc(8, (size_t)mib);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)daemon->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_non_null(zeros);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    int length =
        snprintf(head, sizeof head,
                 "PUT %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %ld\r\n"
                 "Upload-Offset: %ld\r\nUpload-Length: %ld\r\n\r\n",
                 big, 15 * mib, mib, 16 * mib);
    assert_int_equal(send(fd, head, (size_t)length, MSG_NOSIGNAL), length);
    for (long sent = 0; sent < 8 * mib;) {
        ssize_t part = send(fd, zeros, (size_t)(8 * mib - sent), MSG_NOSIGNAL);
        assert_true(part > 0);
        sent += part;
    }
    free(zeros);
    return fd;
}

/* The received part of an upload is removed to free its space: the ledger needs it
 * more. */
static void an_upload_in_pieces_that_fills_the_disk_is_dropped(void **state)
{
    struct stage *stage = *state;
    struct daemon *daemon = &stage->daemon;
    struct client *client = &stage->client;
    char filler[128];
    if (daemon->pid == 0)
        skip_because("no tmpfs can be mounted here");
    file_path(filler, daemon, "filler");
    assert_status(declare_points(client, "big", SAMPLE_PUBLIC), 201);
    assert_status(declare_points(client, "probe", SAMPLE_PUBLIC), 201);
    assert_problem(
        client_send(client, &(struct request){.method = "PUT",
                                              .path = big,
                                              .headers = {"Upload-Offset: 0",
                                                          "Upload-Length: 134217728"},
                                              .body = "1",
                                              .size = 1}),
        503, "disk_full");
    assert_status(send_piece(client, 0, mib), 202);
    int fd = send_half(daemon);
    await_offset(client, 9 * mib);
    fill(daemon, "filler", 60 * mib);
    await_full(client, "probe");
    char *zeros = calloc(7, (size_t)mib), answer[16] = "";
    assert_non_null(zeros);
    for (long sent = 0; sent < 7 * mib;) {
        ssize_t part = send(fd, zeros, (size_t)(7 * mib - sent), MSG_NOSIGNAL);
        assert_true(part > 0);
        sent += part;
    }
    free(zeros);
    assert_int_equal(recv(fd, answer, 12, MSG_WAITALL), 12);
    assert_string_equal(answer, "HTTP/1.1 503");
    close(fd);
    await_offset(client, 0);

    assert_int_equal(unlink(filler), 0);
    const struct reply *reply;
    while ((reply = send_piece(client, 0, mib))->status != 202)
        assert_problem(reply, 503, "disk_full");
    fill(daemon, "filler", 60 * mib);
    await_full(client, "probe");
    assert_problem(send_piece(client, mib, 15 * mib), 503, "disk_full");
    await_offset(client, mib); /* refused before it began */
    assert_int_equal(unlink(filler), 0);
    while ((reply = send_piece(client, mib, 15 * mib))->status != 204)
        assert_problem(reply, 503, "disk_full");
}

/* The daemon was killed before it could drop the ballast. On a full disk the first
 * start ends with 75, and the next one has room. */
static void a_start_that_finds_no_room_makes_some(void **state)
{
    struct stage *stage = *state;
    struct daemon *daemon = &stage->daemon;
    struct client *client = &stage->client;
    if (daemon->pid == 0)
        skip_because("no tmpfs can be mounted here");
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(4));
    const char *running = submit(client, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 30000.0);
    await_training(client, running);
    daemon_stop(daemon, SIGKILL);
    fill(daemon, "filler", 128 * mib);
    assert_int_equal(
        daemon_run(daemon, (const char *const[]){"--data-dir", daemon->data_dir,
                                                 "--listen", "127.0.0.1:0", NULL}),
        75);
    daemon_start(daemon, options);
    assert_string_equal(
        reply_text(client_get(client, "/v1/jobs/%s", running), "state_reason"),
        "worker_lost");
    assert_int_equal(daemon_verify(daemon), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_full_disk_is_survived, begin, end),
        cmocka_unit_test_setup_teardown(
            an_import_that_has_no_room_says_that_the_disk_is_full, begin, end),
        cmocka_unit_test_setup_teardown(
            an_upload_in_pieces_that_fills_the_disk_is_dropped, begin, end),
        cmocka_unit_test_setup_teardown(a_start_that_finds_no_room_makes_some, begin,
                                        end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
