/*
 * client_network.h - identifies the client of a connection as far as its address
 * allows: an IPv4 address, or a 64-bit network of IPv6, which is what one customer
 * gets.
 *
 * Pure.
 */
#ifndef SERVICE_HTTP_CLIENT_NETWORK_H
#define SERVICE_HTTP_CLIENT_NETWORK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct client_network { /* compared as a whole */
    uint64_t bits;
    uint64_t family;
};

/* Returns the network of an address. All addresses of other families are one
 * network. */
struct client_network client_network_of(const struct sockaddr *address);

bool client_network_equal(const struct client_network *a,
                          const struct client_network *b);

/* Returns a hash. Clients cannot choose it, because they do not know salt. */
uint64_t client_network_hash(const struct client_network *network, uint64_t salt);

#endif
