/*
 * server.h - the HTTP server: libmicrohttpd on one side, requests and handlers on the
 * other. Its threads never wait: whatever may, runs elsewhere while the connection is
 * suspended.
 *
 * Invariants
 *   (1) A suspended connection is resumed exactly once.
 *   (2) A request lives from its first line to the end of its reply.
 *
 * Threads: server_open and server_close by one thread; the hooks by the service's.
 */
#ifndef SERVICE_SERVER_H
#define SERVICE_SERVER_H

#include "service/service.h"

struct server; /* opaque */

/* service_open is given these, so that both know each other. */
extern const struct service_hooks server_hooks;

/* Listens as the configuration says and logs where.
 *   ST_IO       the address cannot be had, or a file of TLS not be read
 *   ST_INVALID  the files of TLS cannot be used (service/certificates.h) */
enum status server_open(struct server **out, struct context *context,
                        struct error *error);

/* Reads anew the files that may be renewed while the server runs, and logs what came of
 * it. Where one cannot be used, what was read before stays in force. */
void server_reload(struct server *server);

/* Refuses new connections at once, answers what is under way, ends. NULL is allowed. */
void server_close(struct server *server);

#endif
