/*
 * kill_fixture.h - this program dies, by SIGKILL, at the call of a given number of those
 * that make something durable: fsync and fdatasync, which do nothing here, for what a
 * process has written outlives it; rename and unlink; and a COMMIT that is sent to a
 * server. The last three count twice, before they are made and after. For children of a
 * test. After tests/expect.h; include in one file of a program.
 */
#ifndef TESTS_KILL_FIXTURE_H
#define TESTS_KILL_FIXTURE_H

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { KILL_CALLS_MAX = 1024 };

static unsigned kill_at; /* 0: never */
/* What has been passed so far, which may be memory that outlives the process: s(ync),
 * r(ename) or unlink, c(ommit). */
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
    /* A question that begins or ends with COMMIT, in libpq's form. */
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

#endif
