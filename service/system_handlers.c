#include <string.h>
#include <microhttpd.h>

#include "api/page_view.h"
#include "base/check.h"
#include "service/assets.h"
#include "service/handlers.h"
#include "service/kernel.h"

bool algorithm_list(struct context *context, struct request *request)
{
    (void)context;
    reply_json_tagged(request, algorithms_render());
    return true;
}

bool openapi_get(struct context *context, struct request *request)
{
    (void)context;
    request->reply.status = MHD_HTTP_OK;
    request->reply.type = "application/yaml";
    request->reply.fixed = asset_openapi;
    request->reply.size = (size_t)(asset_openapi_end - asset_openapi);
    return true;
}

bool version_get(struct context *context, struct request *request)
{
    (void)context;
    reply_json(request, MHD_HTTP_OK, version_render(EPSILOND_VERSION, kernel_name()));
    return true;
}

static void reply_ok(struct request *request)
{
    char *text = strdup("{\"status\":\"ok\"}");
    CHECK(text != NULL);
    reply_header_add(request, "Cache-Control", "no-store");
    reply_json(request, MHD_HTTP_OK, text);
}

bool livez_get(struct context *context, struct request *request)
{
    (void)context;
    reply_ok(request);
    return true;
}

bool readyz_get(struct context *context, struct request *request)
{
    struct error error = {0};
    if (store_poisoned(context->store))
        error_set(&error, ST_IO, "the ledger cannot be written");
    else if (atomic_load(&context->draining))
        error_set(&error, ST_DRAINING, "the service is stopping");
    if (error.status != ST_OK)
        reply_problem(request, &error, NULL);
    else
        reply_ok(request);
    return true;
}
