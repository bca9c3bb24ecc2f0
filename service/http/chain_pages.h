/*
 * chain_pages.h - replies with some entries of a hash chain, the ledger's or the audit
 * trail's: a page of JSON, or one entry per line with Accept: application/x-ndjson. A
 * page continues after the number of the last entry, so that pages never shift.
 *
 * Ownership: chain_pages_reply takes them; until then chain_pages_destroy releases
 * them.
 *
 * Threads: the request's.
 */
#ifndef SERVICE_HTTP_CHAIN_PAGES_H
#define SERVICE_HTTP_CHAIN_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "service/http/request.h"

struct chain_pages; /* opaque */

/* The parameters page_size, page_token and order. */
struct chain_pages_wanted {
    size_t size;
    bool newest_first;
    uint64_t after, before; /* numbers of entries, as in struct ledger_range */
};

/* Reads the parameters. The default number of lines is LIMIT_PAGE_SIZE.
 *   ST_INVALID  one of them is malformed */
enum status chain_pages_parse(struct chain_pages_wanted *wanted,
                              const struct request *request, struct error *error);

struct chain_pages *chain_pages_create(const struct chain_pages_wanted *wanted);
void chain_pages_destroy(void *entries);

/* Returns whether there is room for one more entry. If not, the answer will say that
 * there are more. */
bool chain_pages_have_room(struct chain_pages *entries);

/* Adds the JSON text of the next entry, which has this number; takes the text. */
void chain_pages_add(struct chain_pages *entries, uint64_t seq, char *text_take);

/* Makes a page say that entries up to this number are archived, and may be missing from
 * it. */
void chain_pages_archived(struct chain_pages *entries, uint64_t seq);

/* Makes the reply; name is the name of the list's member. */
void chain_pages_reply(struct request *request, struct chain_pages *entries_take,
                       const char *name);

#endif
