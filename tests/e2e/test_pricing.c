/* Goal: writes do not wait for estimates. Method: clients of one analyst ask for the
 * prices of sweeps whose runs all have schedules of their own, which takes seconds.
 * During that time the data owner sends writes, one for each row of a table. Each write
 * is sent after the estimates and is answered before any of them. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "tests/expect.h"
#include "tests/e2e/key_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

enum { ESTIMATORS = 4, RUNS = 100, RUN_SIZE = 40 };

static atomic_uint answered; /* number of estimates */

struct world {
    struct stage *stage;
    char owner[KEY_SIZE], analyst[KEY_SIZE];
    char job[64], charge[64]; /* belong to the owner */
};

static void show_key(struct client *client, const char *key)
{
    snprintf(client->key, sizeof client->key, "%.63s", key);
}

struct estimator {
    pthread_t thread;
    struct client client;
    long status;
};

/* 100 runs of 1e7 steps; no two have the same batch size. */
static void write_sweep(char *text, size_t size)
{
    size_t used =
        (size_t)snprintf(text, size,
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
        client_post(&estimator->client, "/v1/sweeps:estimate", NULL, "%s", body)
            ->status;
    atomic_fetch_add(&answered, 1);
    return NULL;
}

static void begin_estimates(const struct world *world, struct estimator *estimators)
{
    atomic_store(&answered, 0);
    for (int i = 0; i < ESTIMATORS; i++) {
        client_init(&estimators[i].client, &world->stage->daemon);
        show_key(&estimators[i].client, world->analyst);
        assert_int_equal(
            pthread_create(&estimators[i].thread, NULL, estimate, &estimators[i]), 0);
    }
    nanosleep(&(struct timespec){.tv_nsec = 400000000},
              NULL); /* until all are waiting */
}

/* The analyst's key was revoked before the prices were known. */
static void end_estimates(struct estimator *estimators)
{
    for (int i = 0; i < ESTIMATORS; i++) {
        assert_int_equal(pthread_join(estimators[i].thread, NULL), 0);
        assert_int_equal(estimators[i].status, 401);
        client_fini(&estimators[i].client);
    }
}

/* --- the writes --- */

static void cancel_job(struct world *world, struct client *client)
{
    assert_status(client_act(client, "/v1/jobs/%s:cancel", world->job), 200);
}

static void declare_dataset(struct world *world, struct client *client)
{
    (void)world;
    assert_status(declare_points(client, "later", SAMPLE_PUBLIC), 201);
}

static void delete_dataset(struct world *world, struct client *client)
{
    (void)world;
    assert_status(client_delete(client, "/v1/datasets/later"), 204);
}

static void ask_block(struct world *world, struct client *client)
{
    char path[96];
    snprintf(path, sizeof path, "/v1/charges/%s/blocks", world->charge);
    assert_status(
        client_create(client, path, "{'block':1,'process':'0123456789abcdef'}"), 201);
}

static void settle_charge(struct world *world, struct client *client)
{
    assert_status(client_act(client, "/v1/charges/%s:settle", world->charge), 200);
}

static void log_in(struct world *world, struct client *client)
{
    assert_status(
        client_post(client, "/v1/session", NULL, "{'key':'%s'}", world->owner), 201);
}

static void revoke_key(struct world *world, struct client *client)
{
    assert_status(
        client_act(client, "/v1/keys/%.8s:revoke", world->analyst + strlen("dpk_")),
        200);
}

/* The last one revokes the key that sent the estimates. */
static const struct {
    const char *name;
    void (*send)(struct world *world, struct client *client);
} writes[] = {
    {"a cancellation", cancel_job},  {"a declaration", declare_dataset},
    {"a deletion", delete_dataset},  {"a block of a charge", ask_block},
    {"a settlement", settle_charge}, {"a login", log_in},
    {"a revocation", revoke_key},
};

static void a_write_passes_all_estimates(void **state)
{
    struct world *world = *state;
    static struct estimator estimators[ESTIMATORS];
    begin_estimates(world, estimators);
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        writes[i].send(world, &world->stage->client);
        if (atomic_load(&answered) > 0)
            fail_msg("%s waited for an estimate", writes[i].name);
    }
    end_estimates(estimators);
}

/* --- the scene --- */

static int begin(void **state)
{
    static const char *const options[] = {"--approvals", "off", NULL};
    struct world *world = calloc(1, sizeof *world);
    void *stage;
    assert_non_null(world);
    *state = world;
    world->stage = stage_prepare(&stage);
    struct client *client = &world->stage->client;
    key_make(&world->stage->daemon, "dana", "data_owner", "default", world->owner);
    key_make(&world->stage->daemon, "eve", "analyst", "default", world->analyst);
    daemon_start(&world->stage->daemon, options);
    show_key(client, world->owner);
    ready_points(client, "points", 500, 1, SAMPLE_BUDGET(4));
    snprintf(world->job, sizeof world->job, "%s",
             submit(client, SAMPLE_JOB, "points", 20, 1000.0));
    const struct reply *charge = client_create(
        client, "/v1/charges",
        "{'dataset':'points','engine':'opacus 1.5','unit':'record','mechanism':{"
        "'kind':'sampled_gaussian','sampler':'poisson','sampling_rate':0.001,"
        "'noise_multiplier':1000,'steps':1000,'neighbour':'add_remove'}}");
    assert_status(charge, 201);
    snprintf(world->charge, sizeof world->charge, "%s", reply_text(charge, "id"));
    return 0;
}

static int end(void **state)
{
    struct world *world = *state;
    void *stage = world->stage;
    free(world);
    return stage_end(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_passes_all_estimates),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
