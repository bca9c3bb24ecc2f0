/* Goal: however mpirun fails, its job ends as rank_lost, and no sum without noise is
 * left in the memory of the machine. Method: the real daemon, launcher and program, two
 * processes on this machine; mpirun is killed or ended, a rank hangs and its job is
 * cancelled, the daemon is killed together with its mpirun. The test finds a job's
 * memory through /proc: the names that its ranks map, their ports, and the folder that
 * they were given. If mpirun is missing the test is skipped with that reason. */
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/expect.h"
#include "tests/e2e/rank_fixture.h"
#include "tests/e2e/sample_fixture.h"

enum { PATH_SIZE = 300, LINE_SIZE = 4608, LISTENS = 0x0A };

/* The command of docs/ranks.md for one machine, for root and for few processors. */
#define MPIRUN                                                                         \
    "mpirun --allow-run-as-root --oversubscribe --bind-to none "                       \
    "--mca btl_vader_single_copy_mechanism none --mca mpi_yield_when_idle 1"

static char launcher[1024];
static const char *const options[] = {"--workers",        "1",      "--threads", "1",
                                      "--ranks-launcher", launcher, NULL};

static int begin(void **state)
{
    if (!ranks_can_start())
        return 0;
    snprintf(launcher, sizeof launcher, MPIRUN " -n {ranks} %s-rank",
             getenv("EPSILOND"));
    stage_begin_with(state, options);
    ready_digits(&((struct stage *)*state)->client, "digits", SAMPLE_TRAIN,
                 SAMPLE_BUDGET(8));
    return 0;
}

static int finish(void **state)
{
    return *state == NULL ? 0 : stage_end(state);
}

/* --- a job and its memory --- */

struct running {
    char id[64];
    pid_t ranks[RANKS], mpirun;
    char folder[PATH_SIZE]; /* holds its shared memory */
    /* path of one file of shared memory, which may be deleted */
    char memory[PATH_SIZE];
};

static void read_folder(struct running *running)
{
    static const char name[] = "OMPI_MCA_btl_vader_backing_directory=";
    char path[64], *text = NULL;
    size_t size = 0;
    ssize_t length;
    snprintf(path, sizeof path, "/proc/%d/environ", running->ranks[0]);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    strcpy(running->folder, "/no folder was given");
    while ((length = getdelim(&text, &size, '\0', file)) > 0)
        if (strncmp(text, name, strlen(name)) == 0)
            snprintf(running->folder, PATH_SIZE, "%s", text + strlen(name));
    free(text);
    fclose(file);
}

/* Returns the path in the next line of a process's maps that is shared memory of ranks,
 * without the line's end; NULL if there is none. */
static char *next_memory(FILE *maps, char line[LINE_SIZE])
{
    while (fgets(line, LINE_SIZE, maps) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strstr(line, "_segment.") != NULL)
            return strchr(line, '/');
    }
    return NULL;
}

static FILE *open_maps(pid_t rank)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/maps", rank);
    FILE *maps = fopen(path, "r");
    assert_non_null(maps);
    return maps;
}

static void read_memory(struct running *running)
{
    char line[LINE_SIZE];
    FILE *maps = open_maps(running->ranks[0]);
    char *path = next_memory(maps, line);
    assert_non_null(path);
    snprintf(running->memory, PATH_SIZE, "%s", path);
    running->memory[strcspn(running->memory, " ")] = '\0';
    fclose(maps);
}

/* Returns a job whose ranks have taken steps. */
static struct running begin_job(struct client *client)
{
    struct running running;
    snprintf(running.id, sizeof running.id, "%s",
             submit(client, RANKS_JOB, ENDLESS_STEPS, 3000.0));
    await_training(client, running.id);
    assert_int_equal(find_ranks(client->daemon, running.ranks, RANKS), RANKS);
    running.mpirun = launcher_of(running.ranks[0]);
    read_folder(&running);
    read_memory(&running);
    return running;
}

static void assert_nothing_is_left(const struct running *running)
{
    assert_ranks_gone(running->ranks, RANKS);
    assert_int_equal(access(running->folder, F_OK), -1);
    assert_int_equal(access(running->memory, F_OK), -1);
}

static void assert_lost(struct client *client, const struct running *running)
{
    const struct reply *job = await_end(client, running->id);
    assert_string_equal(reply_text(job, "state"), "FAILED");
    assert_string_equal(reply_text(job, "state_reason"), "rank_lost");
    assert_charged_in_part(job);
    assert_nothing_is_left(running);
}

/* Counts a process's mappings of such memory, and those of them whose file has a
 * name. */
static void count_memory(pid_t rank, unsigned *mapped, unsigned *named)
{
    char line[LINE_SIZE], *path;
    FILE *maps = open_maps(rank);
    *mapped = *named = 0;
    while ((path = next_memory(maps, line)) != NULL) {
        (*mapped)++;
        *named += strstr(path, " (deleted)") == NULL;
    }
    fclose(maps);
}

/* Returns whether a socket with this inode listens. */
static bool listens(unsigned long inode)
{
    static const char *const tables[] = {"/proc/net/tcp", "/proc/net/tcp6"};
    bool found = false;
    for (size_t k = 0; k < 2; k++) {
        char line[512];
        FILE *file = fopen(tables[k], "r");
        while (file != NULL && fgets(line, sizeof line, file) != NULL) {
            unsigned socket_state;
            unsigned long socket;
            if (sscanf(line, "%*s %*s %*s %x %*s %*s %*s %*s %*s %lu", &socket_state,
                       &socket) == 2 &&
                socket == inode && socket_state == LISTENS)
                found = true;
        }
        if (file != NULL)
            fclose(file);
    }
    return found;
}

static unsigned count_ports(pid_t process)
{
    char path[PATH_SIZE], to[64] = "";
    unsigned count = 0;
    unsigned long inode;
    struct dirent *entry;
    snprintf(path, sizeof path, "/proc/%d/fd", process);
    DIR *files = opendir(path);
    assert_non_null(files);
    while ((entry = readdir(files)) != NULL) {
        snprintf(path, sizeof path, "/proc/%d/fd/%s", process, entry->d_name);
        memset(to, 0, sizeof to);
        if (readlink(path, to, sizeof to - 1) > 0 &&
            sscanf(to, "socket:[%lu]", &inode) == 1)
            count += listens(inode);
    }
    closedir(files);
    return count;
}

/* --- the claims --- */

static void what_ranks_exchange_through_has_neither_name_nor_port(void **state)
{
    struct client *client = ranks_client(*state);
    struct running running = begin_job(client);
    struct stat folder;
    assert_int_equal(stat(running.folder, &folder), 0);
    assert_int_equal(folder.st_mode, S_IFDIR | 0700);
    assert_int_equal(strncmp(running.folder, "/dev/shm/", 9), 0);
    for (int k = 0; k < RANKS; k++) {
        unsigned mapped, named;
        count_memory(running.ranks[k], &mapped, &named);
        assert_int_equal(mapped, RANKS);
        assert_int_equal(named, 0);
        assert_int_equal(count_ports(running.ranks[k]), 0);
    }
    assert_true(count_ports(running.mpirun) > 0); /* so that ports would be found */
    cancel(client, running.id);
    await_end(client, running.id);
    assert_nothing_is_left(&running);
}

static void an_mpirun_that_is_killed_or_ended_is_a_lost_rank(void **state)
{
    static const int signals[] = {SIGKILL, SIGTERM, SIGTERM, SIGINT, SIGHUP};
    struct client *client = ranks_client(*state);
    for (size_t k = 0; k < sizeof signals / sizeof *signals; k++) {
        struct running running = begin_job(client);
        assert_int_equal(kill(running.mpirun, signals[k]), 0);
        assert_lost(client, &running);
    }
    assert_int_equal(daemon_verify(&((struct stage *)*state)->daemon), 0);
}

static void a_job_that_hangs_and_is_cancelled_leaves_nothing(void **state)
{
    struct client *client = ranks_client(*state);
    struct running running = begin_job(client);
    assert_int_equal(kill(running.ranks[1], SIGSTOP), 0);
    cancel(client, running.id);
    assert_string_equal(reply_text(await_end(client, running.id), "state"),
                        "CANCELLED");
    assert_nothing_is_left(&running);
}

/* A verify and a start each check the data directory and remove what a killed daemon
 * has left. Any other daemon of this user that starts in the meantime removes it too,
 * so it may be gone already. */
static void verify_and_a_start_remove_the_folder_of_a_killed_daemon(void **state)
{
    struct client *client = ranks_client(*state);
    struct daemon *daemon = &((struct stage *)*state)->daemon;
    for (int with_verify = 1; with_verify >= 0; with_verify--) {
        struct running running = begin_job(client);
        assert_int_equal(kill(running.mpirun, SIGSTOP), 0); /* it would remove files */
        daemon_stop(daemon, SIGKILL);
        assert_int_equal(kill(running.mpirun, SIGKILL), 0);
        assert_ranks_gone(running.ranks, RANKS);
        if (with_verify)
            assert_int_equal(daemon_verify(daemon), 0);
        else
            daemon_start(daemon, options);
        assert_nothing_is_left(&running);
        if (with_verify)
            daemon_start(daemon, options);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_ranks_exchange_through_has_neither_name_nor_port),
        cmocka_unit_test(an_mpirun_that_is_killed_or_ended_is_a_lost_rank),
        cmocka_unit_test(a_job_that_hangs_and_is_cancelled_leaves_nothing),
        cmocka_unit_test(verify_and_a_start_remove_the_folder_of_a_killed_daemon),
    };
    return cmocka_run_group_tests(tests, begin, finish);
}
