#include "service/authentication.h"

#include <string.h>
#include <strings.h>
#include <microhttpd.h>

/* The key in "Bearer KEY"; NULL where the header is something else. */
static const char *bearer_of(const char *header)
{
    static const char scheme[] = "Bearer ";
    size_t length = strlen(scheme);
    if (strncasecmp(header, scheme, length) != 0)
        return NULL;
    return header + length + strspn(header + length, " ");
}

static enum status verify(struct context *context, struct request *request,
                          const char *header, struct error *error)
{
    const char *key = bearer_of(header);
    if (key == NULL)
        return error_set(error, ST_KEY_MALFORMED, "Authorization must be Bearer KEY");
    return access_keys_verify(context->keys, key, &request->principal, error);
}

/* Counts a wrong key. Keys that were good once are told as what they are, however many
 * there are: their bearers guess nothing. */
static enum status count_wrong(struct context *context, const struct request *request,
                               const struct error *found, struct error *error)
{
    bool is_guess =
        found->status == ST_KEY_MALFORMED || found->status == ST_KEY_UNKNOWN;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (is_guess && info != NULL &&
        wrong_keys_add(context->wrong_keys, info->client_addr, request->start_ns))
        return error_set(error, ST_WRONG_KEYS, "too many wrong keys from this address");
    return error_set(error, found->status, "%s", found->text);
}

enum status authentication_run(struct context *context, struct request *request,
                               struct error *error)
{
    const char *header = request_header(request, "Authorization");
    struct error found = {0};
    if (request->principal.role == ROLE_LOCAL)
        return ST_OK;
    if (header == NULL && request->match.route->scope == SCOPE_EVERYBODY)
        return ST_OK;
    if (header == NULL)
        return error_set(error, ST_KEY_MISSING,
                         "show a key: Authorization: Bearer KEY");
    if (verify(context, request, header, &found) == ST_OK)
        return ST_OK;
    return count_wrong(context, request, &found, error);
}

enum status authentication_renew(struct context *context, const struct request *request,
                                 struct error *error)
{
    if (request->match.route->scope == SCOPE_EVERYBODY)
        return ST_OK;
    return access_keys_hold(context->keys, &request->principal, error);
}
