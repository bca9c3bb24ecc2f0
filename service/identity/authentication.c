#include "service/identity/authentication.h"

#include <string.h>
#include <strings.h>
#include <microhttpd.h>

#include "base/check.h"
#include "base/clock.h"
#include "service/http/admission.h"
#include "service/http/request.h"
#include "service/identity/access_keys.h"
#include "service/identity/auth_throttle.h"
#include "service/identity/login_cookie.h"
#include "service/identity/logins.h"
#include "service/identity/sso.h"
#include "service/process/daemon_state.h"

enum { NS_PER_S = 1000000000 };

/* Returns the address of the peer of the request's connection. */
static const struct sockaddr *peer_of(const struct request *request)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    CHECK(info != NULL && info->client_addr != NULL);
    return info->client_addr;
}

/* Returns the key in "Bearer KEY", or NULL if the header has another form. */
static const char *bearer_of(const char *header)
{
    static const char scheme[] = "Bearer ";
    size_t length = strlen(scheme);
    if (strncasecmp(header, scheme, length) != 0)
        return NULL;
    return header + length + strspn(header + length, " ");
}

/* Returns whether keys and logins that are not known here may exist: other daemons share
 * the store, and the store was not read since the request began (stale_read_retry.h). */
static bool may_be_stale(const struct daemon_state *context,
                         const struct request *request)
{
    return request->look != LOOK_DONE && store_shared(context->store);
}

static enum status need_refresh(struct error *error)
{
    return error_set(error, ST_NEEDS_REFRESH, "the store was not read yet");
}

/* Counts a wrong key. An expired or revoked key gets its own status no matter how many
 * there are: its bearer is not guessing. */
static enum status count_wrong(struct daemon_state *context,
                               const struct request *request, const struct error *found,
                               struct error *error)
{
    bool is_guess =
        found->status == ST_KEY_MALFORMED || found->status == ST_KEY_UNKNOWN;
    if (is_guess &&
        auth_throttle_add(context->auth_throttle, peer_of(request), request->start_ns))
        return error_set(error, ST_WRONG_KEYS, "too many wrong keys from this address");
    return error_set(error, found->status, "%s", found->text);
}

enum status authentication_show(struct daemon_state *context,
                                const struct request *request, const char *key,
                                struct principal *principal, struct error *error)
{
    struct error found = {0};
    if (key == NULL)
        error_set(&found, ST_KEY_MALFORMED, "Authorization must be Bearer KEY");
    else if (access_keys_verify(context->keys, key, principal, &found) == ST_OK)
        return ST_OK;
    if (found.status == ST_KEY_UNKNOWN && may_be_stale(context, request))
        return need_refresh(error);
    return count_wrong(context, request, &found, error);
}

/* Accepts a browser that has logged in with a key that is still valid. */
static enum status find_login(struct daemon_state *context, struct request *request,
                              const char *cookie, struct error *error)
{
    struct login login;
    struct error found = {0};
    if (!logins_find(context->logins, cookie, clock_wall_ms(), &login))
        return error_set(error, ST_SESSION_ENDED, "this browser is not logged in");
    enum status status = access_keys_accept(context->keys, login.key,
                                            &request->caller.principal, &found);
    if (status == ST_KEY_UNKNOWN)
        return error_set(error, ST_SESSION_ENDED, "this browser is not logged in");
    if (status != ST_OK) {
        logins_forget(context->logins, cookie);
        return error_set(error, status, "%s", found.text);
    }
    request->caller.principal.via = VIA_SESSION;
    return ST_OK;
}

/* A browser sends its cookie by itself, and also sends by itself what identifies it to
 * a proxy. So a change is accepted only if one of our own pages asks for it. Two
 * headers show that: Origin, which is ours if it is there (admission.c), and
 * Sec-Fetch-Site. The clients of a proxy may be no browsers and send neither. */
static enum status check_site(const struct request *request, struct error *error)
{
    const char *site = request_header(request, "Sec-Fetch-Site");
    bool by_cookie = request->caller.principal.via == VIA_SESSION;
    bool by_proxy = request->caller.principal.via == VIA_PROXY;
    bool reads =
        strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;
    if (reads || (!by_cookie && !by_proxy))
        return ST_OK;
    bool is_ours = request_header(request, "Origin") != NULL ||
                   (site != NULL && strcmp(site, "same-origin") == 0) ||
                   (by_proxy && site == NULL);
    if (!is_ours)
        return error_set(error, ST_FORBIDDEN_ORIGIN,
                         "a session changes something only with our Origin, or with "
                         "Sec-Fetch-Site: same-origin");
    if (by_cookie && strcmp(request->method, "POST") == 0 &&
        !admission_is_json(request_header(request, "Content-Type")))
        return error_set(error, ST_UNSUPPORTED_MEDIA_TYPE,
                         "a session's requests must be application/json");
    return ST_OK;
}

/* Returns the sign-on headers of the request, which a proxy wrote, or a client that
 * pretends to be one. */
static struct sso_headers said_in(const struct request *request)
{
    return (struct sso_headers){
        .user = request_header(request, "X-Forwarded-User"),
        .email = request_header(request, "X-Forwarded-Email"),
        .groups = request_header(request, "X-Forwarded-Groups"),
    };
}

/* Identifies the principal by what the request shows, the strongest first. If other
 * daemons share the store, a cookie is accepted only after the store was read
 * (stale_read_retry.h), so that a login which has begun or ended at another daemon
 * counts here from the very next request on. */
static enum status identify(struct daemon_state *context, struct request *request,
                            const struct sso_headers *said, struct error *error)
{
    bool everybody = request->match.route->scope == SCOPE_EVERYBODY;
    const char *header = request_header(request, "Authorization");
    if (header != NULL)
        return authentication_show(context, request, bearer_of(header),
                                   &request->caller.principal, error);
    if (sso_claimed(said))
        return sso_read(context->sso, said, &request->caller.principal, error);
    struct error ended = {0};
    const char *cookie = login_cookie_of(request, context->config);
    if (cookie != NULL && may_be_stale(context, request))
        return need_refresh(error);
    if (cookie != NULL &&
        find_login(context, request, cookie, everybody ? &ended : error) == ST_OK)
        return ST_OK;
    if (everybody)
        return ST_OK;
    return error_set(error, ST_KEY_MISSING, "show a key: Authorization: Bearer KEY");
}

bool authentication_asks(const struct daemon_state *context)
{
    return access_keys_any(context->keys) || context->sso != NULL;
}

/* If requests need not identify their principal, everyone is the local principal. The
 * first key may have been made since the request began, or a moment ago at another
 * daemon: a request that shows a key is therefore checked only after the store was
 * read. */
static enum status find_local(const struct daemon_state *context,
                              struct request *request, bool *is_local,
                              struct error *error)
{
    *is_local =
        request->caller.principal.role == ROLE_LOCAL && !authentication_asks(context);
    if (!*is_local)
        request->caller.principal = (struct principal){.role = ROLE_NOBODY};
    else if (may_be_stale(context, request) &&
             request_header(request, "Authorization") != NULL)
        return need_refresh(error);
    return ST_OK;
}

enum status authentication_run(struct daemon_state *context, struct request *request,
                               struct error *error)
{
    const struct sso_headers said = said_in(request);
    if (sso_claimed(&said) && !sso_trusts(context->sso, peer_of(request)))
        return error_set(
            error, ST_UNTRUSTED_PROXY,
            "X-Forwarded-User, -Email and -Groups are taken from a trusted "
            "proxy alone (--trust-proxy)");
    bool is_local = false;
    enum status status = find_local(context, request, &is_local, error);
    if (status != ST_OK || is_local)
        return status;
    status = identify(context, request, &said, error);
    return status == ST_OK ? check_site(request, error) : status;
}

/* The request keeps its headers, and they are read under the current groups. */
static enum status renew_sign_on(struct daemon_state *context,
                                 const struct request *request, struct error *error)
{
    const struct sso_headers said = said_in(request);
    int64_t open_ns = reply_is_streamed(&request->reply)
                          ? clock_monotonic_ns() - request->start_ns
                          : 0;
    return sso_renew(context->sso, &said, &request->caller.principal,
                     open_ns / NS_PER_S, error);
}

enum status authentication_renew(struct daemon_state *context,
                                 const struct request *request, struct error *error)
{
    if (request->match.route->scope == SCOPE_EVERYBODY)
        return ST_OK;
    if (request->caller.principal.via == VIA_PROXY)
        return renew_sign_on(context, request, error);
    const char *cookie = login_cookie_of(request, context->config);
    if (request->caller.principal.via == VIA_SESSION &&
        (cookie == NULL || !logins_hold(context->logins, cookie, clock_wall_ms())))
        return error_set(error, ST_SESSION_ENDED, "this browser is not logged in");
    return access_keys_hold(context->keys, &request->caller.principal, error);
}
