#include <stdio.h>
#include <string.h>
#include <microhttpd.h>

#include "accountant/ledger/ledger_view.h"
#include "api/http/exposition.h"
#include "api/requests/proposal.h"
#include "api/views/system_view.h"
#include "base/check.h"
#include "base/clock.h"
#include "service/access/access.h"
#include "service/config/config.h"
#include "service/datasets/dataset_info.h"
#include "service/datasets/datasets.h"
#include "service/handlers/cold_account.h"
#include "service/handlers/handlers.h"
#include "service/http/assets.h"
#include "service/jobs/jobs.h"
#include "service/metrics/metrics.h"
#include "service/process/blas_kernel.h"
#include "service/process/daemon_state.h"
#include "service/process/disk_room.h"
#include "service/process/job_state.h"

enum status handle_algorithm_list(struct daemon_state *context, struct request *request,
                                  struct error *error)
{
    (void)context, (void)error;
    request_answer(request, algorithms_render());
    return ST_OK;
}

enum status handle_openapi(struct daemon_state *context, struct request *request,
                           struct error *error)
{
    const struct asset *document = asset_find("openapi.yaml");
    (void)context, (void)error;
    CHECK(document != NULL);
    reply_asset(&request->reply, document, request_wants_packed(request));
    return ST_OK;
}

enum status handle_version(struct daemon_state *context, struct request *request,
                           struct error *error)
{
    (void)context, (void)error;
    reply_json(&request->reply, MHD_HTTP_OK,
               version_render(EPSILOND_VERSION, blas_kernel_name()));
    return ST_OK;
}

static struct dataset_counts count_datasets(struct daemon_state *context,
                                            const struct request *request,
                                            int64_t now_ms)
{
    struct dataset_info info;
    struct dataset_counts counts = {0};
    const struct access_question question = handler_question(request);
    for (size_t i = datasets_count(context->datasets); i-- > 0;) {
        const struct dataset *dataset = datasets_at(context->datasets, i);
        if (!access_sees_dataset(&question, dataset))
            continue;
        dataset_read_as(context->datasets, dataset, NULL, &info);
        if (info.state == DATASET_DELETED)
            continue;
        const struct proposal *proposal = &info.detail.proposal;
        if (proposal_state_at(proposal, now_ms) == PROPOSAL_PENDING)
            counts.waiting++;
        else if (!proposal_bars(proposal) && dataset_spec(dataset)->is_public)
            counts.public_ones++;
        else if (!proposal_bars(proposal))
            counts.protected_ones++;
    }
    return counts;
}

/* The reply depends on the states of jobs and datasets, the ledger, and whether the
 * service takes work; the rest is constant for the process. A grant lapses without any
 * row changing, so the tag contains the hour too. */
enum status handle_status(struct daemon_state *context, struct request *request,
                          struct error *error)
{
    enum { MS_PER_HOUR = 3600000 };
    char tag[128];
    struct ledger_entry_name head;
    const struct access_question question = handler_question(request);
    (void)error;
    const int64_t now_ms = clock_wall_ms();
    const uint64_t version = datasets_version(context->datasets);
    struct jobs_tally tally = jobs_tally(context->jobs);
    if (!access_is_everywhere(&question))
        jobs_tally_project(context->jobs, request->caller.principal.project,
                           tally.by_state);
    ledger_head(context->ledger, &head);
    bool draining = atomic_load(&context->draining);
    bool ready = !draining && !store_poisoned(context->store);
    struct status_view view = {
        .version = EPSILOND_VERSION,
        .ready = ready,
        .draining = draining,
        .state_count = JOB_STATE_COUNT,
        .states = job_state_names,
        .jobs = tally.by_state,
        .workers = context->config->workers,
        .queue_length = tally.queued,
        .queue_length_max = context->config->queue_length_max,
        .head = &head,
        .start_ms = context->start_ms,
    };
    snprintf(tag, sizeof tag, "\"%s-%llu-%llu-%llu-%lld-%d%d\"", context->nonce,
             (unsigned long long)tally.states_version, (unsigned long long)head.seq,
             (unsigned long long)version, (long long)(now_ms / MS_PER_HOUR), ready,
             draining);
    if (request_knows(request, tag))
        return ST_OK;
    view.datasets = count_datasets(context, request, now_ms);
    reply_json(&request->reply, MHD_HTTP_OK, status_render(&view));
    return ST_OK;
}

static void reply_ok(struct request *request)
{
    char *text = strdup("{\"status\":\"ok\"}");
    CHECK(text != NULL);
    reply_header_add(&request->reply, "Cache-Control", "no-store");
    reply_json(&request->reply, MHD_HTTP_OK, text);
}

enum status handle_livez(struct daemon_state *context, struct request *request,
                         struct error *error)
{
    (void)context, (void)error;
    reply_ok(request);
    return ST_OK;
}

/* Replies with the reasons as JSON, with the same status as the probe without a
 * body. */
static void reply_readiness(struct daemon_state *context, struct request *request)
{
    const struct readiness readiness = {
        .writable = !store_poisoned(context->store),
        .room = disk_room_left(context->disk_room) > 0,
        .draining = atomic_load(&context->draining),
    };
    bool ready = readiness.writable && !readiness.draining;
    reply_header_add(&request->reply, "Cache-Control", "no-store");
    reply_json(&request->reply, ready ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE,
               readiness_render(&readiness));
}

enum status handle_metrics(struct daemon_state *context, struct request *request,
                           struct error *error)
{
    const struct access_question question = handler_question(request);
    enum status status = access_check_everywhere(&question, error);
    if (status != ST_OK)
        return status;
    char *text = metrics_render(context, request->ask == ASK_DONE);
    if (text == NULL) {
        cold_account_ask(request);
        return cold_account_status(request, error);
    }
    reply_header_add(&request->reply, "Cache-Control", "no-store");
    reply_json(&request->reply, MHD_HTTP_OK, text);
    request->reply.type = EXPOSITION_TYPE;
    return ST_OK;
}

enum status handle_readyz(struct daemon_state *context, struct request *request,
                          struct error *error)
{
    if (request_query(request, "verbose") != NULL) {
        reply_readiness(context, request);
        return ST_OK;
    }
    if (store_poisoned(context->store))
        return error_set(error, ST_IO, "the ledger cannot be written");
    if (atomic_load(&context->draining))
        return error_set(error, ST_DRAINING, "the service is stopping");
    reply_ok(request);
    return ST_OK;
}
