/*
 * front_fixture.h - nginx or Caddy as a reverse proxy of the daemon, with
 * deploy/nginx/epsilond.conf or deploy/caddy/Caddyfile. Ports and name are replaced,
 * and TLS is left out, so that a test can send raw bytes to it.
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

/* Starts the proxy and waits until it answers. Returns false, and reports it, if the
 * program is not installed; the test fails if it does not start. It dies with the test
 * program. */
bool front_start(struct front *front, enum front_kind kind,
                 const struct daemon *daemon);
void front_stop(struct front *front);

#endif
