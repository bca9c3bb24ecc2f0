/* Goal: a job of two ranks, each of which ssh starts on another host, is trained and
 * charged as any other; a cancelled one leaves no process on the hosts; a rank there
 * that is killed or stopped ends the job, which stays charged; and a host that does not
 * show its key ends it before anything is charged. Method: the real daemon, mpirun,
 * sshd and ssh, with the settings of deploy/kubernetes/ranks; both hosts are this
 * machine (tests/ssh_fixture.h). The launcher is a script that shortens the two minutes
 * of the plan for tests that stop a rank. Its program is a copy, whose path identifies
 * its processes. If mpirun or sshd is missing the test is skipped with that reason. */
#include "tests/expect.h"

#include "tests/e2e/launcher_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/ssh_fixture.h"

static struct ssh_hosts hosts;

static int begin(void **state)
{
    char mpirun[1024];
    if (!ssh_can_start(daemon_sanitizer() != SANITIZER_NONE))
        return 0;
    ssh_hosts_begin(&hosts);
    ssh_mpirun(&hosts, "\"$1\"", mpirun, sizeof mpirun);
    launcher_begin(state, mpirun);
    return 0;
}

static int finish(void **state)
{
    if (*state == NULL)
        return 0;
    ssh_hosts_end(&hosts);
    return stage_end(state);
}

static void assert_ends(void **state, const struct reply *job, const char *how,
                        const char *why)
{
    assert_string_equal(reply_text(job, "state"), how);
    if (why != NULL)
        assert_string_equal(reply_text(job, "state_reason"), why);
    assert_int_equal(daemon_verify(&((struct stage *)*state)->daemon), 0);
}

/* Submits a job, waits until it has taken steps, and finds its processes, which ssh has
 * started. */
static const char *begin_endless(struct client *client, pid_t found[RANKS])
{
    const char *id = submit(client, RANKS_JOB, ENDLESS_STEPS, 3000.0);
    await_training(client, id);
    find_launched(client->daemon->directory, found);
    assert_int_equal(find_ranks(client->daemon, NULL, 0), 0);
    for (int k = 0; k < RANKS; k++)
        ssh_shell("grep -qz '^SSH_CONNECTION=' /proc/%d/environ && "
                  "grep -qzx OMPI_COMM_WORLD_LOCAL_SIZE=1 /proc/%d/environ",
                  (int)found[k], (int)found[k]);
    return id;
}

static void ranks_on_two_hosts_train_a_model(void **state)
{
    struct client *client = ranks_client(*state);
    const struct reply *job = train(client, RANKS_JOB, FEW_STEPS, 8.0);
    assert_true(reply_number(job, "privacy.authorised_steps") == FEW_STEPS);
    const struct reply *model = model_of(client, job);
    assert_true(reply_number(model, "certificate.ranks") == RANKS);
    assert_true(reply_number(model, "certificate.steps") == FEW_STEPS);
    assert_none_launched(client->daemon->directory);
    assert_int_equal(daemon_verify(&((struct stage *)*state)->daemon), 0);
}

static void a_cancelled_job_leaves_no_process_on_the_hosts(void **state)
{
    pid_t found[RANKS];
    struct client *client = ranks_client(*state);
    const char *id = begin_endless(client, found);
    cancel(client, id);
    const struct reply *job = await_end(client, id);
    assert_ends(state, job, "CANCELLED", NULL);
    assert_charged_in_part(job);
    assert_ranks_gone(found, RANKS);
}

static void lose_a_rank(void **state, int signal)
{
    pid_t found[RANKS];
    struct client *client = ranks_client(*state);
    const char *id = begin_endless(client, found);
    assert_int_equal(kill(found[RANKS - 1], signal), 0);
    const struct reply *job = await_end(client, id);
    assert_ends(state, job, "FAILED", "rank_lost");
    assert_charged_in_part(job);
    assert_ranks_gone(found, RANKS);
}

static void a_rank_that_is_killed_ends_the_job_which_stays_charged(void **state)
{
    lose_a_rank(state, SIGKILL);
}

static void a_rank_that_is_stopped_ends_the_job_which_stays_charged(void **state)
{
    struct client *client = ranks_client(*state);
    launcher_hasten(*state, true);
    lose_a_rank(state, SIGSTOP);
    launcher_hasten(*state, false);
    assert_true(daemon_logged(client->daemon, "rank_missed"));
}

/* This test is last: after it ssh does not know the hosts. */
static void a_host_with_another_key_gets_nothing(void **state)
{
    struct client *client = ranks_client(*state);
    ssh_shell("cd %s && (printf 'epsilond-ranks ' && cat user.pub) >known_hosts",
              hosts.folder);
    const char *id = submit(client, RANKS_JOB, FEW_STEPS, 8.0);
    const struct reply *job = await_end(client, id);
    assert_ends(state, job, "FAILED", "rank_lost");
    assert_true(json_is_null(reply_at(job, "model")));
    assert_true(reply_number(job, "privacy.authorised_steps") == 0);
    assert_true(reply_number(job, "privacy.epsilon_spent") == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_on_two_hosts_train_a_model),
        cmocka_unit_test(a_cancelled_job_leaves_no_process_on_the_hosts),
        cmocka_unit_test(a_rank_that_is_killed_ends_the_job_which_stays_charged),
        cmocka_unit_test(a_rank_that_is_stopped_ends_the_job_which_stays_charged),
        cmocka_unit_test(a_host_with_another_key_gets_nothing),
    };
    return cmocka_run_group_tests(tests, begin, finish);
}
