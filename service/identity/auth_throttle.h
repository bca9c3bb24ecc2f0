/*
 * auth_throttle.h - counts the wrong keys that each address has sent within a minute.
 *
 * Guessing a key is hopeless (base/access_key.h), so the purpose is to notice and slow
 * down attempts; a request with a right key is let in from any address, since behind a
 * proxy and on loopback all clients share one. The table is bounded: if too many
 * addresses are active at once, the one that began longest ago is forgotten.
 *
 * Threads: any.
 */
#ifndef SERVICE_IDENTITY_AUTH_THROTTLE_H
#define SERVICE_IDENTITY_AUTH_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct auth_throttle; /* opaque */

struct auth_throttle *auth_throttle_create(void);
void auth_throttle_destroy(struct auth_throttle *wrong); /* NULL is allowed */

/* Counts a wrong key from an address: an IPv4 address, a network of 64 bits of IPv6, or
 * all other addresses as one. True if it is one too many: more than LIMIT_WRONG_KEYS
 * within the minute that began with the first of them. */
bool auth_throttle_add(struct auth_throttle *wrong, const struct sockaddr *from,
                       int64_t now_ns);

#endif
