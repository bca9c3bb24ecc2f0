/*
 * entries.h - replies with some entries of a hash chain, the ledger's or the audit
 * trail's: a page of JSON, or one entry per line with Accept: application/x-ndjson. A
 * page continues after the number of the last entry, so that pages never shift.
 *
 * Ownership: entries_reply takes them; until then entries_destroy releases them.
 *
 * Threads: the request's.
 */
#ifndef SERVICE_ENTRIES_H
#define SERVICE_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

#include "service/request.h"

struct entries; /* opaque */

/* The parameters page_size, page_token and order. */
struct entries_wanted {
    size_t size;
    bool newest_first;
    uint64_t after, before; /* numbers of entries, as in struct ledger_range */
};

/* Reads the parameters. The default number of lines is LIMIT_PAGE_SIZE.
 *   ST_INVALID  one of them is malformed */
enum status entries_parse(struct entries_wanted *wanted, const struct request *request,
                          struct error *error);

struct entries *entries_create(const struct entries_wanted *wanted);
void entries_destroy(void *entries);

/* Returns whether there is room for one more entry. If not, the answer will say that
 * there are more. */
bool entries_have_room(struct entries *entries);

/* Adds the JSON text of the next entry, which has this number; takes the text. */
void entries_add(struct entries *entries, uint64_t seq, char *text_take);

/* Makes a page say that entries up to this number are archived, and may be missing from
 * it. */
void entries_archived(struct entries *entries, uint64_t seq);

/* Makes the reply; name is the name of the list's member. */
void entries_reply(struct request *request, struct entries *entries_take,
                   const char *name);

#endif
