/*
 * sync_trace_fixture.h - records this program's fsync and rename calls in their order,
 * and can make one of them fail. A test has no other way to see what a power cut would
 * leave on disk. Include it after tests/expect.h, in one file of a program.
 */
#ifndef TESTS_SYNC_TRACE_FIXTURE_H
#define TESTS_SYNC_TRACE_FIXTURE_H

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { SYNC_TRACE_MAX = 64 };

/* One letter for each call: f: a file was synced, d: a folder was synced, r: a file was
 * renamed. */
static char sync_trace[SYNC_TRACE_MAX];
static size_t sync_trace_fails; /* number of the call that fails, from 1; 0: none */

static inline void sync_trace_start(size_t fails)
{
    memset(sync_trace, 0, sizeof sync_trace);
    sync_trace_fails = fails;
}

/* Records a call. Returns whether to make it; if not, it must fail with EIO. */
static inline int sync_trace_note(char call)
{
    size_t length = strlen(sync_trace);
    assert_true(length + 1 < SYNC_TRACE_MAX);
    sync_trace[length] = call;
    errno = EIO;
    return length + 1 != sync_trace_fails;
}

int fsync(int file)
{
    struct stat found;
    assert_int_equal(fstat(file, &found), 0);
    return sync_trace_note(S_ISDIR(found.st_mode) ? 'd' : 'f')
               ? (int)syscall(SYS_fsync, file)
               : -1;
}

int rename(const char *from, const char *to)
{
    return sync_trace_note('r')
               ? (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to)
               : -1;
}

#endif
