#include "service/ingest/fetcher.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/http/routes.h"
#include "api/requests/fetch_request.h"
#include "base/check.h"
#include "base/log.h"
#include "base/status.h"
#include "service/config/config.h"
#include "service/datasets/datasets.h"
#include "service/ingest/fetch_status.h"
#include "service/ingest/fetched_dataset.h"
#include "service/ingest/query_import.h"
#include "service/ingest/upload.h"
#include "service/outbound/transfer.h"
#include "service/process/daemon_state.h"
#include "service/threads/epoch_reclaim.h"
#include "service/threads/long_polls.h"
#include "service/threads/pool.h"

enum {
    RESUMES_MAX = 5,
    REDIRECTS_MAX = 5, /* for a request without credentials */
    CONNECT_MS = 10000,
    STALLED_S = 60,
    HTTP_OK = 200,
    HTTP_PARTIAL = 206,
};

/* A fetch that is running. */
struct running {
    struct daemon_state *context;
    struct fetch *fetch;
    struct route_match place;
    struct upload upload;
    struct sha256 *hash;
    struct error error; /* why a piece could not be stored */
    uint64_t size;      /* of the file; 0: not known */
    char tag[TRANSFER_TAG_SIZE];
};

/* Marks the dataset, and notes which version of it a query's rows are for. */
static enum status mark(struct daemon_state *context, struct dataset *dataset,
                        struct fetch_query *query, struct error *error)
{
    struct dataset_info info;
    enum status status = fetched_dataset_mark(context, dataset, error);
    dataset_read(context->datasets, dataset, &info);
    if (query != NULL)
        query->version = info.version;
    return status;
}

enum status fetcher_start(struct daemon_state *context, const struct fetch_place *place,
                          const struct fetch_source *source, struct error *error)
{
    struct fetch *fetch = NULL;
    const struct route_match match = fetch_place_match(place);
    if (atomic_load(&context->draining))
        return error_set(error, ST_DRAINING, "the service is stopping");
    enum status status = upload_check(context, &match, error);
    if (status == ST_OK)
        status = mark(context, datasets_find(context->datasets, match.id),
                      source->query, error);
    if (status == ST_OK)
        status = fetch_status_add(context->fetch_status, place, source, &fetch, error);
    if (status == ST_OK)
        CHECK(pool_submit(context->fetchers, fetch, NULL) == ST_OK);
    return status;
}

/* --- received data --- */

static void take_size(void *context, uint64_t size)
{
    struct running *running = context;
    running->size = running->upload.size + size;
    fetch_status_grew(running->context->fetch_status, running->fetch,
                      running->upload.size, running->size);
}

static bool take(void *context, const void *data, size_t size)
{
    struct running *running = context;
    if (upload_write(running->context, &running->upload, data, size, &running->error) !=
        ST_OK)
        return false;
    sha256_update(running->hash, data, size);
    fetch_status_grew(running->context->fetch_status, running->fetch,
                      running->upload.size, running->size);
    return true;
}

/* --- requests --- */

/* Makes one request: for the whole file, or for the rest if some of it is there. */
static struct transfer_result ask(struct running *running)
{
    enum { HEADER_SIZE = TRANSFER_TAG_SIZE + 32 };
    char range[HEADER_SIZE], match[HEADER_SIZE];
    const struct fetch_request *asked = &running->fetch->request;
    const struct transfer_signature signature = {
        asked->region, asked->access_key_id, asked->secret_access_key,
        asked->session_token[0] != '\0' ? asked->session_token : NULL};
    bool resumes = running->upload.size > 0;
    struct transfer_request request = {
        .url = asked->url,
        .answer_max = running->context->config->upload_size_max - running->upload.size,
        .connect_ms = CONNECT_MS,
        .stalled_s = STALLED_S,
        .redirects_max = asked->has_s3 ? 0 : REDIRECTS_MAX,
        .signature = asked->has_s3 ? &signature : NULL,
        .wanted = resumes ? HTTP_PARTIAL : HTTP_OK,
        .take = take,
        .announced = take_size,
        .context = running,
        .cancel = &running->fetch->cancel,
    };
    if (resumes) {
        snprintf(range, sizeof range, "Range: bytes=%" PRIu64 "-",
                 running->upload.size);
        snprintf(match, sizeof match, "If-Match: %s", running->tag);
        request.headers[0] = range;
        request.headers[1] = match;
    }
    struct transfer *transfer = transfer_create(running->context->outbound, &request);
    struct transfer_result result = transfer_run(transfer);
    if (!resumes)
        transfer_tag(transfer, running->tag);
    transfer_destroy(transfer);
    return result;
}

static bool may_go_on(const struct running *running,
                      const struct transfer_result *result)
{
    return (result->end == TRANSFER_BROKEN || result->end == TRANSFER_TOO_SLOW) &&
           running->upload.size > 0 && running->tag[0] != '\0';
}

static struct transfer_result get(struct running *running)
{
    struct transfer_result result = ask(running);
    for (int i = 0; i < RESUMES_MAX && may_go_on(running, &result); i++)
        result = ask(running);
    return result;
}

/* --- its end --- */

static struct fetch_end failed(const char *result, unsigned http_status)
{
    return (struct fetch_end){FETCH_FAILED, result, http_status};
}

/* Returns whether the received file is complete and the one that was meant. */
static bool is_right(struct running *running, const char **why)
{
    uint8_t digest[SHA256_SIZE];
    char hex[SHA256_HEX_SIZE];
    const struct fetch_request *asked = &running->fetch->request;
    sha256_finish(running->hash, digest);
    sha256_render(hex, digest);
    *why = "checksum";
    if (asked->has_sha256)
        return hash_equal(hex, asked->sha256, sizeof hex);
    *why = running->size == 0 ? "unsized" : "broken";
    return running->size > 0 && running->upload.size == running->size;
}

static struct fetch_end end_of(struct running *running,
                               const struct transfer_result *result)
{
    const char *why;
    if (result->end == TRANSFER_CANCELLED)
        return (struct fetch_end){.state = FETCH_CANCELLED};
    if (result->end == TRANSFER_NOT_TAKEN)
        return fetch_end_of(running->error.status);
    if (result->end != TRANSFER_ANSWERED)
        return failed(transfer_end_name(result->end), 0);
    if (result->status != HTTP_OK && result->status != HTTP_PARTIAL)
        return failed("refused", result->status);
    if (!is_right(running, &why))
        return failed(why, 0);
    enum status status = upload_publish(running->context, &running->upload,
                                        &running->place, &running->error);
    return status == ST_OK ? (struct fetch_end){.state = FETCH_SUCCEEDED}
                           : fetch_end_of(status);
}

static struct fetch_end run(struct running *running)
{
    const struct upload_start start = {.place = &running->place,
                                       .principal = &running->fetch->place.principal};
    enum status status =
        upload_begin(running->context, &running->upload, &start, &running->error);
    if (status != ST_OK)
        return fetch_end_of(status);
    struct transfer_result result = get(running);
    struct fetch_end end = end_of(running, &result);
    upload_abandon(running->context, &running->upload);
    return end;
}

static struct fetch_end download(struct daemon_state *context, struct fetch *fetch)
{
    struct running running = {.context = context, .fetch = fetch};
    running.place = fetch_place_match(&fetch->place);
    running.hash = sha256_create();
    const struct fetch_end end = run(&running);
    sha256_destroy(running.hash);
    return end;
}

/* Wakes requests that wait for the end of a query. */
static void wake(struct daemon_state *context, const struct fetch_place *place)
{
    struct reclaim_reader visit;
    datasets_enter(context->datasets, &visit);
    long_polls_wake(context->long_polls,
                    datasets_find(context->datasets, place->dataset.text));
    datasets_leave(context->datasets, &visit);
}

void fetcher_run(void *argument, void *item)
{
    struct daemon_state *context = argument;
    struct fetch *fetch = item;
    const struct fetch_place place = fetch->place;
    const bool is_query = fetch->query != NULL;
    if (fetch_status_begin(context->fetch_status, fetch)) {
        const struct fetch_end end =
            is_query ? query_import_run(context, fetch) : download(context, fetch);
        log_event(LOG_INFO, "fetch_ended", "dataset", place.dataset.text, "file",
                  place.file, "result", end.result != NULL ? end.result : "",
                  (char *)NULL);
        fetch_status_end(context->fetch_status, fetch, &end);
    }
    if (is_query)
        wake(context, &place);
}
