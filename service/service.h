/*
 * service.h - everything one process holds, and the order in which it is opened,
 * recovered, drained and closed.
 *
 * Locks, outermost first: the public clock's gate; the store's transaction; the long polls;
 * then one of datasets, jobs, models, pool, ledger or sessions at a time.
 *
 * Threads
 *   desk        one: whatever writes to the store on behalf of a request, so that twins
 *               of a request meet in order; and whatever syncs files
 *   predictors  as many as there are cores, at most PREDICTOR_THREADS_MAX, and one for
 *               small requests: predictions, and checks of the files of models
 *   importer    one import at a time
 *   runners     --workers jobs at once, each with its own team of --threads
 * and those of the HTTP server, which never wait.
 */
#ifndef SERVICE_SERVICE_H
#define SERVICE_SERVICE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "accountant/ledger.h"
#include "base/status.h"
#include "service/config.h"
#include "service/datasets.h"
#include "service/float_safety.h"
#include "service/jobs.h"
#include "service/loaded_models.h"
#include "service/models.h"
#include "service/pool.h"
#include "service/predictors.h"
#include "service/public_clock.h"
#include "service/long_polls.h"
#include "store/blob.h"
#include "store/store.h"

struct service {
    const struct config *config;
    struct blobs *blobs;
    struct store *store;
    struct ledger *ledger;
    struct datasets *datasets;
    struct jobs *jobs;
    struct models *models;
    struct long_polls *long_polls;
    struct pool *desk, *importer, *runners;
    struct public_clock *clock; /* its ticks show what runs have come to (tick.h) */
    struct predictors *predictors;
    struct loaded_models *loaded_models;
    struct float_safety *float_safety; /* of the models that were asked for */
    char nonce[17];                    /* of this start, part of every job's ETag */
    atomic_bool draining;              /* no new jobs */
    atomic_bool stop_training;         /* running jobs end as FAILED (shutdown) */
    atomic_bool import_cancel;
    atomic_uint_fast64_t disk_room; /* see service_disk_room */
};

struct service_hooks {
    void (*run)(void *context, void *item); /* context is the service, item a request */
    void (*late)(void *context, void *item); /* it waited too long to be run */
    void (*resume)(void *waiting);           /* of a long poll */
};

/* Opens the directory, verifies the ledger and recovers what a dead process left
 * (store/README.md).
 *   ST_IO       cannot be opened, or in use: exit 75
 *   ST_CORRUPT  the ledger does not verify: exit 65
 *   ST_INVALID  a newer schema: exit 78 */
enum status service_open(struct service *service, const struct config *config,
                         const struct service_hooks *hooks, struct error *error);

/* Starts the public clock, and the jobs that are queued: once the server listens, so that
 * a process that cannot be reached runs nothing. */
void service_start(struct service *service);

/* Refuses new jobs, waits for the running ones as the configuration says, then stops
 * them between steps, at a tick. Queued jobs stay queued. All ends are known at its end. */
void service_drain(struct service *service);

/* After service_drain and the end of the HTTP server. A zeroed service is allowed. */
void service_close(struct service *service);

/*   ST_DISK_FULL  less than 64 MiB is free: nothing new is taken (store/README.md) */
enum status service_check_disk(const struct service *service, struct error *error);

/* Removes a file of the data directory, durably; a failure is logged. */
bool service_remove(const struct service *service, const char *name);

/* Bytes that may still be written before that: as the last tick found them, less what
 * uploads have written since. The disk itself would tell whoever asks often when a run
 * put its model there. */
uint64_t service_disk_room(const struct service *service);
void service_take_disk(struct service *service, uint64_t size);
void service_measure_disk(struct service *service);

/* For any failure that may mean the ledger can no longer be written: where the store is
 * poisoned, logs it, lets replies leave for a moment and ends the process with 75. */
void service_guard(const struct service *service);

#endif
