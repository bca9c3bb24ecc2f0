/*
 * server.h - the HTTP server: libmicrohttpd on one side, requests and handlers on the
 * other. Its threads never wait: work that may wait runs on other threads while the
 * connection is suspended.
 *
 * Invariants
 *   (1) A suspended connection is resumed exactly once.
 *   (2) A request lives from its first line to the end of its reply.
 *
 * Threads: server_open and server_close by one thread; the hooks by the service's.
 */
#ifndef SERVICE_SERVER_SERVER_H
#define SERVICE_SERVER_SERVER_H

#include "service/server/daemon_lifecycle.h"

struct server; /* opaque */

/* Hooks for daemon_lifecycle_open, so that the service can call the server. */
extern const struct daemon_lifecycle_hooks server_hooks;

/* Listens as the configuration says, and logs the address.
 *   ST_IO       it cannot listen on the address, or a TLS file cannot be read
 *   ST_INVALID  the TLS files cannot be used (service/http/certificates.h) */
enum status server_open(struct server **out, struct daemon_state *context,
                        struct error *error);

/* Reads the files again that may be renewed while the server runs, and logs the result.
 * If one cannot be used, the earlier one stays in force. */
void server_reload(struct server *server);

/* Refuses new connections at once, answers open requests, and ends. NULL is allowed. */
void server_close(struct server *server);

#endif
