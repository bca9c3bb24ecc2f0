/*
 * Serves the dashboard and the API's page to browsers. The dashboard's pages have paths
 * of their own, and each of them is answered with the same index.html, which also says
 * that there is no such page; the API's page is docs.html. Browsers request both again each time. These pages name their files
 * below /ui/VERSION/, and those files never change.
 */
#include <string.h>
#include <microhttpd.h>

#include "base/check.h"
#include "service/config/config.h"
#include "service/handlers/handlers.h"
#include "service/http/assets.h"
#include "service/process/daemon_state.h"

static const char policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types lit-html";

static void reply_file_of_ui(struct request *request, const struct asset *asset)
{
    reply_header_add(&request->reply, "Content-Security-Policy", "%s", policy);
    reply_header_add(&request->reply, "Referrer-Policy", "no-referrer");
    reply_header_add(&request->reply, "Cross-Origin-Opener-Policy", "same-origin");
    reply_header_add(&request->reply, "Cross-Origin-Resource-Policy", "same-origin");
    reply_asset(&request->reply, asset, request_wants_packed(request));
}

static enum status reply_page(struct daemon_state *context, struct request *request,
                              const char *name, struct error *error)
{
    const struct asset *page = asset_find(name);
    CHECK(page != NULL);
    if (!context->config->ui)
        return error_set(error, ST_NOT_FOUND, "this daemon serves no dashboard");
    reply_header_add(&request->reply, "Cache-Control", "no-cache");
    reply_file_of_ui(request, page);
    return ST_OK;
}

enum status handle_root(struct daemon_state *context, struct request *request,
                        struct error *error)
{
    if (!context->config->ui)
        return error_set(error, ST_NOT_FOUND, "this daemon serves no dashboard");
    reply_header_add(&request->reply, "Location", "./ui/");
    reply_empty(&request->reply, MHD_HTTP_FOUND);
    return ST_OK;
}

enum status handle_dashboard(struct daemon_state *context, struct request *request,
                             struct error *error)
{
    return reply_page(context, request, "index.html", error);
}

enum status handle_docs(struct daemon_state *context, struct request *request,
                        struct error *error)
{
    return reply_page(context, request, "docs.html", error);
}

enum status handle_dashboard_page(struct daemon_state *context, struct request *request,
                                  struct error *error)
{
    return reply_page(context, request, "index.html", error);
}

/* Files have an extension, and are below a version. The page of a dataset or a job has a
 * path that may look so too: the id of a dataset may contain a point. */
static bool is_file(const struct route_match *match)
{
    bool is_thing = strcmp(match->id, "datasets") == 0 ||
                    strcmp(match->id, "jobs") == 0 || strcmp(match->id, "sweeps") == 0;
    return !is_thing && strchr(match->name, '.') != NULL;
}

enum status handle_dashboard_item(struct daemon_state *context, struct request *request,
                                  struct error *error)
{
    const struct route_match *match = &request->match;
    if (!is_file(match))
        return reply_page(context, request, "index.html", error);
    const struct asset *asset = asset_find(match->name);
    if (!context->config->ui || strcmp(match->id, asset_version()) != 0 ||
        asset == NULL)
        return error_set(error, ST_NOT_FOUND, "the dashboard has no such file");
    reply_header_add(&request->reply, "Cache-Control",
                     "public, max-age=31536000, immutable");
    reply_file_of_ui(request, asset);
    return ST_OK;
}
