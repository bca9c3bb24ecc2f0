#include "service/page.h"

#include <stdlib.h>

#include "api/page_view.h"
#include "api/query.h"
#include "base/check.h"

/* Answers the index of the first wanted thing below end, plus one; 0 if there is
 * none. */
static size_t next_wanted(const struct page_source *source, size_t end)
{
    while (end > 0 && source->wanted != NULL &&
           !source->wanted(source->context, end - 1))
        end--;
    return end;
}

static char *collect(const struct page_source *source, size_t end, size_t size)
{
    char token[PAGE_TOKEN_SIZE];
    size_t count = 0;
    char **items = calloc(size, sizeof *items);
    CHECK(items != NULL);
    end = next_wanted(source, end);
    while (end > 0 && count < size) {
        items[count++] = source->text(source->context, end - 1);
        end = next_wanted(source, end - 1);
    }
    page_token_render(token, end);
    char *text = page_render(source->name, items, count, end > 0 ? token : NULL);
    for (size_t i = 0; i < count; i++)
        free(items[i]);
    free(items);
    return text;
}

enum status page_reply(struct request *request, const struct page_source *source,
                       struct error *error)
{
    size_t size = 0;
    uint64_t end = 0;
    const char *token = request_query(request, "page_token");
    enum status status =
        query_page_size(&size, request_query(request, "page_size"), error);
    if (page_token_parse(&end, token, error) != ST_OK || status != ST_OK)
        return ST_INVALID;
    if (token == NULL || end > source->count)
        end = source->count;
    request_answer(request, collect(source, (size_t)end, size));
    return ST_OK;
}
