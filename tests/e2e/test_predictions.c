/* Goal: of many simultaneous predictions each is answered, with 200 or with 503 and a
 * time to retry, and none is dropped; a small one does not wait for the large ones
 * before it; and their memory is released. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

enum { ROWS = 10000, FEATURES = 784 };

static int begin(void **state)
{
    return stage_begin(state);
}

/* Counts of answers. */
struct tally {
    atomic_uint served, full; /* full: refused because the queue is full */
    atomic_uint answered;     /* all answers; incremented last of the three */
};

/* One prediction on a thread of its own. */
struct call {
    pthread_t thread;
    const struct daemon *daemon;
    const char *path, *body;
    size_t size;
    struct tally *tally; /* shared by all calls */
    long status;
    char retry_after[256];
};

static void *call(void *argument)
{
    struct call *one = argument;
    struct client client;
    client_init(&client, one->daemon);
    client.lossy = true; /* a dropped request has status 0 */
    const struct request request = {.method = "POST",
                                    .path = one->path,
                                    .headers = {"Content-Type: application/json"},
                                    .body = one->body,
                                    .size = one->size};
    const struct reply *reply = client_send(&client, &request);
    one->status = reply->status;
    if (reply->status == 503)
        reply_header(reply, "retry-after", one->retry_after);
    atomic_fetch_add(&one->tally->served, reply->status == 200);
    atomic_fetch_add(&one->tally->full,
                     strstr(reply->body, "as many predictions wait as may") != NULL);
    atomic_fetch_add(&one->tally->answered, 1);
    client_fini(&client);
    return NULL;
}

static void begin_calls(struct call *calls, size_t count, const struct call *like)
{
    for (size_t i = 0; i < count; i++) {
        calls[i] = *like;
        assert_int_equal(pthread_create(&calls[i].thread, NULL, call, &calls[i]), 0);
    }
}

static void end_calls(struct call *calls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pthread_join(calls[i].thread, NULL), 0);
}

/* Returns the number of calls answered with 200; the others must be 503 with a time to
 * retry. */
static size_t successes_of(const struct call *calls, size_t count)
{
    size_t successes = 0;
    for (size_t i = 0; i < count; i++) {
        successes += calls[i].status == 200;
        if (calls[i].status == 200)
            continue;
        assert_int_equal(calls[i].status, 503);
        assert_true(atoi(calls[i].retry_after) > 0);
    }
    return successes;
}

/* Waits until the queue is full, or all count calls are answered. */
static void await_full(const struct tally *tally, unsigned count)
{
    while (atomic_load(&tally->answered) < count && atomic_load(&tally->full) == 0)
        usleep(1000);
}

/* Returns {"inputs":[row,row,...]}; the caller frees it. */
static char *body_of(const char *row, size_t rows, size_t *size)
{
    size_t row_size = strlen(row);
    char *body = malloc(rows * (row_size + 1) + 32), *at = body;
    assert_non_null(body);
    at += sprintf(at, "{\"inputs\":[");
    for (size_t i = 0; i < rows; i++) {
        memcpy(at, row, row_size);
        at += row_size;
        *at++ = i + 1 < rows ? ',' : ']';
    }
    *at++ = '}';
    *size = (size_t)(at - body);
    return body;
}

static void path_of(char path[128], const struct reply *job)
{
    snprintf(path, 128, "/v1/models/%s/predict", reply_text(job, "model"));
}

static const struct reply *train_wide(struct client *client)
{
    assert_status(
        client_create(client, "/v1/datasets",
                      "{'id':'wide','format':'libsvm','task':'classification',"
                      "'classes':2,'features':{'count':%d},'privacy':'public'}",
                      FEATURES),
        201);
    assert_status(
        client_put(client, "/v1/datasets/wide/files/data", "0 1:1\n1 2:1\n", 12), 204);
    assert_status(client_act(client, "/v1/datasets/wide:import"), 200);
    return train(client, "{'dataset':'wide','model':{'preset':'linear'},"
                         "'algorithm':{'name':'sgd'},'batch_size':2,'steps':3}");
}

/* Six calls of `rows` rows at once, and six of one row after them. */
static void burst(const struct call *like, const char *row, size_t rows)
{
    enum { LARGE = 6, SMALL = 6 };
    struct call large[LARGE], small[SMALL], one = *like, many = *like;
    char *one_body = body_of(row, 1, &one.size);
    char *many_body = body_of(row, rows, &many.size);
    one.body = one_body, many.body = many_body;
    begin_calls(large, LARGE, &many);
    begin_calls(small, SMALL, &one);
    end_calls(large, LARGE);
    end_calls(small, SMALL);
    free(many_body);
    free(one_body);
    assert_true(successes_of(large, LARGE) >= 1);
    successes_of(small, SMALL);
}

/* Bodies of 60 MiB, whose total exceeds what the daemon keeps of bodies at once, and of
 * half of that. */
static void large_ones_at_once_are_all_answered_and_leave_nothing(void **state)
{
    struct stage *stage = *state;
    struct tally tally = {0};
    char path[128], row[FEATURES * 8 + 8], *at = row;
    path_of(path, train_wide(&stage->client));
    for (size_t i = 0; i < FEATURES; i++)
        at += sprintf(at, "%c0.%05zu", i == 0 ? '[' : ',', i * 127 % 100000);
    sprintf(at, "]");
    const struct call like = {.daemon = &stage->daemon, .path = path, .tally = &tally};
    burst(&like, row, 1);
    long before = daemon_resident(&stage->daemon);
    burst(&like, row, ROWS);
    burst(&like, row, ROWS / 2);
    long grown = daemon_resident(&stage->daemon) - before;
    assert_growth(grown, 24 << 10); /* a single body would exceed it */
}

/* Each large call costs some six seconds of a processor, and at most a minute's worth
 * of them may wait: when one is refused, nine or more wait. If the small call waited
 * behind them, more large calls would be served before it than were running, or it
 * would be refused as late. Large ones that are refused do not count as passed. The
 * daemon is killed with the rest of them unanswered. */
static void a_small_one_passes_the_large_ones_that_wait(void **state)
{
    enum { LARGE = 24, RUNNING_MAX = 4 };
    struct stage *stage = *state;
    struct client *client = &stage->client;
    struct call large[LARGE], small;
    struct tally of_large = {0}, of_small = {0};
    char path[128];
    size_t one_size, size;
    ready_points(client, "points", 50, 1, SAMPLE_PUBLIC);
    path_of(path,
            train(client, "{'dataset':'points','model':{'preset':'mlp',"
                          "'hidden':[3500,3500],'activation':'relu'},"
                          "'algorithm':{'name':'sgd'},'batch_size':2,'steps':3}"));
    char *one = body_of("[0.5,-0.25]", 1, &one_size),
         *many = body_of("[0.5,-0.25]", ROWS, &size);
    struct call like = {.daemon = &stage->daemon,
                        .path = path,
                        .body = many,
                        .size = size,
                        .tally = &of_large};
    begin_calls(large, LARGE, &like);
    await_full(&of_large, LARGE);
    unsigned full = atomic_load(&of_large.full), before = atomic_load(&of_large.served);
    like.body = one, like.size = one_size, like.tally = &of_small;
    begin_calls(&small, 1, &like);
    end_calls(&small, 1);
    unsigned served = atomic_load(&of_large.served) - before;
    daemon_stop(&stage->daemon, SIGKILL);
    end_calls(large, LARGE);
    free(many);
    free(one);
    assert_true(full >= 1);
    assert_int_equal(small.status, 200);
    assert_true(served <= RUNNING_MAX); /* only those that were already running */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            large_ones_at_once_are_all_answered_and_leave_nothing, begin, stage_end),
        cmocka_unit_test_setup_teardown(a_small_one_passes_the_large_ones_that_wait,
                                        begin, stage_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
