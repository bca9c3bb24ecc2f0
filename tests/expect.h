/*
 * expect.h - what cmocka lacks: comparison of doubles by relative tolerance, and the
 * way to data outside the repository. Include after cmocka's own headers, in one test
 * file each.
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

/* Whether a sanitizer runs in this program. Memory is then its own too, so that what is free,
 * resident or anywhere in it proves nothing; and every step takes many times as long, so
 * that a series of draws whose bound is computed from its length is a shorter one. Races are
 * what the thread sanitizer seeks, and what runs on one thread has none. */
#if defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1, RACES_SOUGHT = 1 };
#elif defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1, RACES_SOUGHT = 0 };
#else
enum { SANITIZED = 0, RACES_SOUGHT = 0 };
#endif

/* For the beginning of main, in a program all of whose claims run on one thread, and long:
 * whether the thread sanitizer, which has nothing to seek there, is in it. Says so. */
static inline bool nothing_races(void)
{
    if (RACES_SOUGHT)
        print_message("SKIPPED: all of it runs on one thread, and races are sought\n");
    return RACES_SOUGHT;
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

/* Path of a file under $SHARED (default ../shared), in path; where it is absent, says so
 * and skips the test: it then proves nothing. */
static inline void shared_path(char path[1024], const char *name)
{
    const char *root = getenv("SHARED");
    snprintf(path, 1024, "%s/%s", root != NULL ? root : "../shared", name);
    if (access(path, R_OK) != 0) {
        print_message("SKIPPED, proves nothing: %s is absent\n", path);
        skip();
    }
}

#endif
