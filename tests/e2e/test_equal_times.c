/* Goal: the time that a 404 takes does not distinguish another project's thing from a
 * missing one. Method: on one connection, requests in pairs of both, each pair in an
 * order that a generator draws, and the rank sum of the foreign ones' times.
 *
 * Let d be the difference of the two ranks in a pair. If the times of both follow the
 * same law then, whatever the machine does and however the times depend on each other,
 * the signs of the differences are those of the draws: |sum of d| exceeds BOUND times
 * the root of the sum of d^2 with probability at most 2 exp(-BOUND^2 / 2) (Hoeffding),
 * 6e-7. With ROUNDS pairs a shift of half the spread is nearly always found; a shift of
 * a few nanoseconds, which another cache line causes, is not. Under a sanitizer the
 * test proves nothing, and reports that: the instrumented program looks up a shadow at
 * each access to memory, so that the few bytes that are compared or copied only for a
 * foreign thing take long enough to be visible. */
#include <arpa/inet.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/expect.h"
#include "tests/e2e/key_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

enum { ROUNDS = 500, ID_SIZE = 64 };
static const double bound = 5.5; /* standard deviations */

static struct stage *stage;
static char ours[KEY_SIZE]; /* a data owner's key, in project fraud */
static struct {             /* things of project ads */
    char dataset[ID_SIZE], job[ID_SIZE], model[ID_SIZE], webhook[ID_SIZE], key[ID_SIZE];
} theirs = {.dataset = "views"};

static int begin(void **state)
{
    char foreign[KEY_SIZE];
    stage_begin_with(state, (const char *const[]){"--approvals", "off", NULL});
    stage = *state;
    struct client *client = &stage->client;
    daemon_stop(&stage->daemon, SIGTERM);
    key_make(&stage->daemon, "olga", "data_owner", "ads", foreign);
    key_make(&stage->daemon, "ana", "data_owner", "fraud", ours);
    daemon_start(&stage->daemon, (const char *const[]){"--approvals", "off", NULL});
    snprintf(client->key, sizeof client->key, "%.63s", foreign);
    ready_points(client, theirs.dataset, 300, 1, SAMPLE_BUDGET(8));
    const struct reply *job = train(client, SAMPLE_JOB, theirs.dataset, 3, 9.0);
    const struct reply *hook =
        client_post(client, "/v1/webhooks", NULL,
                    "{'url':'https://hooks.invalid/','events':['job.failed']}");
    snprintf(theirs.key, ID_SIZE, "%.8s", foreign + strlen("dpk_"));
    snprintf(theirs.job, ID_SIZE, "%s", reply_text(job, "id"));
    snprintf(theirs.model, ID_SIZE, "%s", reply_text(job, "model"));
    snprintf(theirs.webhook, ID_SIZE, "%s", reply_text(hook, "id"));
    return 0;
}

/* --- one connection --- */

static int connect_to(unsigned port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof address), 0);
    return client;
}

/* Reads one whole answer; returns its status. */
static unsigned read_answer(int client)
{
    char text[8192];
    size_t size = 0, whole = SIZE_MAX;
    while (size < whole) {
        ssize_t got = recv(client, text + size, sizeof text - 1 - size, 0);
        assert_true(got > 0);
        size += (size_t)got;
        text[size] = '\0';
        const char *end = strstr(text, "\r\n\r\n");
        const char *length = end != NULL ? strstr(text, "Content-Length:") : NULL;
        if (end != NULL)
            assert_non_null(length);
        if (end != NULL)
            whole = (size_t)(end + 4 - text) + strtoul(length + 15, NULL, 10);
    }
    return (unsigned)strtoul(text + strlen("HTTP/1.1 "), NULL, 10);
}

/* Returns the seconds until the answer, which must be 404. */
static double ask(int client, const char *method, const char *path)
{
    char text[512];
    struct timespec before, after;
    const struct key_header key = key_header(ours);
    int size = snprintf(
        text, sizeof text, "%s %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n%s\r\n", method,
        path, key.text, strcmp(method, "POST") == 0 ? "Content-Length: 0\r\n" : "");
    clock_gettime(CLOCK_MONOTONIC, &before);
    assert_int_equal(send(client, text, (size_t)size, MSG_NOSIGNAL), size);
    assert_int_equal(read_answer(client), 404);
    clock_gettime(CLOCK_MONOTONIC, &after);
    return (double)(after.tv_sec - before.tv_sec) +
           1e-9 * (double)(after.tv_nsec - before.tv_nsec);
}

/* --- the rank sum --- */

struct timed {
    double seconds;
    size_t pair;
    bool foreign;
};

static int by_seconds(const void *left, const void *right)
{
    const struct timed *a = left, *b = right;
    return (a->seconds > b->seconds) - (a->seconds < b->seconds);
}

/* Returns by how many standard deviations the rank sum of the foreign ones differs from
 * its mean; times holds ROUNDS pairs. */
static double rank_sum(struct timed *times)
{
    static double difference[ROUNDS]; /* of ranks: foreign minus other */
    double sum = 0, squares = 0;
    memset(difference, 0, sizeof difference);
    qsort(times, 2 * ROUNDS, sizeof *times, by_seconds);
    for (size_t i = 0; i < 2 * ROUNDS; i++)
        difference[times[i].pair] += times[i].foreign ? (double)i : -(double)i;
    for (size_t i = 0; i < ROUNDS; i++) {
        sum += difference[i];
        squares += difference[i] * difference[i];
    }
    return sum / sqrt(squares);
}

static bool draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (*state >> 33 & 1) != 0;
}

/* A path is before, id and after; the absent id has another last character. */
static void compare(const char *method, const char *before, const char *id,
                    const char *after)
{
    static struct timed times[2 * ROUNDS];
    char paths[2][128], absent[ID_SIZE];
    uint64_t state = UINT64_C(0x9E3779B97F4A7C15);
    size_t count = 0;
    int client = connect_to(stage->daemon.port);
    snprintf(absent, sizeof absent, "%s", id);
    char *last = &absent[strlen(absent) - 1];
    *last = *last == 'x' ? 'y' : *last == 'X' ? 'Y' : *last < 'a' ? 'X' : 'x';
    snprintf(paths[0], sizeof paths[0], "%s%s%s", before, absent, after);
    snprintf(paths[1], sizeof paths[1], "%s%s%s", before, id, after);
    for (int i = 0; i < 50; i++) /* so that both are in the caches, and already noted */
        ask(client, method, paths[i % 2]);
    for (size_t i = 0; i < ROUNDS; i++) {
        bool first = draw(&state);
        for (int k = 0; k < 2; k++) {
            bool foreign = (k == 0) == first;
            times[count++] =
                (struct timed){ask(client, method, paths[foreign]), i, foreign};
        }
    }
    close(client);
    double deviations = rank_sum(times);
    print_message("%s %s...%s: %.2f standard deviations\n", method, before, after,
                  deviations);
    if (daemon_sanitizer() != SANITIZER_NONE)
        skip_part("a sanitizer changes the times");
    else if (!(fabs(deviations) < bound))
        fail_msg("a foreign thing and none can be told apart");
}

static void a_foreign_thing_takes_no_longer_than_none(void **state)
{
    (void)state;
    compare("GET", "/v1/datasets/", theirs.dataset, "");
    compare("GET", "/v1/datasets/", theirs.dataset, "/budget");
    compare("GET", "/v1/jobs/", theirs.job, "");
    compare("GET", "/v1/models/", theirs.model, "");
    compare("GET", "/v1/webhooks/", theirs.webhook, "");
    compare("GET", "/v1/keys/", theirs.key, "");
    compare("POST", "/v1/jobs/", theirs.job, ":cancel");
}

/* times = numbers of variance 1; those of the foreign ones are larger by shift. */
static void make_up(struct timed *times, double shift)
{
    uint64_t drawn = 7;
    for (size_t i = 0; i < 2 * ROUNDS; i++) {
        bool foreign = i % 2 == 1;
        double noise = 0;
        for (int k = 0; k < 12; k++) {
            draw(&drawn);
            noise += (double)(drawn >> 11) * 0x1p-53 - 0.5;
        }
        times[i] = (struct timed){noise + (foreign ? shift : 0), i / 2, foreign};
    }
}

static void the_rank_sum_finds_a_shift(void **state)
{
    (void)state;
    static struct timed times[2 * ROUNDS];
    make_up(times, 0.5);
    assert_true(rank_sum(times) > bound);
    make_up(times, 0);
    assert_true(fabs(rank_sum(times)) < bound);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rank_sum_finds_a_shift),
        cmocka_unit_test(a_foreign_thing_takes_no_longer_than_none),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
