/* Goal: an operator's command is started unchanged, without a shell and without the
 * daemon's files and secrets, and can be talked to and ended whatever it does. Method:
 * small programs in its place. */
#include "service/runs/rank_launcher.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/expect.h"

enum { LINE_SIZE = 256 };

static const atomic_bool never;

static double now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Starts a shell script as the launcher. */
static struct rank_launcher start(const char *script)
{
    char shell[] = "/bin/sh", run[] = "-c", *text = strdup(script);
    char *words[] = {shell, run, text, NULL};
    struct rank_launcher launcher;
    assert_int_equal(rank_launcher_start(&launcher, words, NULL), ST_OK);
    free(text);
    return launcher;
}

static void a_command_is_words_with_the_number_of_ranks(void **state)
{
    (void)state;
    static const char *const expected[] = {
        "mpirun", "-n", "12", "--x=12y", "$(id)", "'a", "b'", "epsilond-rank", NULL};
    char **words =
        rank_words("  mpirun -n {ranks}\t--x={ranks}y $(id) 'a b'  epsilond-rank ", 12);
    for (size_t i = 0; expected[i] != NULL; i++)
        assert_string_equal(words[i], expected[i]);
    assert_null(words[8]);
    rank_words_free(words);
    words = rank_words("", 2);
    assert_null(words[0]);
    struct rank_launcher launcher;
    assert_int_equal(rank_launcher_start(&launcher, words, NULL), ST_INTERNAL);
    assert_false(rank_launcher_end(&launcher, 0));
    rank_words_free(words);
}

static void one_that_is_not_there_is_said(void **state)
{
    (void)state;
    struct error error = {0};
    struct rank_launcher launcher;
    char **words = rank_words("/no/such/mpirun {ranks}", 2);
    assert_int_equal(rank_launcher_start(&launcher, words, &error), ST_INTERNAL);
    assert_non_null(strstr(error.text, "/no/such/mpirun"));
    assert_false(rank_launcher_end(&launcher, 0));
    rank_words_free(words);
}

static void lines_go_there_and_come_back(void **state)
{
    (void)state;
    char line[LINE_SIZE];
    struct rank_launcher launcher = start("cat");
    assert_int_equal(rank_launcher_write(&launcher, "one\ntwo\n", 8, &never, NULL),
                     ST_OK);
    assert_int_equal(rank_launcher_read(&launcher, line, sizeof line, &never, NULL),
                     ST_OK);
    assert_string_equal(line, "one");
    assert_int_equal(rank_launcher_read(&launcher, line, sizeof line, &never, NULL),
                     ST_OK);
    assert_string_equal(line, "two");
    assert_true(rank_launcher_end(&launcher, 5000)); /* its input ends */
}

/* Open files of this process, and variables that may hold secrets. */
static void it_inherits_no_file_and_no_secret(void **state)
{
    (void)state;
    char line[LINE_SIZE];
    int null = open("/dev/null", O_RDONLY);
    int file = fcntl(null, F_DUPFD, 40); /* inherited unless it is closed */
    close(null);
    assert_true(file >= 40 && file < 60);
    setenv("EPSILOND_STORE", "postgresql://u:secret@h/d", 1);
    setenv("PGPASSWORD", "secret", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
    setenv("SLURM_JOB_ID", "7", 1);
    struct rank_launcher launcher =
        start("echo \"$EPSILOND_STORE$PGPASSWORD$AWS_SECRET_ACCESS_KEY,$SLURM_JOB_ID,$("
              "for f in $(seq 40 60); do [ -e /proc/$$/fd/$f ] && echo $f; done)\"");
    assert_int_equal(rank_launcher_read(&launcher, line, sizeof line, &never, NULL),
                     ST_OK);
    assert_string_equal(line, ",7,");
    rank_launcher_end(&launcher, 5000);
    close(file);
}

/* Reads the report of a script that may be silent for three seconds: a loaded machine
 * stops a script for one. */
static enum status read_patiently(const char *script, char line[LINE_SIZE],
                                  struct error *error)
{
    struct rank_launcher launcher = start(script);
    launcher.silence_s = 3;
    enum status status = rank_launcher_read(&launcher, line, LINE_SIZE, &never, error);
    rank_launcher_end(&launcher, 0);
    return status;
}

static void one_that_was_heard_must_be_heard_again(void **state)
{
    (void)state;
    char line[LINE_SIZE];
    struct error error = {0};
    assert_int_equal(read_patiently("echo; sleep 90", line, &error), ST_INTERNAL);
    assert_string_equal(error.text, "the ranks were silent for 3 s");
    assert_int_equal(read_patiently("for i in $(seq 16); do echo; sleep 0.25; done; "
                                    "echo report; sleep 90",
                                    line, NULL),
                     ST_OK);
    assert_string_equal(line, "report");
}

/* A queue of Slurm may be long, so a launcher may wait before its first report; a
 * stopped launcher is in no queue. */
static void one_that_was_not_heard_yet_may_wait_unless_it_is_stopped(void **state)
{
    (void)state;
    char line[LINE_SIZE];
    struct error error = {0};
    assert_int_equal(read_patiently("sleep 3; echo report", line, NULL), ST_OK);
    assert_int_equal(read_patiently("kill -STOP $$; echo report", line, &error),
                     ST_INTERNAL);
    assert_string_equal(error.text, "the ranks were silent for 3 s");
}

/* Its folder exists only while it runs. */
static void it_is_given_a_folder_that_goes_with_it(void **state)
{
    (void)state;
    char line[LINE_SIZE];
    setenv("TMPDIR", "/tmp/of-somebody", 1);
    struct rank_launcher launcher = start(
        "echo $OMPI_MCA_btl_vader_backing_directory,$TMPDIR,$(stat -c %a $TMPDIR); "
        "echo made >$TMPDIR/segment; sleep 90");
    assert_int_equal(rank_launcher_read(&launcher, line, sizeof line, &never, NULL),
                     ST_OK);
    char expected[LINE_SIZE], folder[RANK_MEMORY_PATH_SIZE];
    memcpy(folder, launcher.memory.path, sizeof folder);
    snprintf(expected, sizeof expected, "%s,%s,700", folder, folder);
    assert_string_equal(line, expected);
    assert_int_equal(access(folder, F_OK), 0);
    rank_launcher_end(&launcher, 0);
    assert_int_equal(access(folder, F_OK), -1);
    unsetenv("TMPDIR");
}

static void one_that_ends_too_soon_or_babbles_is_said(void **state)
{
    (void)state;
    char line[LINE_SIZE];
    struct rank_launcher launcher = start("exit 3");
    assert_int_equal(rank_launcher_read(&launcher, line, sizeof line, &never, NULL),
                     ST_INTERNAL);
    assert_false(rank_launcher_end(&launcher, 5000));
    launcher = start("yes | tr -d '\\n'");
    assert_int_equal(rank_launcher_read(&launcher, line, sizeof line, &never, NULL),
                     ST_INTERNAL);
    assert_false(rank_launcher_end(&launcher, 0));
}

/* The script reads nothing, and the text is larger than a pipe. */
static void neither_reading_nor_writing_outlasts_a_cancellation(void **state)
{
    (void)state;
    enum { LONG = 1 << 20 };
    char line[LINE_SIZE], *text = calloc(1, LONG);
    atomic_bool cancelled = true;
    struct rank_launcher launcher = start("sleep 90");
    assert_int_equal(rank_launcher_read(&launcher, line, sizeof line, &cancelled, NULL),
                     ST_CANCELLED);
    assert_int_equal(rank_launcher_write(&launcher, text, LONG, &cancelled, NULL),
                     ST_CANCELLED);
    double begun = now_s();
    assert_false(rank_launcher_end(&launcher, 0));
    assert_true(now_s() - begun < 60);
    free(text);
}

/* The launcher and the process that it leaves behind ignore SIGTERM. */
static void one_that_will_not_end_is_killed_with_its_group(void **state)
{
    (void)state;
    char line[LINE_SIZE];
    struct rank_launcher launcher =
        start("trap '' TERM; (trap '' TERM; exec sleep 90) & echo $!; wait; sleep 90");
    assert_int_equal(rank_launcher_read(&launcher, line, sizeof line, &never, NULL),
                     ST_OK);
    pid_t left = (pid_t)atoi(line);
    assert_int_equal(kill(left, 0), 0);
    assert_false(rank_launcher_end(&launcher, 0));
    char path[64], how = 'Z';
    snprintf(path, sizeof path, "/proc/%d/stat", left);
    for (int waited = 0; waited < 6000; waited++) {
        FILE *file = fopen(path, "r");
        if (file == NULL || fscanf(file, "%*d (%*[^)]) %c", &how) != 1)
            how = 'Z';
        if (file != NULL)
            fclose(file);
        if (how == 'Z')
            break;
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    assert_int_equal(how, 'Z');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_is_words_with_the_number_of_ranks),
        cmocka_unit_test(one_that_is_not_there_is_said),
        cmocka_unit_test(lines_go_there_and_come_back),
        cmocka_unit_test(it_inherits_no_file_and_no_secret),
        cmocka_unit_test(one_that_was_heard_must_be_heard_again),
        cmocka_unit_test(one_that_was_not_heard_yet_may_wait_unless_it_is_stopped),
        cmocka_unit_test(it_is_given_a_folder_that_goes_with_it),
        cmocka_unit_test(one_that_ends_too_soon_or_babbles_is_said),
        cmocka_unit_test(neither_reading_nor_writing_outlasts_a_cancellation),
        cmocka_unit_test(one_that_will_not_end_is_killed_with_its_group),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
