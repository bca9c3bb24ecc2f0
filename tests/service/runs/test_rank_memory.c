/* Goal: the folder of ranks is readable only by its user, is removed with its job, and
 * at the next sweep if its daemon was killed; no other folder is. Method: real folders
 * of /dev/shm; a child process that makes one and dies. */
#include "service/runs/rank_memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/expect.h"
#include "tests/service/service_fixture.h"

static unsigned sweeps;

void __real_rank_memory_sweep(void);
void __wrap_rank_memory_sweep(void);
void __wrap_rank_memory_sweep(void)
{
    sweeps++;
    __real_rank_memory_sweep();
}

static bool is_there(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

/* Puts a file into a subfolder, as Open MPI does. */
static void fill(const struct rank_memory *memory)
{
    char path[128];
    snprintf(path, sizeof path, "%s/session", memory->path);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/session/vader_segment.0", memory->path);
    int file = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(file >= 0);
    close(file);
}

static void a_folder_is_its_users_and_goes_with_all_that_is_in_it(void **state)
{
    (void)state;
    struct rank_memory memory, other;
    struct stat info;
    assert_int_equal(rank_memory_make(&memory, NULL), ST_OK);
    assert_int_equal(rank_memory_make(&other, NULL), ST_OK);
    assert_string_not_equal(memory.path, other.path);
    assert_int_equal(strncmp(memory.path, "/dev/shm/", 9), 0);
    assert_int_equal(stat(memory.path, &info), 0);
    assert_int_equal(info.st_mode, S_IFDIR | 0700);
    fill(&memory);
    char path[RANK_MEMORY_PATH_SIZE];
    memcpy(path, memory.path, sizeof path);
    rank_memory_remove(&memory);
    assert_false(is_there(path));
    assert_true(is_there(other.path));
    rank_memory_remove(&other);
    rank_memory_remove(&other); /* it is gone already */
}

enum { TRIES = 5000 }; /* sweeps, a millisecond apart: only for a hang */

/* The folder is looked at while its process lives: once it is dead, the start of any
 * other daemon on this machine may take it, and locks it meanwhile. */
static void a_sweep_takes_what_a_dead_process_left_and_no_more(void **state)
{
    (void)state;
    struct rank_memory ours, left = {.path = ""};
    int from[2], to[2], code;
    assert_int_equal(rank_memory_make(&ours, NULL), ST_OK);
    assert_int_equal(pipe(from) + pipe(to), 0);
    pid_t child = fork();
    if (child == 0) {
        char end;
        close(to[1]);
        bool made = rank_memory_make(&left, NULL) == ST_OK &&
                    write(from[1], left.path, sizeof left.path) == sizeof left.path;
        _exit(made && read(to[0], &end, 1) == 0 ? 0 : 1);
    }
    close(to[0]);
    assert_int_equal(read(from[0], left.path, sizeof left.path), sizeof left.path);
    fill(&left);
    rank_memory_sweep();
    assert_true(is_there(left.path));
    close(to[1]);
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_int_equal(code, 0);
    close(from[0]);
    close(from[1]);
    for (int i = 0; i < TRIES && is_there(left.path); i++) {
        rank_memory_sweep();
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    assert_false(is_there(left.path));
    assert_true(is_there(ours.path));
    rank_memory_remove(&ours);
}

/* Any user may create a name in /dev/shm. */
static void a_sweep_follows_no_link_and_takes_no_file(void **state)
{
    (void)state;
    char folder[] = "/dev/shm/epsilond-test-XXXXXX", link[64], file[64], inside[64];
    assert_non_null(mkdtemp(folder));
    snprintf(inside, sizeof inside, "%s/kept", folder);
    snprintf(link, sizeof link, "/dev/shm/epsilond-ranks-link%d", (int)getpid());
    snprintf(file, sizeof file, "/dev/shm/epsilond-ranks-file%d", (int)getpid());
    close(open(inside, O_WRONLY | O_CREAT, 0600));
    close(open(file, O_WRONLY | O_CREAT, 0600));
    assert_int_equal(symlink(folder, link), 0);
    rank_memory_sweep();
    assert_true(is_there(inside) && is_there(link) && is_there(file));
    assert_int_equal(unlink(link) + unlink(file) + unlink(inside) + rmdir(folder), 0);
}

/* The end-to-end test cannot show which daemon of this machine removed the folder. */
static void every_start_sweeps(void **state)
{
    (void)state;
    struct scene scene;
    const unsigned before = sweeps;
    scene_open(&scene);
    assert_int_equal(sweeps, before + 1);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folder_is_its_users_and_goes_with_all_that_is_in_it),
        cmocka_unit_test(a_sweep_takes_what_a_dead_process_left_and_no_more),
        cmocka_unit_test(a_sweep_follows_no_link_and_takes_no_file),
        cmocka_unit_test(every_start_sweeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
