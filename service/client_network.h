/*
 * client_network.h - whose connection it is, as far as its address tells: an IPv4 address,
 * or a network of 64 bits of IPv6, which is what one customer is given.
 *
 * Pure.
 */
#ifndef SERVICE_CLIENT_NETWORK_H
#define SERVICE_CLIENT_NETWORK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct client_network { /* compared as a whole */
    uint64_t bits;
    uint64_t family;
};

/* All addresses of any other family are one network. */
struct client_network client_network_of(const struct sockaddr *address);

bool client_network_equal(const struct client_network *a,
                          const struct client_network *b);

/* Answers a number that clients cannot choose, because they do not know salt. */
uint64_t client_network_hash(const struct client_network *network, uint64_t salt);

#endif
