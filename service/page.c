/* By places, a page is a walk from its mark. By keys, whatever is wanted behind the mark
 * is gathered and sorted, and the page is its beginning. */
#include "service/page.h"

#include <stdlib.h>
#include <string.h>
#include <microhttpd.h>

#include "api/page_view.h"
#include "api/query.h"
#include "base/check.h"

struct page { /* what is to be shown of a source, and what is found */
    const struct page_source *source;
    bool is_first; /* no mark */
    struct page_mark mark;
    size_t size, count;
    char **items; /* (size), count of which are there */
    bool more;
};

static bool is_seen(const struct page_source *source, size_t place)
{
    return source->seen == NULL || source->seen(source->context, place);
}

static bool is_wanted(const struct page_source *source, size_t place)
{
    return is_seen(source, place) &&
           (source->wanted == NULL || source->wanted(source->context, place));
}

static void show(struct page *page, size_t place)
{
    char *text = page->source->text(page->source->context, place);
    if (text != NULL)
        page->items[page->count++] = text;
}

/* --- by places --- */

/* The mark is one above the place where newest first goes on, and that place itself
 * where oldest first does. */
static void walk_down(struct page *page)
{
    const struct page_source *source = page->source;
    size_t end = source->count;
    if (!page->is_first && page->mark.position < end)
        end = (size_t)page->mark.position;
    for (; end > source->first; end--) {
        if (!is_wanted(source, end - 1))
            continue;
        page->more = page->count == page->size;
        if (page->more)
            break;
        show(page, end - 1);
    }
    page->mark.position = end;
}

static void walk_up(struct page *page)
{
    const struct page_source *source = page->source;
    size_t place = source->first;
    if (!page->is_first && page->mark.position > place)
        place = (size_t)page->mark.position;
    for (; place < source->count; place++) {
        if (!is_wanted(source, place))
            continue;
        page->more = page->count == page->size;
        if (page->more)
            break;
        show(page, place);
    }
    page->mark.position = place;
}

/* --- by keys --- */

struct keyed {
    struct page_key key;
    size_t place;
};

static int compare(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;
    int by_number = (a->key.number > b->key.number) - (a->key.number < b->key.number);
    int by_text = a->key.text != NULL ? strcmp(a->key.text, b->key.text) : 0;
    int by_place = (a->place > b->place) - (a->place < b->place);
    return by_number != 0 ? by_number : by_text != 0 ? by_text : by_place;
}

/* The mark as a thing of the list. */
static struct keyed keyed_of_mark(const struct page *page)
{
    size_t place = (size_t)page->mark.position;
    struct keyed keyed = {page->source->key(page->source->context, place), place};
    if (page->mark.has_number)
        keyed.key.number = page->mark.number;
    return keyed;
}

/* Gathers what is wanted behind the mark, in ascending order; found has room for all. */
static size_t gather(const struct page *page, struct keyed *found)
{
    const struct page_source *source = page->source;
    struct keyed mark = {0};
    size_t count = 0;
    if (!page->is_first)
        mark = keyed_of_mark(page);
    for (size_t place = source->first; place < source->count; place++) {
        if (!is_wanted(source, place))
            continue;
        struct keyed *next = &found[count];
        *next = (struct keyed){source->key(source->context, place), place};
        int behind = page->is_first ? 1 : compare(next, &mark);
        count += source->ascending ? behind > 0 : behind < 0 || page->is_first;
    }
    qsort(found, count, sizeof *found, compare);
    return count;
}

static void sort_out(struct page *page)
{
    const struct page_source *source = page->source;
    struct keyed *found = calloc(source->count + 1, sizeof *found);
    CHECK(found != NULL);
    size_t count = gather(page, found);
    size_t i = 0;
    for (; i < count && page->count < page->size; i++) {
        const struct keyed *next = &found[source->ascending ? i : count - 1 - i];
        show(page, next->place);
        page->mark.position = next->place;
        page->mark.number = next->key.number;
    }
    page->more = i < count;
    free(found);
}

/* --- the page --- */

static char *collect(struct page *page)
{
    char token[PAGE_TOKEN_SIZE];
    const struct page_source *source = page->source;
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

/* An order has two letters, from p on: of newest or greatest first, and of oldest or
 * least first. */
static char letter_of(const struct page_source *source)
{
    return (char)('p' + 2 * source->order + source->ascending);
}

static enum status read_mark(struct page *page, const char *token, struct error *error)
{
    const struct page_source *source = page->source;
    page->is_first = token == NULL;
    page->mark.order = letter_of(source);
    page->mark.has_number = source->key != NULL && !source->by_text;
    if (token == NULL)
        return ST_OK;
    enum status status = page_mark_parse(&page->mark, token, error);
    if (status == ST_OK && source->key != NULL &&
        (page->mark.position >= source->count ||
         !is_seen(source, (size_t)page->mark.position)))
        return query_refuse("page_token", "is not one that was given out", error);
    return status;
}

enum status page_reply(struct request *request, const struct page_source *source,
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
