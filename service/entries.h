/*
 * entries.h - some entries of a chain, the ledger's or the audit trail's, as they are
 * answered: a page of JSON, or with Accept: application/x-ndjson lines, an entry each.
 * Pages go on behind the number of the last entry, so that they never shift.
 *
 * Ownership: entries_reply takes them; until then entries_destroy releases them.
 *
 * Threads: the request's.
 */
#ifndef SERVICE_ENTRIES_H
#define SERVICE_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "service/request.h"

struct entries; /* opaque */

struct entries_wanted { /* what is asked for by page_size, page_token and order */
    size_t size;
    bool newest_first;
    uint64_t after, before; /* numbers of entries, as in struct ledger_range */
};

/* Reads the parameters; lines are LIMIT_PAGE_SIZE where their number is not named.
 *   ST_INVALID  one of them is no such thing */
enum status entries_parse(struct entries_wanted *wanted, const struct request *request,
                          struct error *error);

struct entries *entries_create(const struct entries_wanted *wanted);
void entries_destroy(void *entries);

/* Tells whether there is room for one more; where there is none, the answer will say that
 * there are more. */
bool entries_have_room(struct entries *entries);

/* Adds the next, which has this number: its JSON text, taken. */
void entries_add(struct entries *entries, uint64_t seq, char *text_take);

/* Has a page say that entries up to this number are archived, and not all among these. */
void entries_archived(struct entries *entries, uint64_t seq);

/* Makes the reply; name is that of the list's member. */
void entries_reply(struct request *request, struct entries *entries_take,
                   const char *name);

#endif
