/* Goal: deploy/kubernetes/mpijob/launch makes an MPIJob for a job of ranks, connects
 * its launcher and the daemon, and removes it however the job ends; the launcher's
 * command starts ranks on the workers with the key that the MPI operator makes; and
 * losing a rank, or the daemon, ends the job as it ends any other. Method: the real
 * daemon, script, mpirun, sshd and ssh, with the settings of that folder. A program of
 * this folder replaces kubectl, the cluster and the operator, so the test shows nothing
 * about a real cluster. If mpirun or sshd is missing it is skipped with that reason. */
#include "tests/expect.h"

#include "tests/e2e/launcher_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/ssh_fixture.h"

enum { TRIES = 600 };

static struct ssh_hosts hosts;

/* Makes the environment of the pod: its programs, its name, and settings for two hosts
 * on loopback. */
static void make_pod(void)
{
    char path[4096];
    launcher_copy_programs(hosts.folder);
    ssh_shell("mkdir %s/bin && ln -s \"$PWD/tests/e2e/kubectl\" %s/bin/kubectl",
              hosts.folder, hosts.folder);
    snprintf(path, sizeof path, "%s/bin:%s", hosts.folder, getenv("PATH"));
    setenv("PATH", path, 1);
    setenv("STAND_IN", hosts.folder, 1);
    setenv("POD_UID", "00000000-0000-0000-0000-000000000000", 1);
    setenv("HOSTNAME", "epsilond-0", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    setenv("OMPI_MCA_oob_tcp_if_include", "lo", 1);
    setenv("OMPI_MCA_btl_tcp_if_include", "lo", 1);
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 1);
}

static int begin(void **state)
{
    if (!ssh_can_start())
        return 0;
    ssh_hosts_begin_with(&hosts, "deploy/kubernetes/mpijob");
    make_pod();
    stage_begin_with(state, (const char *const[]){
                                "--workers", "1", "--threads", "1", "--ranks-launcher",
                                "deploy/kubernetes/mpijob/launch {ranks}",
                                "--ranks-max", "2", NULL});
    ready_digits(&((struct stage *)*state)->client, "digits", SAMPLE_TRAIN,
                 SAMPLE_BUDGET(8));
    return 0;
}

static int finish(void **state)
{
    if (*state == NULL)
        return 0;
    ssh_hosts_end(&hosts);
    return stage_end(state);
}

/* Asserts that each MPIJob is removed within half a minute. */
static void assert_removed(void)
{
    char command[96];
    snprintf(command, sizeof command, "[ -z \"$(ls %s/jobs)\" ]", hosts.folder);
    for (int k = 0; k < TRIES && system(command) != 0; k++)
        nanosleep(&(struct timespec){0, 50000000}, NULL);
    assert_int_equal(system(command), 0);
}

/* Submits a job, waits until it has taken steps, and finds its processes, which ssh has
 * started. */
static const char *begin_endless(struct client *client, pid_t found[RANKS])
{
    const char *id = submit(client, RANKS_JOB, ENDLESS_STEPS, 3000.0);
    await_training(client, id);
    find_launched(hosts.folder, found);
    ssh_shell("[ \"$(ls %s/jobs | wc -l)\" = 1 ]", hosts.folder);
    for (int k = 0; k < RANKS; k++)
        ssh_shell("grep -qz '^SSH_CONNECTION=' /proc/%d/environ", (int)found[k]);
    return id;
}

static void the_workers_of_an_mpijob_train_a_model(void **state)
{
    struct client *client = ranks_client(*state);
    const struct reply *job = train(client, RANKS_JOB, FEW_STEPS, 8.0);
    assert_true(reply_number(job, "privacy.authorised_steps") == FEW_STEPS);
    assert_true(reply_number(model_of(client, job), "certificate.ranks") == RANKS);
    assert_removed();
    assert_int_equal(daemon_verify(&((struct stage *)*state)->daemon), 0);
}

static void the_mpijob_of_a_cancelled_job_is_removed(void **state)
{
    pid_t found[RANKS];
    struct client *client = ranks_client(*state);
    const char *id = begin_endless(client, found);
    cancel(client, id);
    const struct reply *job = await_end(client, id);
    assert_string_equal(reply_text(job, "state"), "CANCELLED");
    assert_charged_in_part(job);
    assert_ranks_gone(found, RANKS);
    assert_removed();
}

static void a_rank_that_is_killed_ends_the_job_which_stays_charged(void **state)
{
    pid_t found[RANKS];
    struct client *client = ranks_client(*state);
    const char *id = begin_endless(client, found);
    assert_int_equal(kill(found[RANKS - 1], SIGKILL), 0);
    const struct reply *job = await_end(client, id);
    assert_string_equal(reply_text(job, "state"), "FAILED");
    assert_string_equal(reply_text(job, "state_reason"), "rank_lost");
    assert_charged_in_part(job);
    assert_ranks_gone(found, RANKS);
    assert_removed();
}

/* This test is last. The script removes what it made when its standard input ends. */
static void the_mpijob_of_a_daemon_that_is_killed_ends_and_is_removed(void **state)
{
    pid_t found[RANKS];
    begin_endless(ranks_client(*state), found);
    daemon_stop(&((struct stage *)*state)->daemon, SIGKILL);
    assert_ranks_gone(found, RANKS);
    assert_removed();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_workers_of_an_mpijob_train_a_model),
        cmocka_unit_test(the_mpijob_of_a_cancelled_job_is_removed),
        cmocka_unit_test(a_rank_that_is_killed_ends_the_job_which_stays_charged),
        cmocka_unit_test(the_mpijob_of_a_daemon_that_is_killed_ends_and_is_removed),
    };
    return cmocka_run_group_tests(tests, begin, finish);
}
