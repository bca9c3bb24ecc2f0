#include "service/metrics/metrics_listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <microhttpd.h>

#include "api/http/exposition.h"
#include "api/http/routes.h"
#include "base/check.h"
#include "base/log.h"
#include "service/config/config.h"
#include "service/http/admission.h"
#include "service/metrics/metrics.h"
#include "service/process/daemon_state.h"

enum {
    CONNECTIONS_MAX = 16,
    IDLE_S = 30, /* scrapers return every few seconds */
};

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status,
                              const char *type, char *text_take)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        strlen(text_take), text_take, MHD_RESPMEM_MUST_FREE);
    CHECK(response != NULL);
    MHD_add_response_header(response, "Content-Type", type);
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status,
                              const char *why)
{
    char *text = strdup(why);
    CHECK(text != NULL);
    return answer(connection, status, "text/plain", text);
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static bool asks_for_metrics(const char *method, const char *path)
{
    struct route_match match;
    return route_find(&match, method, path, NULL) == ST_OK &&
           strcmp(match.route->name, "metrics") == 0;
}

/* libmicrohttpd calls it when the headers are complete, and again when no body is
 * left. */
static enum MHD_Result on_request(void *argument, struct MHD_Connection *connection,
                                  const char *path, const char *method,
                                  const char *version, const char *data, size_t *size,
                                  void **held)
{
    struct daemon_state *context = argument;
    const char *host = header(connection, "Host");
    (void)version, (void)data;
    if (*held == NULL) {
        *held = context;
        return MHD_YES;
    }
    *size = 0;
    if (host == NULL || !host_is_loopback(host) || header(connection, "Origin") != NULL)
        return refuse(connection, MHD_HTTP_FORBIDDEN, "not for web pages\n");
    if (!asks_for_metrics(method, path))
        return refuse(connection, MHD_HTTP_NOT_FOUND, "only metrics are here\n");
    return answer(connection, MHD_HTTP_OK, EXPOSITION_TYPE,
                  metrics_render(context, true));
}

static struct MHD_Daemon *start(struct daemon_state *context)
{
    const struct config *config = context->config;
    struct sockaddr_in four = {.sin_family = AF_INET,
                               .sin_port = htons(config->metrics_port)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6,
                               .sin6_port = htons(config->metrics_port)};
    bool is_six = inet_pton(AF_INET, config->metrics_address, &four.sin_addr) != 1;
    const void *address = is_six ? (const void *)&six : (const void *)&four;
    if (is_six)
        CHECK(inet_pton(AF_INET6, config->metrics_address, &six.sin6_addr) == 1);
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | (is_six ? MHD_USE_IPv6 : MHD_NO_FLAG),
        config->metrics_port, NULL, NULL, on_request, context, MHD_OPTION_SOCK_ADDR,
        address, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S, MHD_OPTION_END);
}

enum status metrics_listener_open(struct MHD_Daemon **out, struct daemon_state *context,
                                  struct error *error)
{
    char port[8];
    const struct config *config = context->config;
    *out = NULL;
    if (config->metrics_address[0] == '\0')
        return ST_OK;
    errno = 0;
    struct MHD_Daemon *listener = start(context);
    if (listener == NULL)
        return error_set(error, ST_IO, "cannot listen on %s port %u: %s",
                         config->metrics_address, config->metrics_port,
                         strerror(errno));
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(listener, MHD_DAEMON_INFO_BIND_PORT);
    snprintf(port, sizeof port, "%u", info != NULL ? info->port : 0u);
    log_event(LOG_INFO, "metrics_listening", "address", config->metrics_address, "port",
              port, (char *)NULL);
    *out = listener;
    return ST_OK;
}

void metrics_listener_close(struct MHD_Daemon *listener)
{
    if (listener != NULL)
        MHD_stop_daemon(listener);
}
