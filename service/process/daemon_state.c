#include "service/process/daemon_state.h"

#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "service/process/counters.h"
#include "service/process/durations.h"
#include "store/blobs/blob.h"
#include "store/blobs/blob_name.h"
#include "store/store.h"

bool daemon_state_remove(const struct daemon_state *context,
                         const struct blob_name *name)
{
    struct error error = {0};
    char file_name[BLOB_FILE_NAME_SIZE];
    if (blob_remove(context->blobs, name, &error) == ST_OK)
        return true;
    blob_file_name(file_name, name);
    log_event(LOG_ERROR, "not_removed", "file", file_name, "detail", error.text,
              (char *)NULL);
    return false;
}

enum status daemon_state_end(const struct daemon_state *context, struct store_tx *tx,
                             enum status status, struct error *error)
{
    if (status != ST_OK)
        return store_end(tx, status, error);
    int64_t start_ns = clock_monotonic_ns();
    status = store_commit(tx, error);
    if (status == ST_OK)
        durations_add(&context->counters->commit_time, clock_monotonic_ns() - start_ns);
    return status;
}

void daemon_state_guard(const struct daemon_state *context)
{
    static const struct timespec replies_leave = {.tv_nsec = 200000000};
    if (!store_poisoned(context->store))
        return;
    nanosleep(&replies_leave, NULL);
    blobs_drop_ballast(context->blobs);
    log_fatal("ledger_unavailable", store_why(context->store));
}
