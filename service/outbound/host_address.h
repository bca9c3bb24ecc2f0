/*
 * host_address.h - the network addresses that the daemon may connect to: public ones,
 * and those that its operator has listed.
 *
 * A URL comes from a client, and the daemon can reach what the client cannot: other
 * services on its host, its operator's network, a cloud's metadata. So an address
 * counts as public only if it is a global address of the internet: in IPv6 one in
 * 2000::/3, and in neither family one that is set aside for loopback, links, private
 * networks, groups, documentation, or for carrying an address of the other family.
 *
 * An IPv4 address is kept as the IPv6 address that maps it, ::ffff:a.b.c.d, so there is
 * one form, and a mapped address is the address that it maps.
 *
 * Source: the special-purpose registries of RFC 6890, as of 2024. Threads: pure.
 */
#ifndef SERVICE_OUTBOUND_HOST_ADDRESS_H
#define SERVICE_OUTBOUND_HOST_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/status.h"

enum { HOST_ADDRESS_SIZE = 16, HOST_ADDRESS_BLOCKS_MAX = 16 };

struct host_address {
    uint8_t bytes[HOST_ADDRESS_SIZE];
};

struct host_address_block { /* the addresses whose first bits are these */
    struct host_address first;
    unsigned bits;
};

struct host_address_list { /* listed by the operator */
    size_t count;
    struct host_address_block blocks[HOST_ADDRESS_BLOCKS_MAX];
};

/* Reads 10.1.0.0/16,127.0.0.1,fd00::/8: addresses, or blocks of them, at most
 * HOST_ADDRESS_BLOCKS_MAX.
 *   ST_INVALID  anything else; list is untouched */
enum status host_address_list_parse(struct host_address_list *list, const char *text,
                                    struct error *error);

bool host_address_list_holds(const struct host_address_list *list,
                             const struct host_address *address);
/* Returns whether one of the blocks contains a loopback address. */
bool host_address_list_has_loopback(const struct host_address_list *list);

/* Reads an address as text, without brackets; returns false, and leaves address
 * untouched, if text is not an address. */
bool host_address_parse(struct host_address *address, const char *text);
/* Reads it from a socket's address; returns false in the same way if that is of another
 * family. */
bool host_address_read(struct host_address *address, const struct sockaddr *from);

bool host_address_is_public(const struct host_address *address);
bool host_address_is_loopback(const struct host_address *address);

/* Returns whether the daemon may connect to the address: it is public or listed; without
 * TLS (plain) it is a loopback address that is listed. */
bool host_address_is_allowed(const struct host_address *address, bool plain,
                             const struct host_address_list *listed);

#endif
