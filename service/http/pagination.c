/* By numbers, a page is a walk from its mark. By keys, everything wanted behind the
 * mark is gathered and sorted, and the page is the beginning of that. */
#include "service/http/pagination.h"

#include <stdlib.h>
#include <string.h>
#include <microhttpd.h>

#include "api/http/query.h"
#include "api/views/page_view.h"
#include "base/check.h"

struct page { /* what is wanted of a source, and what is found */
    const struct pagination_source *source;
    bool is_first; /* no mark */
    struct page_mark mark;
    size_t size, count;
    char **items; /* (size), the first count are set */
    bool more;
};

static bool is_seen(const struct pagination_source *source, size_t place)
{
    return source->seen == NULL || source->seen(source->context, place);
}

static bool is_wanted(const struct pagination_source *source, size_t place)
{
    return is_seen(source, place) &&
           (source->wanted == NULL || source->wanted(source->context, place));
}

static uint64_t number_of(const struct pagination_source *source, size_t place)
{
    return source->number == NULL ? place + 1 : source->number(source->context, place);
}

/* The first place whose number is at least this; the count if there is none. */
static size_t place_of(const struct pagination_source *source, uint64_t number)
{
    size_t low = 0, high = source->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (number_of(source, middle) < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void show(struct page *page, size_t place)
{
    const struct pagination_source *source = page->source;
    char *text = source->text(source->context, place);
    if (text == NULL)
        return;
    page->items[page->count++] = text;
    page->mark.position = number_of(source, place);
}

/* --- by numbers --- */

static void walk_down(struct page *page)
{
    const struct pagination_source *source = page->source;
    size_t end = page->is_first ? source->count : place_of(source, page->mark.position);
    for (; end > source->first && !page->more; end--) {
        if (!is_wanted(source, end - 1))
            continue;
        page->more = page->count == page->size;
        if (!page->more)
            show(page, end - 1);
    }
}

static void walk_up(struct page *page)
{
    const struct pagination_source *source = page->source;
    size_t place = page->is_first ? 0 : place_of(source, page->mark.position + 1);
    if (place < source->first)
        place = source->first;
    for (; place < source->count && !page->more; place++) {
        if (!is_wanted(source, place))
            continue;
        page->more = page->count == page->size;
        if (!page->more)
            show(page, place);
    }
}

/* --- by keys --- */

struct keyed {
    struct pagination_key key;
    uint64_t number;
    size_t place; /* set for a thing of the list, not for a mark */
};

static int compare(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;
    int by_key = (a->key.number > b->key.number) - (a->key.number < b->key.number);
    int by_text = a->key.text != NULL ? strcmp(a->key.text, b->key.text) : 0;
    int by_number = (a->number > b->number) - (a->number < b->number);
    return by_key != 0 ? by_key : by_text != 0 ? by_text : by_number;
}

static struct keyed keyed_of(const struct pagination_source *source, size_t place)
{
    return (struct keyed){source->key(source->context, place), number_of(source, place),
                          place};
}

/* The mark as a thing of the list. If keys are texts, the thing is there, and its text
 * is read. */
static struct keyed keyed_of_mark(const struct page *page)
{
    const struct pagination_source *source = page->source;
    if (source->by_text)
        return keyed_of(source, place_of(source, page->mark.position));
    return (struct keyed){.key = {.number = page->mark.number},
                          .number = page->mark.position};
}

/* Gathers everything wanted behind the mark, in ascending order; found has room for
 * all. */
static size_t gather(const struct page *page, struct keyed *found)
{
    const struct pagination_source *source = page->source;
    struct keyed mark = {0};
    size_t count = 0;
    if (!page->is_first)
        mark = keyed_of_mark(page);
    for (size_t place = source->first; place < source->count; place++) {
        if (!is_wanted(source, place))
            continue;
        struct keyed *next = &found[count];
        *next = keyed_of(source, place);
        int behind = page->is_first ? 1 : compare(next, &mark);
        count += source->ascending ? behind > 0 : behind < 0 || page->is_first;
    }
    qsort(found, count, sizeof *found, compare);
    return count;
}

static void sort_out(struct page *page)
{
    const struct pagination_source *source = page->source;
    struct keyed *found = calloc(source->count + 1, sizeof *found);
    CHECK(found != NULL);
    size_t count = gather(page, found);
    size_t i = 0;
    for (; i < count && page->count < page->size; i++) {
        const struct keyed *next = &found[source->ascending ? i : count - 1 - i];
        show(page, next->place);
        page->mark.number = next->key.number;
    }
    page->more = i < count;
    free(found);
}

/* --- the page --- */

static char *collect(struct page *page)
{
    char token[PAGE_TOKEN_SIZE];
    const struct pagination_source *source = page->source;
    page->items = calloc(page->size, sizeof *page->items);
    CHECK(page->items != NULL);
    if (source->key != NULL)
        sort_out(page);
    else if (source->ascending)
        walk_up(page);
    else
        walk_down(page);
    page_mark_render(token, &page->mark);
    char *text =
        page_render(source->name, page->items, page->count, page->more ? token : NULL);
    for (size_t i = 0; i < page->count; i++)
        free(page->items[i]);
    free(page->items);
    return text;
}

/* An order has two letters, beginning with a: one for newest or greatest first, and one
 * for oldest or least first. The letters from p on belonged to places, which a start
 * may have moved. */
static char letter_of(const struct pagination_source *source)
{
    return (char)('a' + 2 * source->order + source->ascending);
}

/* Returns whether the mark names a thing of the list that the client may see. */
static bool names_seen(const struct page *page)
{
    const struct pagination_source *source = page->source;
    size_t place = place_of(source, page->mark.position);
    return place < source->count && number_of(source, place) == page->mark.position &&
           is_seen(source, place);
}

static enum status read_mark(struct page *page, const char *token, struct error *error)
{
    const struct pagination_source *source = page->source;
    page->is_first = token == NULL;
    page->mark.order = letter_of(source);
    page->mark.has_number = source->key != NULL && !source->by_text;
    if (token == NULL)
        return ST_OK;
    enum status status = page_mark_parse(&page->mark, token, error);
    if (status == ST_OK && source->by_text && !names_seen(page))
        return query_refuse("page_token", "is not one that was given out", error);
    return status;
}

enum status pagination_reply(struct request *request,
                             const struct pagination_source *source,
                             struct error *error)
{
    struct page page = {.source = source};
    enum status status =
        query_page_size(&page.size, request_query(request, "page_size"), error);
    if (read_mark(&page, request_query(request, "page_token"), error) != ST_OK ||
        status != ST_OK)
        return ST_INVALID;
    if (source->tag == NULL || !request_knows(request, source->tag))
        reply_json(&request->reply, MHD_HTTP_OK, collect(&page));
    return ST_OK;
}
