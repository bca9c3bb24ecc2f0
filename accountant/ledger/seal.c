#include "accountant/ledger/seal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum { META_SIZE = 320 };

char *seal_render(const struct seal *seal)
{
    char hex[SHA256_HEX_SIZE], accounts[40] = "";
    char *text = malloc(META_SIZE);
    CHECK(text != NULL);
    sha256_render(hex, seal->archive_sha256);
    if (seal->accounts > 0)
        snprintf(accounts, sizeof accounts, ",\"accounts\":%" PRIu64, seal->accounts);
    int length = snprintf(
        text, META_SIZE,
        "{\"first\":%" PRIu64 ",\"last\":%" PRIu64 ",\"archive_sha256\":\"%s\","
        "\"grants\":%" PRIu64 ",\"reserves\":%" PRIu64 ",\"commits\":%" PRIu64
        ",\"authorised\":%" PRIu64 "%s}",
        seal->first, seal->last, hex, seal->tally.grants, seal->tally.reserves,
        seal->tally.commits, seal->authorised, accounts);
    CHECK(length > 0 && length < META_SIZE);
    return text;
}

/* Malformed text is caught by rendering it again and comparing. */
static bool meta_parse(struct seal *seal, const char *meta)
{
    char hex[SHA256_HEX_SIZE];
    if (sscanf(meta,
               "{\"first\":%" SCNu64 ",\"last\":%" SCNu64
               ",\"archive_sha256\":\"%64[0-9a-f]\",\"grants\":%" SCNu64
               ",\"reserves\":%" SCNu64 ",\"commits\":%" SCNu64
               ",\"authorised\":%" SCNu64 ",\"accounts\":%" SCNu64,
               &seal->first, &seal->last, hex, &seal->tally.grants,
               &seal->tally.reserves, &seal->tally.commits, &seal->authorised,
               &seal->accounts) < 7 ||
        strlen(hex) != SHA256_HEX_SIZE - 1)
        return false;
    for (size_t i = 0; i < SHA256_SIZE; i++)
        if (sscanf(hex + 2 * i, "%2" SCNx8, &seal->archive_sha256[i]) != 1)
            return false;
    char *again = seal_render(seal);
    bool same = strcmp(again, meta) == 0;
    free(again);
    return same;
}

bool seal_parse(struct seal *seal, const struct ledger_row *row)
{
    struct seal read = {
        .entry.seq = row->seq, .time_ms = row->time_ms, .number = row->epoch};
    if (strcmp(row->kind, "SEAL") != 0 || row->dataset[0] != '\0' ||
        row->job[0] != '\0' || row->released != NULL || row->curve == NULL ||
        row->curve_size != SHA256_SIZE || row->epoch == 0 ||
        !meta_parse(&read, row->meta))
        return false;
    if (read.first == 0 || read.first > read.last || read.last + 1 != row->seq ||
        (read.number == 1) != (read.first == 1))
        return false;
    memcpy(read.entry.hash, row->hash, SHA256_SIZE);
    memcpy(read.prev, row->prev, SHA256_SIZE);
    memcpy(read.sums_sha256, row->curve, SHA256_SIZE);
    *seal = read;
    return true;
}
