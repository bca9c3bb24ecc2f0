/* Goal: whatever is estimated, writes do not wait for it. Method: clients that ask for the
 * prices of sweeps whose runs all have schedules of their own, which takes seconds, and a
 * client that writes meanwhile: each of its writes came after the estimates and is answered
 * before any of them. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "tests/expect.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

enum { ESTIMATORS = 4, RUNS = 100, RUN_SIZE = 40 };

static atomic_uint answered; /* estimates */

struct estimator {
    pthread_t thread;
    struct client client;
    long status;
};

/* 100 runs of 1e7 steps; no two have the same batch size. */
static void write_sweep(char *text, size_t size)
{
    size_t used = (size_t)snprintf(
        text, size,
        "{'job':{'dataset':'points','model':{'preset':'linear'},"
        "'algorithm':{'name':'adp'},'steps':10000000,"
        "'privacy':{'noise_multiplier':50}},'runs':[");
    for (int i = 0; i < RUNS; i++)
        used += (size_t)snprintf(text + used, size - used, "%s{'/batch_size':%d}",
                                 i > 0 ? "," : "", 10 + i);
    snprintf(text + used, size - used, "]}");
}

static void *estimate(void *argument)
{
    struct estimator *estimator = argument;
    char body[RUNS * RUN_SIZE + 512];
    write_sweep(body, sizeof body);
    estimator->status =
        client_post(&estimator->client, "/v1/sweeps:estimate", NULL, "%s", body)->status;
    atomic_fetch_add(&answered, 1);
    return NULL;
}

static void begin_estimates(struct stage *stage, struct estimator *estimators)
{
    atomic_store(&answered, 0);
    for (int i = 0; i < ESTIMATORS; i++) {
        client_init(&estimators[i].client, &stage->daemon);
        assert_int_equal(
            pthread_create(&estimators[i].thread, NULL, estimate, &estimators[i]), 0);
    }
    nanosleep(&(struct timespec){.tv_nsec = 400000000}, NULL); /* until they are there */
}

static void end_estimates(struct estimator *estimators)
{
    for (int i = 0; i < ESTIMATORS; i++) {
        assert_int_equal(pthread_join(estimators[i].thread, NULL), 0);
        assert_int_equal(estimators[i].status, 200);
        client_fini(&estimators[i].client);
    }
}

static void a_write_passes_all_estimates(void **state)
{
    struct stage *stage = *state;
    struct client *client = &stage->client;
    struct estimator estimators[ESTIMATORS];
    char job[32];
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(4));
    snprintf(job, sizeof job, "%s", submit(client, SAMPLE_JOB, "points", 20, 1000.0));
    begin_estimates(stage, estimators);
    assert_status(client_act(client, "/v1/jobs/%s:cancel", job), 200);
    assert_status(client_create(client, "/v1/datasets",
                                "{'id':'later','format':'csv','task':'classification',"
                                "'classes':2,'columns':[{'name':'x','kind':'numeric',"
                                "'range':[0,1]},{'name':'y','kind':'label',"
                                "'values':['a','b']}],'privacy':'public'}"),
                  201);
    assert_status(client_delete(client, "/v1/datasets/later"), 204);
    assert_int_equal(atomic_load(&answered), 0);
    end_estimates(estimators);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_passes_all_estimates),
    };
    return cmocka_run_group_tests(tests, stage_begin, stage_end);
}
