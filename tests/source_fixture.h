/*
 * source_fixture.h - the program's source files as text, for tests that check which
 * file may name what. Include it after tests/expect.h; the test runs in the root of the
 * repository.
 */
#ifndef TESTS_SOURCE_FIXTURE_H
#define TESTS_SOURCE_FIXTURE_H

#include <glob.h>
#include <stdio.h>

/* Calls look with the path and the text of each file that the pattern matches. */
static inline void sources_walk(const char *pattern,
                                void (*look)(const char *path, const char *text))
{
    static char text[1 << 20];
    glob_t found;
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        FILE *file = fopen(found.gl_pathv[i], "r");
        assert_non_null(file);
        size_t size = fread(text, 1, sizeof text - 1, file);
        assert_true(size < sizeof text - 1);
        text[size] = '\0';
        fclose(file);
        look(found.gl_pathv[i], text);
    }
    globfree(&found);
}

#endif
