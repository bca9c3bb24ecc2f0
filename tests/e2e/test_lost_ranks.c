/* Goal: a job of ranks on a worker that dies, or is taken for dead, is ended by another
 * daemon and charged what was authorised; its ranks end with the worker, nothing is
 * published, and no files are left. Method: one daemon of role api and two workers,
 * which share a real PostgreSQL server and a small S3 server; mpirun starts two
 * processes on the machine of the worker that has the job. If mpirun is missing the
 * test is skipped with that reason. */
#include <signal.h>

#include "tests/expect.h"
#include "tests/e2e/account_fixture.h"
#include "tests/e2e/daemons_fixture.h"
#include "tests/e2e/rank_fixture.h"
#include "tests/e2e/sample_fixture.h"

enum { API, WORKER, SECOND_WORKER };
static const char *const roles[] = {"api", "worker", "worker", NULL};

static int begin(void **state)
{
    char launcher[1024];
    snprintf(launcher, sizeof launcher, RANKS_MPIRUN " -n {ranks} %s-rank",
             getenv("EPSILOND"));
    setenv("EPSILOND_RANKS_LAUNCHER", launcher, 1);
    setenv("EPSILOND_RANKS_MAX", "2", 1);
    daemons_begin(state, roles);
    ready_digits(&((struct daemons *)*state)->clients[API], "digits", SAMPLE_TRAIN,
                 SAMPLE_BUDGET(8));
    return 0;
}

static void ranks_of_a_worker_train_a_model(void **state)
{
    struct daemons *daemons = *state;
    struct client *api = &daemons->clients[API];
    const struct reply *job = train(api, RANKS_JOB, FEW_STEPS, 8.0);
    assert_true(reply_number(job, "privacy.authorised_steps") == FEW_STEPS);
    assert_true(reply_number(model_of(api, job), "certificate.ranks") == RANKS);
    assert_int_equal(daemons_verify(daemons), 0);
}

/* Submits a job, waits until it has taken steps, and finds its processes. Returns their
 * worker. */
static size_t begin_endless(struct daemons *daemons, const char **id,
                            pid_t found[RANKS])
{
    *id = submit(&daemons->clients[API], RANKS_JOB, ENDLESS_STEPS, 3000.0);
    await_training(&daemons->clients[API], *id);
    size_t worker = WORKER;
    if (find_ranks(&daemons->all[worker], found, RANKS) == 0)
        worker = SECOND_WORKER;
    assert_int_equal(find_ranks(&daemons->all[worker], found, RANKS), RANKS);
    return worker;
}

static void assert_lost(struct daemons *daemons, const char *id)
{
    struct client *api = &daemons->clients[API];
    const struct reply *job = await_end(api, id);
    double authorised = reply_number(job, "privacy.authorised_steps");
    assert_string_equal(reply_text(job, "state"), "FAILED");
    assert_string_equal(reply_text(job, "state_reason"), "worker_lost");
    assert_charged_in_part(job);
    const json_t *entry = account_entry(
        client_get(api, "/v1/datasets/digits/ledger?page_size=1000"), "COMMIT", id);
    assert_true(json_number_value(json_object_get(json_object_get(entry, "meta"),
                                                  "steps")) == authorised);
    assert_int_equal(daemons_verify(daemons), 0);
}

static unsigned models(struct daemons *daemons)
{
    const struct reply *list = client_get(&daemons->clients[API], "/v1/models");
    return (unsigned)json_array_size(reply_at(list, "models"));
}

/* After the worker's start the file that the model would have arrived in is gone. */
static void assert_nothing_left(struct daemons *daemons, size_t worker)
{
    char command[192];
    daemons_start(daemons, worker);
    snprintf(command, sizeof command, "! ls %s/scratch | grep '[.]ranks$'",
             daemons->all[worker].data_dir);
    assert_int_equal(system(command), 0);
}

static void a_worker_that_is_killed_takes_its_ranks_with_it(void **state)
{
    struct daemons *daemons = *state;
    const char *id;
    pid_t found[RANKS];
    unsigned before = models(daemons);
    size_t worker = begin_endless(daemons, &id, found);
    assert_int_equal(daemon_stop(&daemons->all[worker], SIGKILL), 128 + SIGKILL);
    assert_ranks_gone(found, RANKS);
    assert_lost(daemons, id);
    assert_int_equal(models(daemons), before);
    assert_nothing_left(daemons, worker);
}

/* Its ranks wait for the next steps that it authorises. There are none, because the
 * worker is fenced. */
static void a_worker_that_slept_ends_its_ranks_when_it_wakes(void **state)
{
    struct daemons *daemons = *state;
    const char *id;
    pid_t found[RANKS];
    unsigned before = models(daemons);
    size_t worker = begin_endless(daemons, &id, found);
    assert_int_equal(kill(daemons->all[worker].pid, SIGSTOP), 0);
    assert_lost(daemons, id);
    assert_int_equal(kill(daemons->all[worker].pid, SIGCONT), 0);
    assert_int_equal(daemon_wait(&daemons->all[worker]), 75);
    assert_ranks_gone(found, RANKS);
    assert_lost(daemons, id); /* unchanged */
    assert_int_equal(models(daemons), before);
    assert_nothing_left(daemons, worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_of_a_worker_train_a_model),
        cmocka_unit_test(a_worker_that_is_killed_takes_its_ranks_with_it),
        cmocka_unit_test(a_worker_that_slept_ends_its_ranks_when_it_wakes),
    };
    if (!ranks_can_start()) {
        skip_part("no mpirun, or a sanitizer");
        return 0;
    }
    return daemons_can_start() ? cmocka_run_group_tests(tests, begin, daemons_end) : 0;
}
