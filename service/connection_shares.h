/*
 * connection_shares.h - how many connections each client network has open, so that none of
 * them can take all that the server has (service/client_network.h).
 *
 * Threads: any.
 */
#ifndef SERVICE_CONNECTION_SHARES_H
#define SERVICE_CONNECTION_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

struct connection_shares; /* opaque */
struct connection_share;  /* opaque: the connections of one network */

struct connection_shares *connection_shares_create(void);
/* No share may be taken. NULL is allowed. */
void connection_shares_destroy(struct connection_shares *shares);

/* Answers how many connections the network of the address has. */
size_t connection_shares_count(struct connection_shares *shares,
                               const struct sockaddr *address);

/* A connection begins, and is counted until it is given back. */
struct connection_share *connection_share_take(struct connection_shares *shares,
                                               const struct sockaddr *address);
void connection_share_give_back(struct connection_shares *shares,
                                struct connection_share *share);

#endif
