/* Goal: no bytes in place of an entry's meta and curve break their readers, and what
 * they read renders to the same bytes. Input: the meta, a zero byte, the curve. */
#include <stdlib.h>
#include <string.h>

#include "accountant/ledger/entry.h"
#include "base/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_grant(const struct ledger_row *row)
{
    struct grant grant;
    struct filter filter;
    struct grant_approval approval;
    struct curve capacity;
    uint8_t bytes[ENTRY_CURVE_SIZE];
    if (!entry_grant_parse(&grant, &filter, &approval, row))
        return;
    char *text = entry_grant_render(&grant, &filter, &approval, entry_replaces(row));
    CHECK(strcmp(text, row->meta) == 0);
    free(text);
    entry_capacity(&capacity, &filter);
    entry_curve_encode(bytes, &capacity);
    CHECK(memcmp(bytes, row->curve, sizeof bytes) == 0);
}

static void read_reserve(const struct ledger_row *row)
{
    struct mechanism m;
    enum parts parts;
    if (!entry_reserve_parse(&m, &parts, row))
        return;
    char engine[ENTRY_ENGINE_SIZE];
    entry_engine(engine, row);
    CHECK(entry_parts(row) == parts);
    char *text = entry_reserve_render(&m, parts, engine[0] != '\0' ? engine : NULL);
    CHECK(strcmp(text, row->meta) == 0);
    free(text);
    mechanism_fini(&m);
}

static void read_commit(const struct ledger_row *row)
{
    struct entry_commit commit;
    if (!entry_commit_parse(&commit, row))
        return;
    char *text = entry_commit_render(&commit);
    CHECK(strcmp(text, row->meta) == 0);
    free(text);
}

static void read_charge(const struct ledger_row *row)
{
    struct curve charge;
    uint8_t bytes[ENTRY_CURVE_SIZE];
    if (!entry_charge_decode(&charge, row->curve, row->curve_size))
        return;
    entry_curve_encode(bytes, &charge);
    CHECK(memcmp(bytes, row->curve, sizeof bytes) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size > 0 ? memchr(data, 0, size) : NULL;
    if (end == NULL)
        return 0;
    size_t meta_size = (size_t)(end - data) + 1;
    /* A copy of exactly its size, so that a sanitizer sees reads past its end. */
    char *meta = malloc(meta_size);
    CHECK(meta != NULL);
    memcpy(meta, data, meta_size);
    struct ledger_row row = {
        .job = "", .meta = meta, .curve = end + 1, .curve_size = size - meta_size};
    read_grant(&row);
    row.job = "job_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    read_reserve(&row);
    row.job = "chg_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    read_reserve(&row);
    read_charge(&row);
    row.released = row.curve;
    read_commit(&row);
    free(meta);
    return 0;
}
