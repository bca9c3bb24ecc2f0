/*
 * wrong_keys.h - how many wrong keys each address has shown within a minute.
 *
 * Guessing a key is hopeless (base/access_key.h), so this is to be noticed and to cost a
 * guesser its pace; whoever shows a right key is let in from any address, since behind a
 * proxy and on loopback all share one. The table is bounded: where too many addresses are
 * busy at once, the one that began longest ago is forgotten.
 *
 * Threads: any.
 */
#ifndef SERVICE_WRONG_KEYS_H
#define SERVICE_WRONG_KEYS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct wrong_keys; /* opaque */

struct wrong_keys *wrong_keys_create(void);
void wrong_keys_destroy(struct wrong_keys *wrong); /* NULL is allowed */

/* Counts a wrong key from an address: an IPv4 one, a network of 64 bits of IPv6, or any
 * other as one. True where it is one too many: more than LIMIT_WRONG_KEYS within the minute
 * that began with the first of them. */
bool wrong_keys_add(struct wrong_keys *wrong, const struct sockaddr *from,
                    int64_t now_ns);

#endif
