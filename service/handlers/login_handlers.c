/* Handlers of the browser's session: the browser sends a key once, and from then on
 * uses a cookie that no script can read (service/identity/logins.h). */
#include <microhttpd.h>

#include "api/requests/login_request.h"
#include "api/views/login_view.h"
#include "base/clock.h"
#include "base/hash.h"
#include "service/audit/audit_event.h"
#include "service/handlers/handlers.h"
#include "service/identity/authentication.h"
#include "service/identity/login_cookie.h"
#include "service/identity/logins.h"
#include "service/process/daemon_state.h"
#include "service/process/disk_room.h"

static void reply_login(struct request *request, unsigned status,
                        const struct principal *principal, int64_t left_s)
{
    const struct login_view view = {
        .principal = principal,
        .expire_ms = left_s > 0 ? clock_wall_ms() + left_s * 1000 : 0,
    };
    reply_json(&request->reply, status, login_render(&view));
    reply_header_add(&request->reply, "Cache-Control", "no-store");
}

/* Begins a session for that key, and appends the act to the audit trail, in one
 * transaction. */
static enum status begin(struct daemon_state *context, const struct request *request,
                         char cookie[LOGIN_COOKIE_SIZE], struct error *error)
{
    struct audit_event act;
    struct store_tx *tx = NULL;
    audit_event_begin(&act, context, request);
    enum status status = disk_room_check(context->disk_room, error);
    if (status == ST_OK)
        status = store_begin(context->store, STORE_ROW, &tx, error);
    if (status != ST_OK)
        return status;
    status = logins_begin(context->logins, tx, request->caller.principal.key,
                          clock_wall_ms(), cookie, error);
    if (status == ST_OK)
        status = audit_trail_append(tx, &act.row, error);
    return store_end(tx, status, error);
}

/* Begins a session for the holder of this key, who becomes the request's principal. */
static enum status log_in(struct daemon_state *context, struct request *request,
                          const char *key, struct error *error)
{
    char cookie[LOGIN_COOKIE_SIZE] = "";
    struct principal principal;
    enum status status = authentication_show(context, request, key, &principal, error);
    if (status != ST_OK)
        return status;
    request->caller.principal = principal;
    request->caller.principal.via = VIA_SESSION;
    status = begin(context, request, cookie, error);
    if (status == ST_OK) {
        reply_login(request, MHD_HTTP_CREATED, &request->caller.principal,
                    LOGIN_LIFE_S);
        login_cookie_set(request, context->config, cookie, LOGIN_LIFE_S);
    }
    hash_zero(cookie, sizeof cookie);
    return status;
}

enum status handle_login_create(struct daemon_state *context, struct request *request,
                                struct error *error)
{
    char key[LOGIN_KEY_SIZE] = "";
    enum status status = login_request_parse(key, request_text(request), error);
    if (status == ST_OK)
        status = log_in(context, request, key, error);
    hash_zero(key, sizeof key);
    if (request->body != NULL)
        hash_zero(request->body, request->body_size);
    return status;
}

enum status handle_login_get(struct daemon_state *context, struct request *request,
                             struct error *error)
{
    struct login login = {0};
    const char *cookie = login_cookie_of(request, context->config);
    (void)error;
    bool has_one = request->caller.principal.via == VIA_SESSION && cookie != NULL &&
                   logins_find(context->logins, cookie, clock_wall_ms(), &login);
    reply_login(request, MHD_HTTP_OK, &request->caller.principal,
                has_one ? login.left_s : 0);
    return ST_OK;
}

/* Ends the session of the cookie. If it is the request's own session, appends the act
 * to the audit trail. */
static enum status end(struct daemon_state *context, const struct request *request,
                       const char *cookie, struct error *error)
{
    struct audit_event act;
    struct store_tx *tx = NULL;
    bool acts = request->caller.principal.via == VIA_SESSION;
    audit_event_begin(&act, context, request);
    enum status status = acts ? disk_room_check(context->disk_room, error) : ST_OK;
    if (status == ST_OK)
        status = store_begin(context->store, STORE_ROW, &tx, error);
    if (status != ST_OK)
        return status;
    status = logins_end(context->logins, tx, cookie, error);
    if (status == ST_OK && acts)
        status = audit_trail_append(tx, &act.row, error);
    return store_end(tx, status, error);
}

enum status handle_login_delete(struct daemon_state *context, struct request *request,
                                struct error *error)
{
    const char *cookie = login_cookie_of(request, context->config);
    enum status status = cookie != NULL ? end(context, request, cookie, error) : ST_OK;
    if (status != ST_OK)
        return status;
    reply_empty(&request->reply, MHD_HTTP_NO_CONTENT);
    login_cookie_set(request, context->config, "", 0);
    return ST_OK;
}
