/*
 * front_fixture.h - nginx or Caddy in front of the daemon, with deploy/nginx/epsilond.conf
 * or deploy/caddy/Caddyfile: its ports and its name are replaced, and TLS left out, so
 * that raw bytes can be sent to it.
 */
#ifndef TESTS_E2E_FRONT_FIXTURE_H
#define TESTS_E2E_FRONT_FIXTURE_H

#include <stdbool.h>
#include <sys/types.h>

#include "tests/e2e/daemon_fixture.h"

enum front_kind { FRONT_NGINX, FRONT_CADDY };

struct front {
    enum front_kind kind;
    pid_t pid;
    unsigned port;
    char directory[64];
};

/* Starts it and waits until it answers; false, and says so, where the program is not
 * installed. The test fails where it does not start. It dies with the test program. */
bool front_start(struct front *front, enum front_kind kind,
                 const struct daemon *daemon);
void front_stop(struct front *front);

#endif
