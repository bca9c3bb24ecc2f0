/*
 * account_fixture.h - recomputes the privacy filter's arithmetic from the numbers that
 * the daemon shows: what an owner could compute with a pencil from /budget and /ledger.
 *
 * Charges are multiples of 2^-40 nats (accountant/pricing/filter.h), so sums of them
 * are exact in doubles and do not depend on their order.
 */
#ifndef TESTS_E2E_ACCOUNT_FIXTURE_H
#define TESTS_E2E_ACCOUNT_FIXTURE_H

#include <stdbool.h>

#include "tests/e2e/client_fixture.h"

enum { ACCOUNT_ORDERS = 50 };

struct account {
    bool weighted[ACCOUNT_ORDERS];
    double capacity[ACCOUNT_ORDERS]; /* infinite at orders without a weight */
    double committed[ACCOUNT_ORDERS], held[ACCOUNT_ORDERS];
};

void account_read(struct account *account, struct client *client, const char *dataset);

/* Reads a list of numbers; null is infinity. */
void account_curve(double curve[ACCOUNT_ORDERS], const json_t *list);

/* capacity - committed - held at the two weighted orders, lower order first. */
void account_room(const struct account *account, double room[2]);

/* Returns whether committed + held <= capacity at some weighted order. */
bool account_is_sound(const struct account *account);

/* Returns the largest k with committed + held + k curves <= capacity at some weighted
 * order. */
unsigned account_admits(const struct account *account,
                        const double curve[ACCOUNT_ORDERS]);

/* Finds the job's entry of this kind in a page of the ledger; NULL if there is none. */
const json_t *account_entry(const struct reply *ledger, const char *kind,
                            const char *job);

#endif
