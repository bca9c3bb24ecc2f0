#include "service/identity/login_cookie.h"

#include <inttypes.h>
#include <microhttpd.h>
#include <stdbool.h>

#include "service/config/config.h"
#include "service/http/reply.h"
#include "service/http/request.h"

static bool is_enciphered(const struct config *config)
{
    return config->tls_certificate[0] != '\0' || config->behind_proxy;
}

static const char *name_of(const struct config *config)
{
    return is_enciphered(config) ? "__Host-epsilond" : "epsilond";
}

const char *login_cookie_of(const struct request *request, const struct config *config)
{
    return MHD_lookup_connection_value(request->connection, MHD_COOKIE_KIND,
                                       name_of(config));
}

void login_cookie_set(struct request *request, const struct config *config,
                      const char *value, int64_t seconds)
{
    reply_header_add(&request->reply, "Set-Cookie",
                     "%s=%s; Path=/; Max-Age=%" PRId64 "; HttpOnly; %sSameSite=Strict",
                     name_of(config), value, seconds,
                     is_enciphered(config) ? "Secure; " : "");
}
