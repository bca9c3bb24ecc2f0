/*
 * charge_creation.h - plans a charge: checks what a caller declares about work that runs
 * elsewhere against its dataset, and prices it. Used both to make a charge and to
 * estimate one.
 *
 * Threads: the write queue's.
 */
#ifndef SERVICE_PLANNING_CHARGE_CREATION_H
#define SERVICE_PLANNING_CHARGE_CREATION_H

#include "api/views/charge_view.h"

struct blob_prefetch;
struct caller;
struct daemon_state;

struct charge_creation {
    struct daemon_state *context;
    const struct caller *caller;
    struct blob_prefetch *prefetch; /* the request's, for prices */
    struct charge_request declared; /* owned */
    struct mechanism mechanism;     /* owned */
    struct charge_figures figures;
};

/* Checks what is declared against the dataset and the key's policy, and prices it. Call charge_creation_fini afterwards, on failure too.
 *   ST_INVALID, ST_NOT_FOUND, ST_DATASET_PUBLIC, ST_GRANT_PENDING, ST_POLICY_VIOLATION,
 *   and the statuses of duplicate_datasets_check  the error names the member */
enum status charge_creation_plan(struct charge_creation *charging, struct error *error);
void charge_creation_fini(struct charge_creation *charging);

/* Checks that the charge promises no more than LEDGER_EPSILON_MAX.
 *   ST_INVALID  it does */
enum status charge_creation_check_promise(const struct charge_creation *charging,
                                          struct error *error);

/* Returns what a key's policy is checked against. */
struct policy_asked charge_creation_asked(const struct charge_creation *charging);

#endif
