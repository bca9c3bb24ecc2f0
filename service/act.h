/*
 * act.h - an audit event: who did what to which object, as a row of the audit trail. A
 * route is audited if its row names an act (api/routes.h). Its handler begins an act,
 * adds details if there are any, and appends it in the transaction that makes the
 * change. A request that changes nothing, such as a repeated one, appends no act.
 *
 *   struct act act;
 *   act_begin(&act, context, request);
 *   act.row.detail = "{\"file\":\"labels\"}";
 *   status = audit_trail_append(tx, &act.row, error);
 *
 * Refusals are recorded in two places for all routes: before the handler (session.c)
 * and after it (handlers.c).
 *
 * Ownership: an act borrows from its request. Threads: the request's.
 */
#ifndef SERVICE_ACT_H
#define SERVICE_ACT_H

#include "service/audit_trail.h"

struct context;
struct request;

enum { ACT_ADDRESS_SIZE = 46 };

struct act {
    struct audit_row row;
    char address[ACT_ADDRESS_SIZE];
};

/* Fills in the principal, the action and the time. The object is the one that the path
 * names, the result is "ok", and the detail is empty. */
void act_begin(struct act *act, const struct context *context,
               const struct request *request);

/* Appends the act in a transaction of its own. For requests that write nothing else to
 * the store.
 *   ST_IO  the store is poisoned */
enum status act_keep(struct context *context, const struct act *act,
                     struct error *error);

/* Records that the request was refused, if its route is audited or access was denied.
 * Does not record how an import ended if only its sender may learn that. */
void act_refused(struct context *context, const struct request *request);

#endif
