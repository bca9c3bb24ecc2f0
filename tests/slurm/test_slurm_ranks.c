/* Goal: a job of two ranks, which srun starts on two Slurm nodes, is trained and
 * charged as any other; a cancelled one leaves no process and nothing in Slurm's queue;
 * one that loses a rank, or the daemon, ends and stays charged; one that waits in the
 * queue is charged nothing. Method: the real daemon, srun and Slurm
 * (tests/slurm/check), with the launcher of docs/ranks.md 8. It is in a script, which
 * shortens the two minutes of the plan for tests that stop a rank. Its program is a
 * copy, whose path identifies its processes. */
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/expect.h"
#include "tests/e2e/launcher_fixture.h"
#include "tests/e2e/sample_fixture.h"

enum { TRIES = 1200, STARTS = 3 };

static int begin(void **state)
{
    setenv("OMPI_MCA_btl_tcp_if_include", "lo", 1);
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 1);
    launcher_begin(state, "srun -n \"$1\" --ntasks-per-node=1 --mpi=pmix --input=0 "
                          "--kill-on-bad-exit=1");
    return 0;
}

static struct client *client_of(void **state)
{
    return &((struct stage *)*state)->client;
}

/* Waits until the command succeeds. */
static void await(const char *command)
{
    for (int k = 0; k < TRIES; k++) {
        if (system(command) == 0)
            return;
        nanosleep(&(struct timespec){0, 50000000}, NULL);
    }
    fail_msg("never so: %s", command);
}

/* Asserts that both nodes become free, and that no job waits for them. */
static void assert_queue_empty(void)
{
    await("[ -z \"$(squeue --noheader)\" ]");
}

/* Returns whether the job takes steps. Open MPI itself sometimes fails to start over
 * TCP (docs/ranks.md 8): such a job ends uncharged. */
static bool has_begun(struct client *client, const char *id)
{
    for (;;) {
        const struct reply *job = client_get(client, "/v1/jobs/%s", id);
        if (reply_number(job, "privacy.authorised_steps") > 0)
            return true;
        if (strcmp(reply_text(job, "state"), "FAILED") == 0) {
            print_message("Open MPI did not start\n");
            assert_string_equal(reply_text(job, "state_reason"), "rank_lost");
            assert_true(reply_number(job, "privacy.epsilon_spent") == 0);
            return false;
        }
        nanosleep(&(struct timespec){0, 50000000}, NULL);
    }
}

static const char *begin_job(struct client *client, int steps, double noise)
{
    for (int k = 0; k < STARTS; k++) {
        const char *id = submit(client, RANKS_JOB, steps, noise);
        if (has_begun(client, id))
            return id;
    }
    fail_msg("no job begins");
    return NULL;
}

/* Submits a job, waits until it has taken steps, and finds its processes, one on each
 * node. */
static const char *begin_endless(struct client *client, pid_t found[RANKS])
{
    const char *id = begin_job(client, ENDLESS_STEPS, 3000.0);
    find_launched(client->daemon->directory, found);
    assert_int_equal(
        system("[ \"$(squeue --noheader --format='%D %T')\" = '2 RUNNING' ]"), 0);
    return id;
}

static void assert_lost(void **state, const struct reply *job)
{
    assert_string_equal(reply_text(job, "state"), "FAILED");
    assert_string_equal(reply_text(job, "state_reason"), "rank_lost");
    assert_charged_in_part(job);
    assert_int_equal(daemon_verify(&((struct stage *)*state)->daemon), 0);
}

static void ranks_on_two_nodes_train_a_model_at_its_price(void **state)
{
    struct client *client = client_of(state);
    const struct reply *estimate =
        client_post(client, "/v1/jobs:estimate", NULL, RANKS_JOB, FEW_STEPS, 8.0);
    assert_status(estimate, 200);
    const struct reply *job = await_success(client, begin_job(client, FEW_STEPS, 8.0));
    assert_true(reply_number(job, "privacy.authorised_steps") == FEW_STEPS);
    assert_close(reply_number(job, "privacy.epsilon_spent"),
                 reply_number(estimate, "epsilon_planned"), 1e-14);
    const struct reply *model = model_of(client, job);
    assert_true(reply_number(model, "certificate.ranks") == RANKS);
    assert_true(reply_number(model, "certificate.steps") == FEW_STEPS);
    assert_none_launched(client->daemon->directory);
    assert_queue_empty();
    assert_int_equal(daemon_verify(&((struct stage *)*state)->daemon), 0);
}

static void a_cancelled_job_leaves_no_process_and_no_place_in_the_queue(void **state)
{
    pid_t found[RANKS];
    struct client *client = client_of(state);
    const char *id = begin_endless(client, found);
    cancel(client, id);
    const struct reply *job = await_end(client, id);
    assert_string_equal(reply_text(job, "state"), "CANCELLED");
    assert_charged_in_part(job);
    assert_ranks_gone(found, RANKS);
    assert_queue_empty();
}

static void lose_each_rank(void **state, int signal)
{
    struct client *client = client_of(state);
    for (int k = 0; k < RANKS; k++) {
        pid_t found[RANKS];
        const char *id = begin_endless(client, found);
        assert_int_equal(kill(found[k], signal), 0);
        assert_lost(state, await_end(client, id));
        assert_ranks_gone(found, RANKS);
        assert_queue_empty();
    }
}

static void a_rank_that_is_killed_ends_the_job_which_stays_charged(void **state)
{
    lose_each_rank(state, SIGKILL);
}

static void a_rank_that_is_stopped_ends_the_job_which_stays_charged(void **state)
{
    struct daemon *daemon = &((struct stage *)*state)->daemon;
    launcher_hasten(*state, true);
    lose_each_rank(state, SIGSTOP);
    launcher_hasten(*state, false);
    assert_true(daemon_logged(daemon, "rank_missed"));
}

static void a_job_that_waits_for_nodes_is_charged_nothing(void **state)
{
    struct client *client = client_of(state);
    pid_t other = fork();
    if (other == 0) {
        execlp("srun", "srun", "--ntasks=1", "sleep", "600", (char *)NULL);
        _exit(127);
    }
    await("[ \"$(squeue --noheader --format=%T)\" = RUNNING ]");
    const char *id = submit(client, RANKS_JOB, ENDLESS_STEPS, 3000.0);
    await("squeue --noheader --format=%T | grep -q PENDING");
    const struct reply *job = client_get(client, "/v1/jobs/%s", id);
    assert_true(reply_number(job, "privacy.authorised_steps") == 0);
    cancel(client, id);
    job = await_end(client, id);
    assert_string_equal(reply_text(job, "state"), "CANCELLED");
    assert_true(reply_number(job, "privacy.epsilon_spent") == 0);
    await("[ \"$(squeue --noheader --format=%T)\" = RUNNING ]");
    assert_int_equal(kill(other, SIGTERM), 0);
    assert_int_equal(waitpid(other, NULL, 0), other);
    assert_queue_empty();
}

static void ranks_outlive_no_daemon(void **state)
{
    pid_t found[RANKS];
    struct stage *stage = *state;
    const char *id = begin_endless(&stage->client, found);
    daemon_stop(&stage->daemon, SIGKILL);
    assert_ranks_gone(found, RANKS);
    assert_queue_empty();
    launcher_start_daemon(stage);
    const struct reply *job = await_end(&stage->client, id);
    assert_string_equal(reply_text(job, "state"), "FAILED");
    assert_charged_in_part(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_on_two_nodes_train_a_model_at_its_price),
        cmocka_unit_test(a_cancelled_job_leaves_no_process_and_no_place_in_the_queue),
        cmocka_unit_test(a_rank_that_is_killed_ends_the_job_which_stays_charged),
        cmocka_unit_test(a_rank_that_is_stopped_ends_the_job_which_stays_charged),
        cmocka_unit_test(a_job_that_waits_for_nodes_is_charged_nothing),
        cmocka_unit_test(ranks_outlive_no_daemon),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
