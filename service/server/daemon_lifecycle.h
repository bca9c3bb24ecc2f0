/*
 * daemon_lifecycle.h - the life of the process between its configuration and its exit:
 *
 *   open --> start --> (serves) --> drain --> close
 *
 * In between, a struct daemon_state (daemon_state.h) holds everything that is open.
 */
#ifndef SERVICE_SERVER_DAEMON_LIFECYCLE_H
#define SERVICE_SERVER_DAEMON_LIFECYCLE_H

#include "service/config/config.h"

struct daemon_state;

struct
    daemon_lifecycle_hooks { /* functions of the HTTP server, called on this service's
                          threads */
    void (*run)(void *context, void *item); /* struct daemon_state; item is a request */
    void (*late)(void *context, void *item); /* the request waited too long to be run */
    void (*resume)(void *waiting);           /* of a long poll, or a stream */
    bool (*suspend)(void *waiting);          /* of a stream: session_suspend */
    bool (*may_stay)(void *waiting);         /* of a stream: session_may_stay */
};

/* Opens the directory, verifies the ledger and recovers what a dead process left
 * (recovery.h).
 *   ST_IO       cannot be opened, or in use: exit 75
 *   ST_CORRUPT  the ledger does not verify: exit 65
 *   ST_INVALID  a newer schema: exit 78 */
enum status daemon_lifecycle_open(struct daemon_state *context,
                                  const struct config *config,
                                  const struct daemon_lifecycle_hooks *hooks,
                                  struct error *error);

/* Starts the tick clock and the queued jobs. To be called once the server listens, so
 * that a process that cannot be reached runs nothing. */
void daemon_lifecycle_start(struct daemon_state *context);

/* Refuses new jobs, waits for the running ones as the configuration says, then stops
 * them between steps, at a tick. Queued jobs stay queued. All ends are published when
 * it returns. */
void daemon_lifecycle_drain(struct daemon_state *context);

/* Closes everything, after daemon_lifecycle_drain and the end of the HTTP server. A
 * zeroed context is allowed. */
void daemon_lifecycle_close(struct daemon_state *context);

#endif
