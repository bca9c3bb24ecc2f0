/*
 * torture_fixture.h - replaces malloc, calloc and realloc in this program so that one
 * call fails. Use it in children of a test, so that the parent's memory is not
 * affected. It does not work under sanitizers, which replace these functions too.
 * Include it after tests/expect.h, in one file of a program.
 */
#ifndef TESTS_TORTURE_FIXTURE_H
#define TESTS_TORTURE_FIXTURE_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

static long torture_left; /* allocations up to the one that fails; 0: none fails */

static inline void torture_fail_at(long n)
{
    torture_left = n;
}

static inline bool torture_spared(void)
{
    return torture_left > 0;
}

static inline void torture_silence(void)
{
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDERR_FILENO);
}

/* Returns memory that a child shares with its parent: the parent sees what the child
 * writes. */
static inline void *torture_shared(size_t size)
{
    void *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    return memory;
}

static inline void torture_unshare(void *memory, size_t size)
{
    assert_int_equal(munmap(memory, size), 0);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

static inline bool torture_possible(void)
{
    return false;
}

#else

static inline bool torture_possible(void)
{
    return true;
}

/* glibc's own functions, called by the replacements below. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

static inline bool torture_now(void)
{
    if (torture_left == 0 || --torture_left > 0)
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return torture_now() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return torture_now() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return torture_now() ? NULL : __libc_realloc(memory, size);
}

void *reallocarray(void *memory, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total) || torture_now())
        return NULL;
    return __libc_realloc(memory, total);
}

#endif

#endif
