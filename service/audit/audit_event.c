#include "service/audit/audit_event.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <microhttpd.h>

#include "api/http/roles.h"
#include "api/http/routes.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/principal.h"
#include "service/audit/denied_events.h"
#include "service/config/config.h"
#include "service/http/request.h"
#include "service/process/daemon_state.h"
#include "service/process/disk_room.h"

/* Writes the client's address without its port; "" if the socket has none. */
static void read_address(char address[AUDIT_EVENT_ADDRESS_SIZE],
                         const struct request *request)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *client = info != NULL ? info->client_addr : NULL;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    address[0] = '\0';
    if (client == NULL)
        return;
    if (client->sa_family == AF_INET) {
        memcpy(&four, client, sizeof four);
        inet_ntop(AF_INET, &four.sin_addr, address, AUDIT_EVENT_ADDRESS_SIZE);
    } else if (client->sa_family == AF_INET6) {
        memcpy(&six, client, sizeof six);
        inet_ntop(AF_INET6, &six.sin6_addr, address, AUDIT_EVENT_ADDRESS_SIZE);
    }
}

/* Returns the id of the object that the path names, or "" if it names none. A text that
 * cannot be an id is not copied: a person may have pasted anything into a path. */
static const char *object_of(const struct request *request)
{
    struct dataset_id dataset;
    struct job_id job;
    struct model_id model;
    struct webhook_id webhook;
    struct file_id file;
    struct grant_id grant;
    struct survey_id survey;
    struct charge_id charge;
    const char *id = request->match.id;
    return dataset_id_parse(&dataset, id) || job_id_parse(&job, id) ||
                   model_id_parse(&model, id) || file_id_parse(&file, id) ||
                   webhook_id_parse(&webhook, id) || grant_id_parse(&grant, id) ||
                   survey_id_parse(&survey, id) || charge_id_parse(&charge, id)
               ? id
               : "";
}

/* An id of a dataset needs no escapes in JSON. */
static void write_about(struct audit_event *act, const struct request *request)
{
    static_assert(sizeof "{\"dataset\":\"\"}" + sizeof request->about.text <=
                      sizeof act->detail,
                  "the detail has room for the id of a dataset");
    if (request->about.text[0] == '\0')
        snprintf(act->detail, sizeof act->detail, "{}");
    else
        snprintf(act->detail, sizeof act->detail, "{\"dataset\":\"%s\"}",
                 request->about.text);
}

void audit_event_begin(struct audit_event *act, const struct daemon_state *context,
                       const struct request *request)
{
    act->address[0] = '\0';
    write_about(act, request);
    if (context->config->audit_ip)
        read_address(act->address, request);
    act->row = (struct audit_row){
        .second = clock_wall_s(),
        .actor = request->caller.principal.name,
        .key = request->caller.principal.key,
        .project = request->caller.principal.project,
        .via = via_name(request->caller.principal.via),
        .address = act->address,
        .action = request->match.route->act,
        .object = object_of(request),
        .result = "ok",
        .code = "",
        .request = request->caller.request_id,
        .detail = act->detail,
    };
}

enum status audit_event_keep(struct daemon_state *context,
                             const struct audit_event *act, struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status = disk_room_check(context->disk_room, error);
    if (status == ST_OK)
        status = store_begin(context->store, STORE_ROW, &tx, error);
    if (status != ST_OK)
        return status;
    return store_end(tx, audit_trail_append(tx, &act->row, error), error);
}

/* --- refusals --- */

/* Returns whether the request showed a key that is not accepted. A request without a
 * key belongs to no one, and does not count as denied. */
static bool is_wrong_key(enum status status)
{
    return status == ST_KEY_MALFORMED || status == ST_KEY_UNKNOWN ||
           status == ST_KEY_EXPIRED || status == ST_KEY_REVOKED ||
           status == ST_WRONG_KEYS || status == ST_KEY_IN_QUERY;
}

/* If keys are in use, an object that was not found may exist in another project. We do
 * not find out whether it does: the lookup would make the two cases differ in time. */
static bool is_denial(const struct request *request)
{
    enum status status = request->refused;
    bool hidden = status == ST_NOT_FOUND &&
                  request->caller.principal.via != VIA_LOCAL &&
                  request->match.route->scope != SCOPE_EVERYBODY;
    return hidden || is_wrong_key(status) || status == ST_FORBIDDEN_ORIGIN ||
           status == ST_UNTRUSTED_PROXY || status == ST_FORBIDDEN ||
           status == ST_SECOND_PERSON;
}

/* Only the owner of both datasets may learn that two datasets have the same content
 * (privacy.md, duplicates). The trail records the code that everyone else reads. */
static enum status told(enum status status)
{
    return status == ST_DUPLICATE_CONTENT ? ST_DATASET_UNAVAILABLE : status;
}

void audit_event_refused(struct daemon_state *context, const struct request *request)
{
    struct audit_event act;
    const struct route *route = request->match.route;
    if (request->refused == ST_OK || route == NULL || request->hides_outcome)
        return;
    bool denied = is_denial(request);
    if (!denied && route->act[0] == '\0')
        return;
    audit_event_begin(&act, context, request);
    if (route->act[0] == '\0')
        act.row.action = "read";
    act.row.result = denied ? "denied" : "error";
    act.row.code = status_wire(told(request->refused));
    denied_events_note(context->denied_events, &act.row);
}
