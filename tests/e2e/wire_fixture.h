/*
 * wire_fixture.h - bytes to the daemon's port as they are: what no honest client would
 * send.
 */
#ifndef TESTS_E2E_WIRE_FIXTURE_H
#define TESTS_E2E_WIRE_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/e2e/daemon_fixture.h"

struct exchange {
    char received[1 << 16]; /* ends in NUL */
    size_t size;
    unsigned answers;   /* those that are complete */
    unsigned successes; /* those among them of 2xx */
    unsigned problems;  /* those of type application/problem+json */
    unsigned status;    /* of the first, 0 if none */
    bool whole;         /* complete answers one after another, and nothing else */
    bool closed;        /* by the daemon, before the time was up */
};

/* Sends the bytes to 127.0.0.1:port and reads until it closes or is silent for quiet_ms. */
void wire_exchange(struct exchange *exchange, unsigned port, const void *bytes,
                   size_t size, int quiet_ms);

/* The same in two pieces. The second is sent once the daemon has been silent for silent_ms
 * after the first; false: it was not. */
bool wire_exchange_in_two(struct exchange *exchange, unsigned port, const char *head,
                          const char *body, int silent_ms, int quiet_ms);

/* The same as wire_exchange, enciphered, to a daemon that was started with --tls-cert. */
void wire_exchange_tls(struct exchange *exchange, const struct daemon *daemon,
                       const void *bytes, size_t size, int quiet_ms);

/* Sends head, then a byte x a second, at most so many. True if the daemon closed before
 * the last of them. */
bool wire_dribble(unsigned port, const char *head, size_t most);

#endif
