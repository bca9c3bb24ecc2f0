/*
 * front_fixture.h - nginx in front of the daemon, with deploy/nginx/epsilond.conf: its
 * ports are replaced, and TLS and passwords left out, so that raw bytes can be sent to
 * it.
 */
#ifndef TESTS_E2E_FRONT_FIXTURE_H
#define TESTS_E2E_FRONT_FIXTURE_H

#include <stdbool.h>
#include <sys/types.h>

#include "tests/e2e/daemon_fixture.h"

struct front {
    pid_t pid;
    unsigned port;
    char directory[64];
};

/* Starts it and waits until it answers; false, and says so, where there is no nginx. The
 * test fails where it does not start. It dies with the test program. */
bool front_start(struct front *front, const struct daemon *daemon);
void front_stop(struct front *front);

#endif
