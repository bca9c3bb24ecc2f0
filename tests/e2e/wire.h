/*
 * wire.h - bytes to the daemon's port as they are: what no honest client would send.
 */
#ifndef TESTS_E2E_WIRE_H
#define TESTS_E2E_WIRE_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/e2e/daemon.h"

struct exchange {
    char received[1 << 16]; /* ends in NUL */
    size_t size;
    unsigned answers;   /* status lines in it */
    unsigned successes; /* those among them of 2xx */
    unsigned status;    /* of the first, 0 if none */
    bool closed;        /* by the daemon, before the time was up */
};

/* Sends the bytes and reads until the daemon closes or is silent for quiet_ms. */
void wire_exchange(struct exchange *exchange, const struct daemon *daemon,
                   const void *bytes, size_t size, int quiet_ms);

#endif
