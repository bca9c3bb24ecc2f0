/*
 * receiver_fixture.h - a server of somebody else's, for the daemon to call (receiver.py).
 *
 * A client of the receiver is one of client_fixture.h, so its log is read, and its files
 * are put there, as the daemon's are. Whatever goes wrong fails the running test.
 */
#ifndef TESTS_E2E_RECEIVER_FIXTURE_H
#define TESTS_E2E_RECEIVER_FIXTURE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "tests/e2e/client_fixture.h"

struct receiver {
    struct daemon place; /* its base alone */
    struct client client;
    pid_t pid;
    int input;
    char folder[64];           /* of its certificate; "" without TLS */
    char ca_file[96], url[48]; /* https://localhost:PORT, or http://127.0.0.1:PORT */
};

void receiver_open(struct receiver *receiver);
/* The same with TLS, by a certificate for localhost that ca_file has signed. */
void receiver_open_tls(struct receiver *receiver);
void receiver_close(struct receiver *receiver);

/* What it has received, once it is count requests at least. */
const struct reply *receiver_await(struct receiver *receiver, size_t count);

#endif
