/*
 * stage_fixture.h - the basis of most test programs: one daemon and one client, started
 * before the first test of a group and ended after the last.
 */
#ifndef TESTS_E2E_STAGE_FIXTURE_H
#define TESTS_E2E_STAGE_FIXTURE_H

#include "tests/e2e/client_fixture.h"
#include "tests/e2e/daemon_fixture.h"

struct stage {
    struct daemon daemon;
    struct client client;
};

/* cmocka's setup and teardown of a test or of a group. */
int stage_begin(void **state);
int stage_begin_with(void **state, const char *const *options);
/* The same, with two datasets: "digits" under this member privacy, and "digits-test",
 * public. */
int stage_begin_digits(void **state, const char *privacy);
/* The same, with a daemon that has its directory but is not started. */
struct stage *stage_prepare(void **state);
int stage_end(void **state);

#endif
