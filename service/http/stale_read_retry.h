/*
 * stale_read_retry.h - before a daemon of a shared store replies that a thing does not
 * exist, it reads the store: another daemon may have made it a moment ago
 * (store_poller.h). So after a client gets a 201 from one daemon, every other daemon
 * finds the thing.
 *
 *   handled --404--> LOOK_DUE -- a look --> LOOK_DONE, handled again --> answered
 *
 * A thing that the principal may not see is looked up in the same way as one that does
 * not exist (access.h), so the time of a 404 does not reveal which it was. The write
 * queue looks before it handles a request.
 *
 * Threads: the one that has the request.
 */
#ifndef SERVICE_HTTP_STALE_READ_RETRY_H
#define SERVICE_HTTP_STALE_READ_RETRY_H

#include "service/http/request.h"
#include "store/sql/scope.h"

struct daemon_state;
struct store_tx;

/* Returns whether the request, which was handled, must be handled again after a look:
 * if so, its look is due. */
bool stale_read_retry_due(const struct daemon_state *context, struct request *request);

/* The same for a request whose headers were checked with this status: ST_NEEDS_REFRESH,
 * or ST_NOT_FOUND for the target of a file. */
bool stale_read_retry_due_first(const struct daemon_state *context,
                                struct request *request, enum status status);

/* Returns whether its look was due. If so, the look is now done, and the earlier reply
 * is discarded. */
bool stale_read_retry_end(struct request *request);

/* Looks, for requests that a thread that may wait is about to handle. */
void stale_read_retry_before(const struct daemon_state *context);

/* --- what another daemon writes while a request is handled --- */

enum { SECOND_LOOKS_MAX = 8 }; /* attempts to handle a request */

/* Begins to handle the request by the current state of memory, and drops its reply. */
void stale_read_retry_begin(const struct daemon_state *context,
                            struct request *request);

/* Checks whether memory is still as it was when the request was checked against it; to
 * be called in the request's transaction.
 *   ST_CONFLICT  other daemons have written since: the request must be handled again */
enum status stale_read_retry_check(const struct daemon_state *context,
                                   const struct request *request, struct error *error);

/* Begins a transaction (store_begin) for a request that was checked against memory
 * before.
 *   ST_CONFLICT  as above; there is no transaction
 *   ST_IO        the store is poisoned */
enum status stale_read_retry_open(const struct daemon_state *context,
                                  const struct request *request, enum store_scope scope,
                                  struct store_tx **tx, struct error *error);

/* Returns whether the request was refused because of what others may have written
 * meanwhile, and must be handled again. */
bool stale_read_retry_failed(const struct daemon_state *context,
                             const struct request *request);

#endif
