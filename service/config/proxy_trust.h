/*
 * proxy_trust.h - the trusted source of requests whose headers name their person: a
 * proxy that has logged that person in. Such headers are not believed from anywhere
 * else.
 *
 * Pure.
 */
#ifndef SERVICE_CONFIG_PROXY_TRUST_H
#define SERVICE_CONFIG_PROXY_TRUST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/status.h"

struct proxy_trust { /* zeroed: no source is trusted */
    int family;      /* AF_UNIX, AF_INET, AF_INET6; AF_UNSPEC: none */
    uint8_t network[16];
    unsigned prefix; /* bits of network that an address must share */
};

/* Reads "unix", or a network: "192.0.2.0/24", "2001:db8::/32"; a single address is a
 * network of one.
 *   ST_INVALID  anything else, or a network with bits behind its prefix */
enum status proxy_trust_parse(struct proxy_trust *trust, const char *text,
                              struct error *error);

/* Returns whether the other end of a connection is trusted. */
bool proxy_trust_holds(const struct proxy_trust *trust, const struct sockaddr *peer);

#endif
