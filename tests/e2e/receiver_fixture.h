/*
 * receiver_fixture.h - a third party's HTTP server that the daemon calls (receiver.py).
 *
 * The receiver's log is read, and its files are uploaded, by a client of
 * client_fixture.h, as for the daemon. Any failure of the fixture fails the running
 * test.
 */
#ifndef TESTS_E2E_RECEIVER_FIXTURE_H
#define TESTS_E2E_RECEIVER_FIXTURE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "tests/e2e/client_fixture.h"

struct receiver {
    struct daemon place; /* only its base is used */
    struct client client;
    pid_t pid;
    int input;
    char folder[64];           /* holds the certificate; "" without TLS */
    char ca_file[96], url[48]; /* https://localhost:PORT, or http://127.0.0.1:PORT */
};

void receiver_open(struct receiver *receiver);
/* The same with TLS: ca_file has signed the server's certificate for localhost. */
void receiver_open_tls(struct receiver *receiver);
void receiver_close(struct receiver *receiver);

/* Waits until the receiver has at least count requests, and returns its log of them. */
const struct reply *receiver_await(struct receiver *receiver, size_t count);

#endif
