/* Goal: a stopped rank or mpirun ends the job, and so does a rank with a different
 * matrix or kernel: the charge stays if steps were authorised, and in the other cases
 * the job ends before any are; no process is left running. `epsilond rank` starts the
 * rank program, or reports that there is none. Method: the real daemon, launcher and
 * program, two processes on this machine. The launcher is a script, as an operator may
 * write one, and the faults are in it: it starts the second rank with another BLAS
 * kernel, or in a folder whose matrix has a different byte (the daemon's data directory
 * is named relative to the working directory of a process), or it shortens the two
 * minutes of the plan that it passes on. If mpirun is missing the test is skipped with
 * that reason. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/expect.h"
#include "tests/e2e/rank_fixture.h"
#include "tests/e2e/sample_fixture.h"

#define JOB(model)                                                                     \
    "{'dataset':'digits','model':" model ",'algorithm':{'name':'dpsgd'},"              \
    "'batch_size':256,'steps':%d,'ranks':2,'privacy':{'noise_multiplier':3000}}"
#define LINEAR "{'preset':'linear'}"
#define IMAGES                                                                         \
    "{'input':{'shape':[8,8,1]},'layers':[{'type':'conv2d','out':4,'kernel':4,"        \
    "'stride':4},{'type':'relu'},{'type':'flatten'},{'type':'dense','out':10}]}"

static const char script[] =
    "#!/bin/bash\n"
    "rank=('%s' rank) here='%s'\n"
    "mpirun=(" RANKS_MPIRUN ")\n"
    "case $(cat \"$here/fault\") in\n"
    "none) exec \"${mpirun[@]}\" -n \"$1\" \"${rank[@]}\" ;;\n"
    "stopped) exec \"${mpirun[@]}\" -n \"$1\" \"${rank[@]}\" < \\\n"
    "    <(exec sed -u 's/\"patience_s\":120,/\"patience_s\":  5,/') ;;\n"
    "kernel) exec \"${mpirun[@]}\" -n 1 \"${rank[@]}\" : \\\n"
    "    -n 1 -x OPENBLAS_CORETYPE=Nehalem \"${rank[@]}\" ;;\n"
    "matrix) exec \"${mpirun[@]}\" -n 1 -wdir \"$here\" \"${rank[@]}\" : \\\n"
    "    -n 1 -wdir \"$here/other\" \"${rank[@]}\" ;;\n"
    "esac\n";

static struct daemon *daemon_of(void **state)
{
    return &((struct stage *)*state)->daemon;
}

static int begin(void **state)
{
    static char launcher[128];
    char path[96], before[4096];
    if (!ranks_can_start())
        return 0;
    struct stage *stage = stage_prepare(state);
    assert_non_null(getcwd(before, sizeof before));
    char *binary = realpath(getenv("EPSILOND"), NULL);
    assert_non_null(binary);
    assert_int_equal(setenv("EPSILOND", binary, 1), 0); /* absolute, for any folder */
    assert_int_equal(chdir(stage->daemon.directory), 0);
    strcpy(stage->daemon.data_dir, "/proc/self/cwd/data");
    snprintf(path, sizeof path, "%s/launcher", stage->daemon.directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, script, binary, stage->daemon.directory);
    free(binary);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0700), 0);
    snprintf(launcher, sizeof launcher, "%s {ranks}", path);
    daemon_start(&stage->daemon,
                 (const char *const[]){"--workers", "1", "--threads", "1",
                                       "--ranks-launcher", launcher, NULL});
    assert_int_equal(chdir(before), 0); /* the digits are there */
    ready_digits(&stage->client, "digits", SAMPLE_TRAIN, SAMPLE_BUDGET(8));
    return chdir(stage->daemon.directory);
}

static int finish(void **state)
{
    return *state == NULL ? 0 : stage_end(state);
}

/* Sets the fault of the launcher from now on. */
static void set_fault(const char *fault)
{
    FILE *file = fopen("fault", "w");
    assert_non_null(file);
    fprintf(file, "%s\n", fault);
    assert_int_equal(fclose(file), 0);
}

static const struct reply *await_loss(void **state, const char *id)
{
    struct daemon *daemon = daemon_of(state);
    const struct reply *job = await_end(&((struct stage *)*state)->client, id);
    assert_string_equal(reply_text(job, "state"), "FAILED");
    assert_string_equal(reply_text(job, "state_reason"), "rank_lost");
    assert_true(json_is_null(reply_at(job, "model")));
    assert_int_equal(find_ranks(daemon, NULL, 0), 0);
    assert_int_equal(daemon_verify(daemon), 0);
    return job;
}

static void assert_uncharged(const struct reply *job)
{
    assert_true(reply_number(job, "privacy.authorised_steps") == 0);
    assert_true(reply_number(job, "privacy.epsilon_spent") == 0);
}

static void a_stopped_rank_ends_the_job_which_stays_charged(void **state)
{
    struct client *client = ranks_client(*state);
    set_fault("stopped");
    for (int k = 0; k < RANKS; k++) {
        pid_t found[RANKS];
        const char *id = submit(client, JOB(LINEAR), ENDLESS_STEPS);
        await_training(client, id);
        assert_int_equal(find_ranks(client->daemon, found, RANKS), RANKS);
        assert_int_equal(kill(found[k], SIGSTOP), 0);
        const struct reply *job = await_loss(state, id);
        assert_charged_in_part(job);
        assert_true(daemon_logged(client->daemon, "rank_missed"));
        assert_ranks_gone(found, RANKS);
    }
}

/* The ranks would wait for mpirun's messages, and the daemon for theirs. */
static void a_stopped_mpirun_ends_the_job_which_stays_charged(void **state)
{
    struct client *client = ranks_client(*state);
    pid_t found[RANKS];
    set_fault("none");
    const char *id = submit(client, JOB(LINEAR), ENDLESS_STEPS);
    await_training(client, id);
    assert_int_equal(find_ranks(client->daemon, found, RANKS), RANKS);
    assert_int_equal(kill(launcher_of(found[0]), SIGSTOP), 0);
    assert_charged_in_part(await_loss(state, id));
    assert_true(daemon_logged(client->daemon, "the ranks were silent for"));
    assert_ranks_gone(found, RANKS);
}

static void another_kernel_ends_the_job_before_it_is_charged(void **state)
{
    struct client *client = ranks_client(*state);
#if !defined(__x86_64__)
    skip_because("not a processor of Nehalem's kind");
#endif
    set_fault("kernel");
    assert_uncharged(await_loss(state, submit(client, JOB(IMAGES), ENDLESS_STEPS)));
    assert_true(daemon_logged(client->daemon, "have another BLAS kernel"));
}

static void another_matrix_ends_the_job_before_it_is_charged(void **state)
{
    struct client *client = ranks_client(*state);
    set_fault("matrix");
    assert_int_equal(
        system(
            "mkdir -p other/data/datasets && cd data/datasets && for it in *.matrix; "
            "do "
            "to=../../other/data/datasets/$it && cp \"$it\" \"$to\" && "
            "printf '\\377' | dd of=\"$to\" bs=1 seek=4000 conv=notrunc status=none && "
            "! cmp -s \"$it\" \"$to\" || exit 1; done"),
        0);
    assert_uncharged(await_loss(state, submit(client, JOB(LINEAR), ENDLESS_STEPS)));
    assert_true(daemon_logged(client->daemon, "rank 1: the matrix"));
}

/* A build, or a package, that has only the daemon. */
static void where_there_is_no_such_program_it_is_said(void **state)
{
    (void)state;
    assert_int_equal(system("d=$(mktemp -d) && cp \"$EPSILOND\" \"$d/epsilond\" && "
                            "\"$d/epsilond\" rank 2>\"$d/said\"; [ $? = 69 ] && "
                            "grep -q '/epsilond-rank: No such file' \"$d/said\"; "
                            "code=$?; rm -r \"$d\"; exit $code"),
                     0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stopped_rank_ends_the_job_which_stays_charged),
        cmocka_unit_test(a_stopped_mpirun_ends_the_job_which_stays_charged),
        cmocka_unit_test(another_kernel_ends_the_job_before_it_is_charged),
        cmocka_unit_test(another_matrix_ends_the_job_before_it_is_charged),
        cmocka_unit_test(where_there_is_no_such_program_it_is_said),
    };
    return cmocka_run_group_tests(tests, begin, finish);
}
