/*
 * connection_gate.h - what stands between a connection and libmicrohttpd: no byte of a
 * request is seen by the library before api/framing.h has passed it.
 *
 * libmicrohttpd reads a connection by calling recv(2), which it takes, as every shared
 * library does, from where the dynamic linker finds it first: in the program itself.
 * connection_gate.c defines recv. On a socket with a gate it reads, checks, keeps what
 * may not pass yet, and hands on the rest; on any other it is the system's. Where a
 * connection speaks TLS the library reads by gnutls_record_recv instead, and
 * connection_gate.c defines that too: what is checked is what was deciphered.
 *
 * Invariants
 *   (1) A request whose bytes did not come through its gate is refused: connection_gate_verdict
 *       counts what passed, so a library that read in some other way would be answered
 *       500, not believed.
 *   (2) After a refusal the library is given api/framing.h's stand-in, and what the
 *       client still sends is dropped.
 *
 * Threads: a gate belongs to the HTTP thread that serves its connection.
 */
#ifndef SERVICE_CONNECTION_GATE_H
#define SERVICE_CONNECTION_GATE_H

#include <stdint.h>
#include <gnutls/gnutls.h>

#include "base/status.h"

struct connection_gate; /* opaque */

/* Sets a gate before the library reads the socket. tls is the session that deciphers
 * what the socket holds; NULL where it speaks plain HTTP. The answer is NULL where the
 * descriptor is too high for a gate; then none of its requests will be taken. */
struct connection_gate *connection_gate_open(int socket, gnutls_session_t tls);
/* Must be called before the socket is closed. NULL is allowed. */
void connection_gate_close(struct connection_gate *gate);

/* Answers the number of the request that the library now begins: 1, 2, ... */
uint64_t connection_gate_begin(struct connection_gate *gate);

/* Answers ST_OK where all that was read of that request so far has passed, and
 * otherwise why it has not. */
enum status connection_gate_verdict(const struct connection_gate *gate, uint64_t number,
                                    struct error *error);

#endif
