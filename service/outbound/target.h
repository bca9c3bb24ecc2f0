/*
 * target.h - checks a URL that a client wants the daemon to call, before it is stored
 * or called. It checks what is possible without the network; the address to connect to
 * is checked once it is known (transfer.h).
 *
 * Threads: pure.
 */
#ifndef SERVICE_OUTBOUND_TARGET_H
#define SERVICE_OUTBOUND_TARGET_H

#include "base/status.h"
#include "service/outbound/host_address.h"

enum { TARGET_SIZE_MAX = 2048 }; /* bytes of a URL, including its NUL */

/* Checks a URL: absolute, https, with a host, without port 0, a user, a password or a
 * fragment, and if its host is an address, one that the daemon may connect to. http is
 * accepted if the operator has listed a loopback address (allowed), and connects only
 * there.
 *   ST_INVALID  it is not so; error names pointer */
enum status target_check(const char *url, const struct host_address_list *allowed,
                         const char *pointer, struct error *error);

#endif
