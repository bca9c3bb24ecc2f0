/*
 * target.h - the URL that a client wants the daemon to call, looked at before it is kept
 * or called. It says what can be said without asking the network; the address that is
 * connected to is checked when that is known (transfer.h).
 *
 * Threads: pure.
 */
#ifndef SERVICE_OUTBOUND_TARGET_H
#define SERVICE_OUTBOUND_TARGET_H

#include "base/status.h"
#include "service/outbound/host_address.h"

enum { TARGET_SIZE_MAX = 2048 }; /* bytes of a URL, its end counted */

/* Checks a URL: absolute, https, with a host, without port 0, a user, a password or a
 * fragment, and if its host is an address, one that may be connected to. http is taken if
 * the operator has named a loopback address (allowed), and goes only there.
 *   ST_INVALID  it is not so; error names pointer */
enum status target_check(const char *url, const struct host_address_list *allowed,
                         const char *pointer, struct error *error);

#endif
