/*
 * sync_trace_fixture.h - fsync and rename of this program, in the order in which they
 * are called, one of which may fail: what a power cut would find is nothing a test can
 * see otherwise. After tests/expect.h; include in one file of a program.
 */
#ifndef TESTS_SYNC_TRACE_FIXTURE_H
#define TESTS_SYNC_TRACE_FIXTURE_H

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { SYNC_TRACE_MAX = 64 };

/* f: a file was synced, d: a folder was, r: a file was renamed. */
static char sync_trace[SYNC_TRACE_MAX];
static size_t sync_trace_fails; /* the call of this number, from 1; 0: none does */

static inline void sync_trace_start(size_t fails)
{
    memset(sync_trace, 0, sizeof sync_trace);
    sync_trace_fails = fails;
}

/* Whether the call is to be made. */
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
