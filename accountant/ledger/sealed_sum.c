#include "accountant/ledger/sealed_sum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/mechanisms/round_up.h"
#include "base/chain_hash.h"
#include "base/check.h"
#include "store/rows/sealed_rows.h"

enum {
    NAME_BYTES = 8 + SHA256_SIZE,
    SPENDING_BYTES = SEALED_OWNER_SIZE + 8 * (2 + LEDGER_WEIGHTED),
    MS_PER_DAY = 86400000,
};

void sealed_sum_fini(struct sealed_sum *sum)
{
    free(sum->committed);
    free(sum->grants.items);
    free(sum->open.items);
    free(sum->spendings);
    *sum = (struct sealed_sum){0};
}

void entry_names_append(struct entry_names *names, uint64_t seq,
                        const uint8_t hash[SHA256_SIZE])
{
    if (names->count == names->capacity) {
        names->capacity = names->capacity == 0 ? 4 : 2 * names->capacity;
        names->items =
            reallocarray(names->items, names->capacity, sizeof *names->items);
        CHECK(names->items != NULL);
    }
    struct ledger_entry_name *name = &names->items[names->count++];
    name->seq = seq;
    memcpy(name->hash, hash, SHA256_SIZE);
}

/* --- spendings of owners --- */

/* Returns the owner's spending of the day, which is among the last if it exists; else
 * adds it. */
static struct sealed_spending *budget_spent_of(struct sealed_sum *sum,
                                               const struct sealed_spending *wanted)
{
    for (size_t i = sum->spending_count; i > 0; i--) {
        struct sealed_spending *found = &sum->spendings[i - 1];
        if (found->day == wanted->day && found->parts == wanted->parts &&
            strcmp(found->owner, wanted->owner) == 0)
            return found;
        if (found->day < wanted->day)
            break;
    }
    if (sum->spending_count == sum->spending_capacity) {
        sum->spending_capacity =
            sum->spending_capacity == 0 ? 16 : 2 * sum->spending_capacity;
        sum->spendings = reallocarray(sum->spendings, sum->spending_capacity,
                                      sizeof *sum->spendings);
        CHECK(sum->spendings != NULL);
    }
    struct sealed_spending *added = &sum->spendings[sum->spending_count++];
    *added = *wanted;
    return added;
}

void sealed_sum_note(struct sealed_sum *sum, const struct ledger_row *row,
                     const size_t weighted[LEDGER_WEIGHTED])
{
    struct curve curve;
    if (strcmp(row->kind, "GRANT") == 0) {
        entry_names_append(&sum->grants, row->seq, row->hash);
        sum->spending_count = 0;
    }
    if (strcmp(row->kind, "COMMIT") != 0 ||
        !entry_charge_decode(&curve, row->curve, row->curve_size))
        return;
    struct sealed_spending wanted = {.day = (uint64_t)(row->time_ms / MS_PER_DAY),
                                     .parts = entry_parts(row)};
    snprintf(wanted.owner, sizeof wanted.owner, "%s", row->actor);
    struct sealed_spending *spending = budget_spent_of(sum, &wanted);
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++)
        spending->at[i] = round_up_add(spending->at[i], curve.at[weighted[i]]);
}

void sealed_sum_age(struct sealed_sum *sum, int64_t time_ms)
{
    size_t kept = 0;
    uint64_t today = (uint64_t)(time_ms / MS_PER_DAY);
    for (size_t i = 0; i < sum->spending_count; i++)
        if (sum->spendings[i].day + SEALED_DAYS >= today)
            sum->spendings[kept++] = sum->spendings[i];
    sum->spending_count = kept;
}

/* --- encoding --- */

enum { FLAG_EXTERNAL = 1, FLAG_DELTAS = 2 };

static bool has_deltas(const struct sealed_sum *sum)
{
    for (size_t i = 0; i < sum->epoch_count * sum->part_count; i++)
        if (sum->committed[i].delta != 0)
            return true;
    return false;
}

static size_t cost_size(bool has_delta)
{
    return has_delta ? ENTRY_COST_SIZE : ENTRY_CURVE_SIZE;
}

static size_t size_of(const struct sealed_sum *sum)
{
    return 8 * 8 + sum->epoch_count * sum->part_count * cost_size(has_deltas(sum)) +
           (sum->grants.count + sum->open.count) * NAME_BYTES +
           sum->spending_count * SPENDING_BYTES;
}

static uint8_t *put_number(uint8_t *at, uint64_t number)
{
    chain_number_encode(at, number);
    return at + 8;
}

static uint8_t *put_names(uint8_t *at, const struct entry_names *names)
{
    at = put_number(at, names->count);
    for (size_t i = 0; i < names->count; i++) {
        at = put_number(at, names->items[i].seq);
        memcpy(at, names->items[i].hash, SHA256_SIZE);
        at += SHA256_SIZE;
    }
    return at;
}

static uint8_t *put_spending(uint8_t *at, const struct sealed_spending *spending)
{
    memset(at, 0, SEALED_OWNER_SIZE);
    memcpy(at, spending->owner, strlen(spending->owner));
    at = put_number(at + SEALED_OWNER_SIZE, spending->day);
    at = put_number(at, spending->parts);
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        uint64_t bits;
        memcpy(&bits, &spending->at[i], sizeof bits);
        at = put_number(at, bits);
    }
    return at;
}

uint8_t *sealed_sum_encode(const struct sealed_sum *sum, size_t *size)
{
    const bool has_delta = has_deltas(sum);
    *size = size_of(sum);
    uint8_t *bytes = malloc(*size), *at = bytes;
    CHECK(bytes != NULL);
    at = put_number(at, sum->epoch);
    at = put_number(at, sum->reserved);
    at = put_number(at, (sum->external ? FLAG_EXTERNAL : 0) |
                            (has_delta ? FLAG_DELTAS : 0));
    at = put_number(at, sum->part_count);
    at = put_number(at, sum->epoch_count);
    for (size_t i = 0; i < sum->epoch_count * sum->part_count; i++) {
        at += entry_cost_encode(at, &sum->committed[i], has_delta);
    }
    at = put_names(at, &sum->grants);
    at = put_names(at, &sum->open);
    at = put_number(at, sum->spending_count);
    for (size_t i = 0; i < sum->spending_count; i++)
        at = put_spending(at, &sum->spendings[i]);
    CHECK(at == bytes + *size);
    return bytes;
}

struct taking { /* of bytes; missing ones are read as zeros, and good is false then */
    const uint8_t *at;
    size_t left;
    bool good;
};

static void take(struct taking *taking, void *out, size_t size)
{
    taking->good = taking->good && taking->left >= size;
    if (!taking->good) {
        memset(out, 0, size);
        return;
    }
    memcpy(out, taking->at, size);
    taking->at += size;
    taking->left -= size;
}

static uint64_t take_number(struct taking *taking)
{
    uint8_t bytes[8];
    uint64_t number = 0;
    take(taking, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        number |= (uint64_t)bytes[i] << 8 * i;
    return number;
}

/* Reads a number of items that take size bytes each. */
static size_t take_count(struct taking *taking, size_t size)
{
    uint64_t count = take_number(taking);
    taking->good = taking->good && count <= taking->left / size;
    return taking->good ? (size_t)count : 0;
}

static void take_names(struct taking *taking, struct entry_names *names)
{
    size_t count = take_count(taking, NAME_BYTES);
    for (size_t i = 0; i < count; i++) {
        struct ledger_entry_name name;
        name.seq = take_number(taking);
        take(taking, name.hash, sizeof name.hash);
        entry_names_append(names, name.seq, name.hash);
    }
}

static void take_curves(struct taking *taking, struct sealed_sum *sum)
{
    uint8_t bytes[ENTRY_COST_SIZE];
    sum->epoch = take_number(taking);
    sum->reserved = take_number(taking) == 1;
    uint64_t flags = take_number(taking);
    sum->external = (flags & FLAG_EXTERNAL) != 0;
    size_t size = cost_size((flags & FLAG_DELTAS) != 0);
    uint64_t parts = take_number(taking), epochs = take_number(taking);
    taking->good = taking->good && parts >= 1 && parts <= PARTS_MAX && epochs >= 1 &&
                   epochs <= taking->left / (parts * size);
    if (!taking->good)
        return;
    sum->part_count = (unsigned)parts;
    sum->epoch_count = (size_t)epochs;
    sum->committed = calloc(sum->epoch_count * parts, sizeof *sum->committed);
    CHECK(sum->committed != NULL);
    for (size_t i = 0; i < sum->epoch_count * parts; i++) {
        take(taking, bytes, size);
        taking->good =
            entry_charge_decode(&sum->committed[i], bytes, size) && taking->good;
    }
}

static void take_spendings(struct taking *taking, struct sealed_sum *sum)
{
    size_t count = take_count(taking, SPENDING_BYTES);
    sum->spendings = calloc(count + 1, sizeof *sum->spendings);
    CHECK(sum->spendings != NULL);
    sum->spending_count = count;
    sum->spending_capacity = count + 1;
    for (size_t s = 0; s < count; s++) {
        struct sealed_spending *spending = &sum->spendings[s];
        take(taking, spending->owner, sizeof spending->owner);
        taking->good =
            taking->good && spending->owner[sizeof spending->owner - 1] == '\0';
        spending->owner[sizeof spending->owner - 1] = '\0';
        spending->day = take_number(taking);
        spending->parts = (enum parts)take_number(taking);
        for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
            uint64_t bits = take_number(taking);
            memcpy(&spending->at[i], &bits, sizeof bits);
        }
    }
}

/* Malformed bytes are caught by encoding the result again and comparing. */
bool sealed_sum_decode(struct sealed_sum *sum, const char *dataset,
                       const uint8_t *bytes, size_t size)
{
    struct taking taking = {bytes, size, true};
    *sum = (struct sealed_sum){0};
    snprintf(sum->dataset, sizeof sum->dataset, "%s", dataset);
    take_curves(&taking, sum);
    take_names(&taking, &sum->grants);
    take_names(&taking, &sum->open);
    take_spendings(&taking, sum);
    bool good = taking.good && taking.left == 0;
    if (good) {
        size_t again_size;
        uint8_t *again = sealed_sum_encode(sum, &again_size);
        good = again_size == size && memcmp(again, bytes, size) == 0;
        free(again);
    }
    if (!good)
        sealed_sum_fini(sum);
    return good;
}

void sealed_sum_digest(uint8_t digest[SHA256_SIZE], const char *dataset,
                       const uint8_t *bytes, size_t size)
{
    struct chain_hash running;
    chain_hash_begin(&running, "s1", digest);
    chain_hash_text(&running, dataset);
    chain_hash_bytes(&running, bytes, size);
    chain_hash_end(&running, digest);
}
