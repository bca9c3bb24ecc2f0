/*
 * charging.h - plans a charge: reads what a request declares about work that runs
 * elsewhere, checks it against its dataset, and prices it. Used both to make a charge
 * and to estimate one.
 *
 * Threads: the desk's, which runs the write queue.
 */
#ifndef SERVICE_CHARGING_H
#define SERVICE_CHARGING_H

#include "api/charge_view.h"

struct context;

struct charging {
    struct context *context;
    struct request *request;
    struct charge_request declared; /* owned */
    struct mechanism mechanism;     /* owned */
    struct charge_figures figures;
};

/* Reads the request's body, checks it against the dataset and the key's policy, and
 * prices it. Call charging_fini afterwards, on failure too.
 *   ST_INVALID, ST_NOT_FOUND, ST_DATASET_PUBLIC, ST_GRANT_PENDING, ST_POLICY_VIOLATION,
 *   and the statuses of twins_check  the error names the member */
enum status charging_plan(struct charging *charging, struct error *error);
void charging_fini(struct charging *charging);

/* Checks that the charge promises no more than LEDGER_EPSILON_MAX.
 *   ST_INVALID  it does */
enum status charging_check_promise(const struct charging *charging,
                                   struct error *error);

/* Returns what a key's policy is checked against. */
struct policy_asked charging_asked(const struct charging *charging);

#endif
