#include "service/http/chain_pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <microhttpd.h>

#include "api/http/query.h"
#include "api/limits.h"
#include "api/views/page_view.h"
#include "base/check.h"

enum {
    LINES_TYPE = 1, /* routes for entries list JSON first, then NDJSON */
    LINK_SIZE = 1024,
};

struct chain_pages {
    size_t size, count; /* asked for, found */
    char **texts;       /* (size), the first count are owned */
    char order;         /* order in a page token: 'p' oldest first, 'q' newest first */
    uint64_t last;      /* seq */
    bool more;
    uint64_t archived; /* 0: nothing */
    size_t line, sent; /* the next line to send, and how much of it was sent */
};

static char order_letter(bool newest_first)
{
    return newest_first ? 'q' : 'p';
}

enum status chain_pages_parse(struct chain_pages_wanted *wanted,
                              const struct request *request, struct error *error)
{
    static const char *const orders[] = {"asc", "desc", NULL};
    const char *token = request_query(request, "page_token");
    const char *size = request_query(request, "page_size");
    unsigned order = 0;
    *wanted = (struct chain_pages_wanted){0};
    enum status status = query_page_size(&wanted->size, size, error);
    if (status == ST_OK)
        status = query_choice(&order, "order", request_query(request, "order"), orders,
                              error);
    wanted->newest_first = order == 1;
    struct page_mark mark = {.order = order_letter(wanted->newest_first)};
    if (status == ST_OK && token != NULL)
        status = page_mark_parse(&mark, token, error);
    if (size == NULL && request->type == LINES_TYPE)
        wanted->size = LIMIT_PAGE_SIZE;
    wanted->after = wanted->newest_first ? 0 : mark.position;
    wanted->before = wanted->newest_first ? mark.position : 0;
    return status;
}

struct chain_pages *chain_pages_create(const struct chain_pages_wanted *wanted)
{
    struct chain_pages *entries = calloc(1, sizeof *entries);
    CHECK(entries != NULL);
    entries->size = wanted->size;
    entries->order = order_letter(wanted->newest_first);
    entries->texts = calloc(wanted->size, sizeof *entries->texts);
    CHECK(entries->texts != NULL);
    return entries;
}

void chain_pages_destroy(void *destroyed)
{
    struct chain_pages *entries = destroyed;
    for (size_t i = 0; i < entries->count; i++)
        free(entries->texts[i]);
    free(entries->texts);
    free(entries);
}

bool chain_pages_have_room(struct chain_pages *entries)
{
    if (entries->count < entries->size)
        return true;
    entries->more = true;
    return false;
}

void chain_pages_add(struct chain_pages *entries, uint64_t seq, char *text_take)
{
    CHECK(entries->count < entries->size);
    entries->texts[entries->count++] = text_take;
    entries->last = seq;
}

/* --- as lines --- */

/* Copies the next part of the lines; each line is an entry and a line feed. */
static ssize_t pull_lines(void *context, uint64_t position, char *to, size_t room)
{
    struct chain_pages *entries = context;
    size_t filled = 0;
    (void)position;
    while (filled < room && entries->line < entries->count) {
        const char *rest = entries->texts[entries->line] + entries->sent;
        size_t left = strlen(rest);
        size_t size = left < room - filled ? left : room - filled;
        memcpy(to + filled, rest, size);
        filled += size;
        entries->sent += size;
        if (size < left || filled == room)
            continue;
        to[filled++] = '\n';
        entries->line++;
        entries->sent = 0;
    }
    return filled > 0 ? (ssize_t)filled : STREAM_END;
}

/* Appends a parameter with its value encoded as in RFC 3986, so that no value can end
 * the link. Returns false, and appends nothing, if there is no room. */
static bool link_add(char link[LINK_SIZE], const char *name, const char *value)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789-._~";
    enum { ENCODED = 3, FRAME = 3 }; /* bytes per byte of the value; "=", "&" and NUL */
    size_t used = strlen(link);
    if (used + strlen(name) + ENCODED * strlen(value) + FRAME > LINK_SIZE)
        return false;
    used += (size_t)sprintf(link + used, "%s=", name);
    for (; *value != '\0'; value++)
        used += (size_t)sprintf(link + used,
                                strchr(plain, *value) != NULL ? "%c" : "%%%02X",
                                (unsigned char)*value);
    strcpy(link + used, "&");
    return true;
}

/* Adds a link to the next page of lines, with the parameters that the request gave. If
 * they do not fit there is no link, because a link without one of the filters would
 * lead to other entries. */
static void link_next(struct request *request, const char *token)
{
    char link[LINK_SIZE] = "", name[32];
    const char *next = request->match.route->query;
    for (size_t size; *next != '\0'; next += size, next += strspn(next, " ")) {
        size = strcspn(next, " ");
        snprintf(name, sizeof name, "%.*s", (int)size, next);
        const char *value = request_query(request, name);
        if (value != NULL && strcmp(name, "page_token") != 0 &&
            !link_add(link, name, value))
            return;
    }
    reply_header_add(&request->reply, "Link", "<%s?%spage_token=%s>; rel=\"next\"",
                     request->path, link, token);
}

static void reply_lines(struct request *request, struct chain_pages *entries_take,
                        const char *token)
{
    struct stream stream = {
        .pull = pull_lines, .close = chain_pages_destroy, .context = entries_take};
    for (size_t i = 0; i < entries_take->count; i++)
        stream.size += strlen(entries_take->texts[i]) + 1;
    stream.held = stream.size;
    if (entries_take->more)
        link_next(request, token);
    reply_stream(&request->reply, "application/x-ndjson", &stream);
}

void chain_pages_archived(struct chain_pages *entries, uint64_t seq)
{
    entries->archived = seq;
}

void chain_pages_reply(struct request *request, struct chain_pages *entries_take,
                       const char *name)
{
    char token[PAGE_TOKEN_SIZE];
    page_mark_render(token, &(struct page_mark){.order = entries_take->order,
                                                .position = entries_take->last});
    reply_header_add(&request->reply, "Cache-Control", "no-store");
    if (request->type == LINES_TYPE) {
        reply_lines(request, entries_take, token);
        return;
    }
    reply_json(&request->reply, MHD_HTTP_OK,
               page_render_archived(name, entries_take->texts, entries_take->count,
                                    entries_take->more ? token : NULL,
                                    entries_take->archived));
    chain_pages_destroy(entries_take);
}
