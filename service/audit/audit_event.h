/*
 * audit_event.h - an audit event: who did what to which object, as a row of the audit
 * trail. A route is audited if its row names an act (api/http/routes.h). Its handler
 * begins an act, adds details if there are any, and appends it in the transaction that
 * makes the change. A request that changes nothing, such as a repeated one, appends no
 * act.
 *
 *   struct audit_event act;
 *   audit_event_begin(&act, context, request);
 *   act.row.detail = "{\"file\":\"labels\"}";
 *   status = audit_trail_append(tx, &act.row, error);
 *
 * Refusals are recorded in two places for all routes: before the handler (session.c)
 * and after it (handlers.c).
 *
 * Ownership: an act borrows from its request. Threads: the request's.
 */
#ifndef SERVICE_AUDIT_AUDIT_EVENT_H
#define SERVICE_AUDIT_AUDIT_EVENT_H

#include "service/audit/audit_trail.h"

struct daemon_state;
struct request;

enum { AUDIT_EVENT_ADDRESS_SIZE = 46, AUDIT_EVENT_DETAIL_SIZE = 96 };

struct audit_event { /* not to be copied: the row points into it */
    struct audit_row row;
    char address[AUDIT_EVENT_ADDRESS_SIZE], detail[AUDIT_EVENT_DETAIL_SIZE];
};

/* Fills in the principal, the action and the time. The object is the one that the path
 * names, the result is "ok", and the detail is the dataset that the request is about
 * (request->about), if it is known. */
void audit_event_begin(struct audit_event *act, const struct daemon_state *context,
                       const struct request *request);

/* Appends the act in a transaction of its own. For requests that write nothing else to
 * the store.
 *   ST_IO  the store is poisoned */
enum status audit_event_keep(struct daemon_state *context,
                             const struct audit_event *act, struct error *error);

/* Records that the request was refused, if its route is audited or access was denied.
 * Does not record how an import ended if only its sender may learn that. */
void audit_event_refused(struct daemon_state *context, const struct request *request);

#endif
