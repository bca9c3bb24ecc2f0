/*
 * kill_fixture.h - kills this program with SIGKILL at the n-th of the calls that make
 * something durable: fsync, fdatasync, rename, unlink, and the send of a COMMIT to a
 * server. fsync and fdatasync do nothing here, because what a process has written
 * outlives the process. Each of the last three calls counts twice: before it is made
 * and after. The test runs the code that may be killed in a child, and kills it at each
 * of these moments in turn. Include it after tests/expect.h, in one file of a program.
 */
#ifndef TESTS_KILL_FIXTURE_H
#define TESTS_KILL_FIXTURE_H

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KILL_CALLS_MAX = 1024 };

static unsigned kill_at; /* 0: never */
/* The moments passed so far, one letter each: s(ync), r(ename) or unlink, c(ommit). The
 * memory may outlive the process. */
static char *kill_passed; /* (KILL_CALLS_MAX), or NULL */

static inline void kill_pass(char call)
{
    if (kill_passed == NULL)
        return;
    size_t passed = strlen(kill_passed);
    assert_true(passed + 1 < KILL_CALLS_MAX);
    kill_passed[passed] = call;
    if (passed + 1 == kill_at)
        raise(SIGKILL);
}

int fsync(int file)
{
    (void)file;
    kill_pass('s');
    return 0;
}

int fdatasync(int file)
{
    (void)file;
    kill_pass('s');
    return 0;
}

int rename(const char *from, const char *to)
{
    kill_pass('r');
    int answer = (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
    kill_pass('r');
    return answer;
}

int unlink(const char *path)
{
    if (access(path, F_OK) != 0)
        return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    kill_pass('r');
    int answer = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    kill_pass('r');
    return answer;
}

ssize_t send(int socket, const void *words, size_t size, int flags)
{
    /* A query that begins or ends with COMMIT, in libpq's message format. */
    const char *text = words;
    bool commits = size >= 12 && text[0] == 'Q' &&
                   (memcmp(text + 5, "COMMIT", 6) == 0 ||
                    memcmp(text + size - 7, "COMMIT", 6) == 0);
    if (commits)
        kill_pass('c');
    ssize_t answer = syscall(SYS_sendto, socket, words, size, flags, NULL, 0);
    if (commits)
        kill_pass('c');
    return answer;
}

static inline void kill_silence(void)
{
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    close(null);
}

static char *kill_memory; /* a child's kill_passed, readable after its death */

/* Runs act in a child that prints nothing and dies at moment number `at`. With `at` 0
 * the child is not killed, and act must succeed. */
static inline void kill_child(unsigned at, bool (*act)(void *context), void *context)
{
    int code;
    fflush(NULL);
    memset(kill_memory, 0, KILL_CALLS_MAX);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        kill_silence();
        kill_passed = kill_memory;
        kill_at = at;
        _exit(act(context) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &code, 0), child);
    if (at == 0)
        assert_true(WIFEXITED(code) && WEXITSTATUS(code) == 0);
    else
        assert_true(WIFSIGNALED(code) && WTERMSIG(code) == SIGKILL);
}

/* One life: runs a child that is killed at moment `at`, or at 0 not at all. Returns
 * whether the child had completed its operation. */
typedef bool kill_life(bool on_server, unsigned at);

/* Lives one life without a kill, then one for each of its moments, or for every
 * stride-th. The operation must be incomplete at some of these moments and complete at
 * others. */
static inline void kill_everywhere(kill_life *live, bool on_server, unsigned stride)
{
    unsigned over = 0, moments = 0;
    char calls[KILL_CALLS_MAX];
    kill_memory = mmap(NULL, KILL_CALLS_MAX, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(kill_memory != MAP_FAILED);
    assert_true(live(on_server, 0));
    memcpy(calls, kill_memory, sizeof calls);
    for (size_t at = 1; at <= strlen(calls); at += stride, moments++)
        over += live(on_server, (unsigned)at);
    print_message("%s: %u moments, %u after it was over\n", calls, moments, over);
    assert_true(over >= 1 && over < moments);
    munmap(kill_memory, KILL_CALLS_MAX);
    kill_memory = NULL;
}

#endif
