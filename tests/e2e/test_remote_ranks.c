/* Goal: a job of two ranks, each of which ssh starts on another host, is trained and charged as
 * any is; one that is cancelled leaves no process on the hosts; a rank there that is killed or
 * stopped ends the job with its charge standing, and a host that does not show its key before
 * anything is charged. Method: the real daemon, mpirun, sshd and ssh, by the settings of
 * deploy/kubernetes/ranks; both hosts are this machine (tests/ssh_fixture.h). The launcher is a
 * script that shortens the two minutes of the plan where a rank is to be stopped. Its program
 * is a copy, by which its processes are found. Where there is no mpirun or no sshd it says that
 * it is skipped. */
#include "tests/expect.h"

#include "tests/e2e/rank_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/ssh_fixture.h"

enum { RANKS = SSH_HOSTS, FEW_STEPS = 40, ENDLESS_STEPS = 1000000 };

#define JOB                                                                            \
    "{'dataset':'digits','model':{'preset':'linear'},'algorithm':{'name':'dpsgd'},"    \
    "'batch_size':512,'steps':%d,'ranks':2,'privacy':{'noise_multiplier':%g}}"

static struct ssh_hosts hosts;
static char program[96]; /* of the ranks */

static void write_launcher(const char *path, const char *folder)
{
    char mpirun[1024];
    ssh_mpirun(&hosts, "\"$1\"", mpirun, sizeof mpirun);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "#!/bin/bash\nrank=(%s %s/epsilond rank)\n"
            "[ -e %s/hasty ] || exec \"${rank[@]}\"\n"
            "exec \"${rank[@]}\" < \\\n"
            "    <(exec sed -u 's/\"patience_s\":120,/\"patience_s\":  3,/')\n",
            mpirun, folder, folder);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0700), 0);
}

static int begin(void **state)
{
    static char launcher[128];
    if (!ssh_can_start())
        return 0;
    ssh_hosts_begin(&hosts);
    struct stage *stage = calloc(1, sizeof *stage);
    assert_non_null(stage);
    *state = stage;
    daemon_init(&stage->daemon);
    client_init(&stage->client, &stage->daemon);
    const char *folder = stage->daemon.directory;
    ssh_shell("cp \"$EPSILOND\" %s/epsilond && cp \"$EPSILOND-rank\" %s/epsilond-rank",
              folder, folder);
    snprintf(program, sizeof program, "%s/epsilond-rank", folder);
    snprintf(launcher, sizeof launcher, "%s/launcher", folder);
    write_launcher(launcher, folder);
    strcat(launcher, " {ranks}");
    daemon_start(&stage->daemon,
                 (const char *const[]){"--workers", "1", "--threads", "1",
                                       "--ranks-launcher", launcher, "--ranks-max", "2",
                                       NULL});
    ready_digits(&stage->client, "digits", SAMPLE_TRAIN, SAMPLE_BUDGET(8));
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
    assert_true(json_is_null(reply_at(job, "model")));
    assert_int_equal(daemon_verify(&((struct stage *)*state)->daemon), 0);
}

static void assert_charged(const struct reply *job)
{
    double authorised = reply_number(job, "privacy.authorised_steps");
    assert_true(authorised >= ENDLESS_STEPS / 100.0 && authorised < ENDLESS_STEPS);
    assert_true(reply_number(job, "privacy.epsilon_spent") > 0);
}

/* The job, once it has taken steps, and its processes, which ssh has started. */
static const char *begin_endless(struct client *client, pid_t found[RANKS])
{
    const char *id = submit(client, JOB, ENDLESS_STEPS, 3000.0);
    await_training(client, id);
    assert_int_equal(find_processes(program, found, RANKS), RANKS);
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
    const struct reply *job = train(client, JOB, FEW_STEPS, 8.0);
    assert_true(reply_number(job, "privacy.authorised_steps") == FEW_STEPS);
    const struct reply *model = model_of(client, job);
    assert_true(reply_number(model, "certificate.ranks") == RANKS);
    assert_true(reply_number(model, "certificate.steps") == FEW_STEPS);
    assert_int_equal(find_processes(program, NULL, 0), 0);
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
    assert_charged(job);
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
    assert_charged(job);
    assert_ranks_gone(found, RANKS);
}

static void a_rank_that_is_killed_ends_the_job_which_stays_charged(void **state)
{
    lose_a_rank(state, SIGKILL);
}

static void a_rank_that_is_stopped_ends_the_job_which_stays_charged(void **state)
{
    struct client *client = ranks_client(*state);
    ssh_shell("touch %s/hasty", client->daemon->directory);
    lose_a_rank(state, SIGSTOP);
    ssh_shell("rm %s/hasty", client->daemon->directory);
    assert_true(daemon_logged(client->daemon, "rank_missed"));
}

/* Last: from here on the hosts are not known. */
static void a_host_with_another_key_gets_nothing(void **state)
{
    struct client *client = ranks_client(*state);
    ssh_shell("cd %s && (printf 'epsilond-ranks ' && cat user.pub) >known_hosts",
              hosts.folder);
    const char *id = submit(client, JOB, FEW_STEPS, 8.0);
    const struct reply *job = await_end(client, id);
    assert_ends(state, job, "FAILED", "rank_lost");
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
