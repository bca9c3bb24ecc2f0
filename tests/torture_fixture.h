/*
 * torture_fixture.h - malloc and its kin of this program, one of whose calls fails. For
 * children of a test: the parent's memory is spared. Not under sanitizers, which have
 * their own. After tests/expect.h; include in one file of a program.
 */
#ifndef TESTS_TORTURE_FIXTURE_H
#define TESTS_TORTURE_FIXTURE_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

static long torture_left; /* allocations until the one that fails; 0: none does */

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

/* Memory that a child's writes reach the parent through. */
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

/* glibc's own, behind the names that are replaced here. */
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
