/*
 * host_lookup.h - the addresses of a host that the daemon may connect to. The caller
 * connects to one of these addresses and never resolves the name again, so a name that
 * resolves to another address a moment later gains nothing.
 *
 * Threads: any; the calling thread waits.
 */
#ifndef SERVICE_OUTBOUND_HOST_LOOKUP_H
#define SERVICE_OUTBOUND_HOST_LOOKUP_H

#include <netinet/in.h>
#include <stdatomic.h>
#include <stdint.h>

#include "service/outbound/host_address.h"

enum { HOST_LOOKUP_MAX = 8 }; /* further addresses are not tried */

struct host_lookup {
    const char *host; /* a name or an address, without brackets */
    bool plain;       /* as in host_address_is_allowed */
    const struct host_address_list *listed;
    int64_t deadline_ns; /* monotonic */
    const atomic_bool *cancel;
};

struct host_found {
    size_t count; /* 0: there is none, or the deadline or a cancellation came first */
    char texts[HOST_LOOKUP_MAX][INET6_ADDRSTRLEN];
};

void host_lookup_run(const struct host_lookup *lookup, struct host_found *found);

#endif
