/*
 * expect.h - additions to cmocka: comparison of doubles by relative tolerance, skipping
 * with a reason, and paths of data outside the repository. Include it once in each test
 * program, after cmocka's own headers.
 */
#ifndef TESTS_EXPECT_H
#define TESTS_EXPECT_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

/* SANITIZED says whether a sanitizer runs in this program, RACES_SOUGHT whether it is
 * the thread sanitizer. A sanitizer manages memory itself, so a test can conclude
 * nothing from which memory is free, resident or still holds some bytes. Every step
 * also takes many times as long, so a series of draws whose bound is computed from its
 * length is made shorter. */
#if defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1, RACES_SOUGHT = 1 };
#elif defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1, RACES_SOUGHT = 0 };
#else
enum { SANITIZED = 0, RACES_SOUGHT = 0 };
#endif

/* Reports that a part of the test is skipped, and why. tests/run.py collects these
 * lines; tests/skips.list says which of them are allowed. */
__attribute__((format(printf, 1, 2))) static inline void skip_part(const char *format,
                                                                   ...)
{
    char reason[512];
    va_list words;
    va_start(words, format);
    vsnprintf(reason, sizeof reason, format, words);
    va_end(words);
    print_message("SKIPPED, proves nothing: %s\n", reason);
}

/* Skips the running test and reports the reason: tests/run.py fails a test that gives
 * none. */
#define skip_because(...) (skip_part(__VA_ARGS__), skip())

/* Returns `has`: whether the processor has the instructions that a kernel needs. If it
 * has not, reports that the kernel is not tested. */
static inline bool processor_has(const char *kernel, bool has)
{
    if (!has)
        skip_part("this processor cannot run %s", kernel);
    return has;
}

/* |actual - expected| <= tolerance * |expected|; equal values, infinities too, pass. */
#define assert_close(actual, expected, tolerance)                                      \
    expect_close((actual), (expected), (tolerance), #actual, __FILE__, __LINE__)

static inline void expect_close(double actual, double expected, double tolerance,
                                const char *what, const char *file, int line)
{
    if (actual == expected || fabs(actual - expected) <= tolerance * fabs(expected))
        return;
    print_error("%s = %.17g, expected %.17g (relative difference %.3g, allowed %.3g)\n",
                what, actual, expected, fabs(actual - expected) / fabs(expected),
                tolerance);
    _fail(file, line);
}

/* Writes the path of a file under $SHARED (default ../shared) into path. Skips the test
 * if there is no such folder. If the folder lacks the file the test fails: either the
 * name is wrong, or the folder is not the one with the data. */
static inline void shared_path(char path[1024], const char *name)
{
    const char *root = getenv("SHARED");
    if (root == NULL)
        root = "../shared";
    if (access(root, X_OK) != 0)
        skip_because("there is no folder SHARED=%s", root);
    snprintf(path, 1024, "%s/%s", root, name);
    if (access(path, R_OK) != 0)
        fail_msg("%s is absent: set SHARED to the folder that has it, or to none",
                 path);
}

#endif
