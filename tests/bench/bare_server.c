/*
 * bare_server - the floor of polling: libmicrohttpd as the daemon uses it, which only
 * answers every request with one prepared response of the size of a job.
 *
 *   bare_server PORT BYTES
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <microhttpd.h>

static struct MHD_Response *response_of(size_t size)
{
    char *body = malloc(size);
    if (body == NULL)
        return NULL;
    memset(body, ' ', size);
    struct MHD_Response *response =
        MHD_create_response_from_buffer(size, body, MHD_RESPMEM_MUST_FREE);
    MHD_add_response_header(response, "Content-Type", "application/json");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "ETag", "\"0123456789abcdef-7\"");
    MHD_add_response_header(response, "Cache-Control", "private, no-cache");
    return response;
}

/* A reply in the first call would end the connection. */
static enum MHD_Result on_request(void *response, struct MHD_Connection *connection,
                                  const char *path, const char *method,
                                  const char *version, const char *data, size_t *size,
                                  void **seen)
{
    (void)path, (void)method, (void)version, (void)data, (void)size;
    if (*seen != NULL)
        return MHD_queue_response(connection, MHD_HTTP_OK, response);
    *seen = response;
    return MHD_YES;
}

int main(int count, char **arguments)
{
    if (count != 3)
        return 64;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)atoi(arguments[1]))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    struct MHD_Response *response = response_of((size_t)atol(arguments[2]));
    if (response == NULL ||
        MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0,
                         NULL, NULL, on_request, response, MHD_OPTION_SOCK_ADDR,
                         &address, MHD_OPTION_THREAD_POOL_SIZE, 2u,
                         MHD_OPTION_CONNECTION_LIMIT, 256u,
                         MHD_OPTION_CONNECTION_TIMEOUT, 30u, MHD_OPTION_END) == NULL)
        return 1;
    pause();
    return 0;
}
