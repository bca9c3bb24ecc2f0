/*
 * service.h - the life of the process between its configuration and its exit:
 *
 *   open --> start --> (serves) --> drain --> close
 *
 * In between, a struct context (context.h) holds everything that is open.
 */
#ifndef SERVICE_SERVICE_H
#define SERVICE_SERVICE_H

#include "service/config.h"

struct context;

struct service_hooks { /* functions of the HTTP server, called on this service's
                          threads */
    void (*run)(void *context, void *item);  /* struct context; item is a request */
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
enum status service_open(struct context *context, const struct config *config,
                         const struct service_hooks *hooks, struct error *error);

/* Starts the public clock and the queued jobs. To be called once the server listens, so
 * that a process that cannot be reached runs nothing. */
void service_start(struct context *context);

/* Refuses new jobs, waits for the running ones as the configuration says, then stops
 * them between steps, at a tick. Queued jobs stay queued. All ends are published when
 * it returns. */
void service_drain(struct context *context);

/* Closes everything, after service_drain and the end of the HTTP server. A zeroed
 * context is allowed. */
void service_close(struct context *context);

#endif
