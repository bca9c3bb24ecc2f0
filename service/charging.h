/*
 * charging.h - a charge on its way: what a request declares of work that runs elsewhere, held
 * against its dataset, and its price. For what is made and what is only estimated alike.
 *
 * Threads: the desk's.
 */
#ifndef SERVICE_CHARGING_H
#define SERVICE_CHARGING_H

#include "api/charge_request.h"
#include "api/charge_view.h"
#include "base/mechanism.h"
#include "service/context.h"
#include "service/policy.h"
#include "service/request.h"

struct charging {
    struct context *context;
    struct request *request;
    struct charge_request declared; /* owned */
    struct mechanism mechanism;     /* owned */
    struct charge_figures figures;
};

/* Reads the request's body, checks it against the dataset and the key's policy, and prices
 * it. Whatever is answered, charging_fini is due.
 *   ST_INVALID, ST_NOT_FOUND, ST_DATASET_PUBLIC, ST_GRANT_PENDING, ST_POLICY_VIOLATION and
 *   what twins_check refuses  the error names the member */
enum status charging_plan(struct charging *charging, struct error *error);
void charging_fini(struct charging *charging);

/* Whether no more is promised than LEDGER_EPSILON_MAX.
 *   ST_INVALID  more is */
enum status charging_check_promise(const struct charging *charging,
                                   struct error *error);

/* What a policy is held against. */
struct policy_asked charging_asked(const struct charging *charging);

#endif
