/*
 * connection_shares.h - counts the open connections of each client network, so that
 * none can take all connections of the server (service/http/client_network.h).
 *
 * Threads: any.
 */
#ifndef SERVICE_HTTP_CONNECTION_SHARES_H
#define SERVICE_HTTP_CONNECTION_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

struct connection_shares; /* opaque */
struct connection_share;  /* opaque: the connections of one network */

struct connection_shares *connection_shares_create(void);
/* Precondition: all shares were given back. NULL is allowed. */
void connection_shares_destroy(struct connection_shares *shares);

/* Returns how many connections the network of the address has. */
size_t connection_shares_count(struct connection_shares *shares,
                               const struct sockaddr *address);

/* Counts a new connection until it is given back. */
struct connection_share *connection_share_take(struct connection_shares *shares,
                                               const struct sockaddr *address);
void connection_share_give_back(struct connection_shares *shares,
                                struct connection_share *share);

#endif
