/*
 * wire_fixture.h - sends raw bytes to the daemon's port: requests that no honest client
 * would send.
 */
#ifndef TESTS_E2E_WIRE_FIXTURE_H
#define TESTS_E2E_WIRE_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/e2e/daemon_fixture.h"

struct exchange {
    char received[1 << 16]; /* ends in NUL */
    size_t size;
    unsigned answers;   /* complete answers */
    unsigned successes; /* complete answers of status 2xx */
    unsigned problems;  /* complete answers of type application/problem+json */
    unsigned status;    /* of the first answer, 0 if none */
    bool whole;         /* received is complete answers, and nothing else */
    bool closed;        /* the daemon closed before the time was up */
};

/* Sends the bytes to 127.0.0.1:port and reads until the daemon closes or is silent for
 * quiet_ms. */
void wire_exchange(struct exchange *exchange, unsigned port, const void *bytes,
                   size_t size, int quiet_ms);

/* The same in two pieces; the second is sent after silent_ms at most. Returns whether
 * the daemon sent nothing for silent_ms after the first. */
bool wire_exchange_in_two(struct exchange *exchange, unsigned port, const char *head,
                          const char *body, int silent_ms, int quiet_ms);

/* Like wire_exchange, but over TLS, to a daemon that was started with --tls-cert. */
void wire_exchange_tls(struct exchange *exchange, const struct daemon *daemon,
                       const void *bytes, size_t size, int quiet_ms);

/* Sends head, then a byte x every second, at most `most` of them. Returns true if the
 * daemon closed before the last. */
bool wire_dribble(unsigned port, const char *head, size_t most);

#endif
