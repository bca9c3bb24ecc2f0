/*
 * request_guard.h - a filter between a connection and libmicrohttpd: the library sees
 * no byte of a request before api/http/framing.h has passed it.
 *
 * libmicrohttpd reads a connection by calling recv(2). Like every shared library, it
 * uses the recv that the dynamic linker finds first: the one in the program itself.
 * request_guard.c defines recv. For a socket with a gate it reads, checks, keeps what
 * may not pass yet, and passes on the rest; for any other socket it is the system's. If
 * a connection uses TLS, the library reads by gnutls_record_recv instead, and
 * request_guard.c defines that too: the decrypted bytes are checked.
 *
 * Invariants
 *   (1) A request whose bytes did not come through its gate is refused:
 *       request_guard_verdict counts what passed, so if the library read in some
 *       other way, the answer would be 500 and the request would not be trusted.
 *   (2) After a refusal the library gets the stand-in of api/http/framing.h, and what
 *       the client still sends is dropped.
 *
 * Threads: a gate belongs to the HTTP thread that serves its connection.
 */
#ifndef SERVICE_HTTP_REQUEST_GUARD_H
#define SERVICE_HTTP_REQUEST_GUARD_H

#include <stdint.h>
#include <gnutls/gnutls.h>

#include "base/status.h"

struct request_guard; /* opaque */

/* Makes a gate before the library reads the socket. tls is the session that decrypts
 * the socket's bytes; NULL for plain HTTP. Returns NULL if the descriptor is too high
 * for a gate; then all its requests are refused. */
struct request_guard *request_guard_open(int socket, gnutls_session_t tls);
/* Call it before the socket is closed. NULL is allowed. */
void request_guard_close(struct request_guard *gate);

/* Returns the number of the request that the library now begins: 1, 2, ... */
uint64_t request_guard_begin(struct request_guard *gate);

/* Returns ST_OK if all that was read of that request so far has passed, and otherwise
 * the reason why it has not. */
enum status request_guard_verdict(const struct request_guard *gate, uint64_t number,
                                  struct error *error);

#endif
