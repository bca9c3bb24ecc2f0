#include "service/http/client_network.h"

#include <netinet/in.h>
#include <string.h>

struct client_network client_network_of(const struct sockaddr *address)
{
    struct client_network network = {.family = address->sa_family};
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *four =
            (const struct sockaddr_in *)(const void *)address;
        network.bits = four->sin_addr.s_addr;
    } else if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *six =
            (const struct sockaddr_in6 *)(const void *)address;
        memcpy(&network.bits, &six->sin6_addr, sizeof network.bits);
    }
    return network;
}

bool client_network_equal(const struct client_network *a,
                          const struct client_network *b)
{
    return a->bits == b->bits && a->family == b->family;
}

/* The finalizer of MurmurHash3, by Appleby. */
uint64_t client_network_hash(const struct client_network *network, uint64_t salt)
{
    uint64_t x = (network->bits ^ network->family << 56) + salt;
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}
