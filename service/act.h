/*
 * act.h - what a request does, as a row of the audit trail: who, what, to which thing.
 * What a route does is an act where its row names one (api/routes.h). Its handler begins
 * one, says more where there is more to say, and appends it in the transaction that does
 * it; what did nothing, such as a repeated request, appends none.
 *
 *   struct act act;
 *   act_begin(&act, context, request);
 *   act.row.detail = "{\"file\":\"labels\"}";
 *   status = audit_trail_append(tx, &act.row, error);
 *
 * Refusals are noted for every route at one place each, before a handler (session.c) and
 * behind it (handlers.c).
 *
 * Ownership: an act borrows from its request. Threads: the request's.
 */
#ifndef SERVICE_ACT_H
#define SERVICE_ACT_H

#include "service/audit_trail.h"
#include "service/context.h"
#include "service/request.h"

enum { ACT_ADDRESS_SIZE = 46 };

struct act {
    struct audit_row row;
    char address[ACT_ADDRESS_SIZE];
};

/* Fills in who asks, what for and when; the thing is the one that the path names, the
 * result "ok", and there is no detail. */
void act_begin(struct act *act, const struct context *context,
               const struct request *request);

/* Appends the act in a transaction of its own, for what writes nothing to the store.
 *   ST_IO  the store is poisoned */
enum status act_keep(struct context *context, const struct act *act,
                     struct error *error);

/* Notes that the request was refused, where it is an act or access was denied; but not how
 * an import ended that its sender only may know of. */
void act_refused(struct context *context, const struct request *request);

#endif
