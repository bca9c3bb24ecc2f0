/* Every text but a COMMIT's is read by scanning it and then rendering the result: a
 * text that differs from the rendering in a byte is refused. So an entry has only one
 * form. */
#include "accountant/ledger/entry.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chain_hash.h"
#include "base/check.h"

void entry_hash(uint8_t hash[SHA256_SIZE], const struct ledger_row *row)
{
    struct chain_hash running;
    chain_hash_begin(&running, "v1", row->prev);
    chain_hash_number(&running, row->seq);
    chain_hash_text(&running, row->dataset);
    chain_hash_number(&running, row->epoch);
    chain_hash_text(&running, row->job);
    chain_hash_text(&running, row->kind);
    chain_hash_bytes(&running, row->curve, row->curve_size);
    chain_hash_bytes(&running, row->released != NULL ? row->released : row->prev,
                     row->released != NULL ? row->curve_size : 0);
    chain_hash_text(&running, row->meta);
    chain_hash_text(&running, row->actor);
    chain_hash_number(&running, (uint64_t)row->time_ms);
    chain_hash_end(&running, hash);
}

static char *rendered(const char *format, ...) __attribute__((format(printf, 1, 2)));

static char *rendered(const char *format, ...)
{
    va_list arguments, again;
    char first[256]; /* most are shorter */
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(first, sizeof first, format, arguments);
    CHECK(length >= 0);
    char *text = malloc((size_t)length + 1);
    CHECK(text != NULL);
    if ((size_t)length < sizeof first)
        memcpy(text, first, (size_t)length + 1);
    else
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(arguments);
    return text;
}

/* Returns whether text equals rendering; frees the rendering. */
static bool same(const char *text, char *rendering)
{
    bool equal = strcmp(text, rendering) == 0;
    free(rendering);
    return equal;
}

/* Writes text in the form of a JSON string: it holds no control characters, so only
 * quotes and backslashes are escaped. */
static void escape(char *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            *out++ = '\\';
        *out++ = *text;
    }
    *out = '\0';
}

static char *approval_render(const struct grant_approval *approval)
{
    char reason[2 * GRANT_REASON_SIZE];
    if (approval == NULL || approval->approved_by[0] == '\0')
        return rendered("%s", "");
    escape(reason, approval->reason);
    return rendered(",\"approved_by\":\"%s\",\"reason\":\"%s\"", approval->approved_by,
                    reason);
}

static char *division_render(const struct division *division)
{
    if (division_parts(division) == 1)
        return rendered("%s", "");
    return rendered(",\"holdout\":%.17g,\"seed\":%" PRIu64, division->holdout,
                    division->seed);
}

static char *discovery_render(const struct grant *grant)
{
    return grant->discovery_delta == 0
               ? rendered("%s", "")
               : rendered(",\"discovery_delta\":%.17g", grant->discovery_delta);
}

/* A grant to records does not name its unit, like every entry from before persons could
 * be the unit. */
static const char *unit_member(enum privacy_unit unit)
{
    switch (unit) {
    case PRIVACY_UNIT_RECORD: return "";
    case PRIVACY_UNIT_PERSON: return ",\"unit\":\"person\"";
    }
    return "";
}

char *entry_grant_render(const struct grant *grant, const struct filter *filter,
                         const struct grant_approval *approval, uint64_t replaces)
{
    char order[32] = "null", replaced[sizeof ",\"replaces\":" + 20] = "";
    char *divided = division_render(&grant->division);
    char *discovers = discovery_render(grant);
    char *approved = approval_render(approval);
    if (grant->order != 0)
        snprintf(order, sizeof order, "%.17g", grant->order);
    if (replaces != 0)
        snprintf(replaced, sizeof replaced, ",\"replaces\":%" PRIu64, replaces);
    char *text = rendered(
        "{\"grid\":\"g1\",\"relation\":\"%s\"%s,\"epsilon\":%.17g,"
        "\"delta\":%.17g,\"order\":%s,\"orders\":[%.17g,%.17g],"
        "\"weights\":[%.17g,%.17g],\"noise_delta\":%.17g%s%s%s%s}",
        relation_name(grant->relation), unit_member(grant->unit), grant->epsilon,
        grant->delta, order, curve_orders[filter->weighted[0]],
        curve_orders[filter->weighted[1]], filter->weights[0], filter->weights[1],
        LEDGER_NOISE_DELTA, discovers, divided, replaced, approved);
    free(approved);
    free(divided);
    free(discovers);
    return text;
}

/* Reads a JSON string up to its closing quote; returns false if it has no room or no
 * end. */
static bool unescape(char out[GRANT_REASON_SIZE], const char *text)
{
    size_t size = 0;
    for (; *text != '"'; text++) {
        if (*text == '\\')
            text++;
        if (*text == '\0' || size == GRANT_REASON_SIZE - 1)
            return false;
        out[size++] = *text;
    }
    out[size] = '\0';
    return true;
}

/* Reads what approval_render writes, or nothing if that wrote nothing. Any other text
 * is caught when the whole is rendered again and compared. */
static void approval_parse(struct grant_approval *approval, const char *meta)
{
    static const char before[] = ",\"approved_by\":\"", between[] = "\",\"reason\":\"";
    const char *at = strstr(meta, before);
    *approval = (struct grant_approval){0};
    if (at == NULL ||
        sscanf(at + strlen(before), "%63[^\"]", approval->approved_by) != 1)
        return;
    at += strlen(before) + strlen(approval->approved_by);
    if (strncmp(at, between, strlen(between)) != 0 ||
        !unescape(approval->reason, at + strlen(between)))
        *approval = (struct grant_approval){0};
}

/* Reads what division_render writes, or nothing if that wrote nothing. */
static void division_parse(struct division *division, const char *meta)
{
    const char *at = strstr(meta, ",\"holdout\":");
    *division = (struct division){0};
    if (at != NULL && sscanf(at, ",\"holdout\":%lf,\"seed\":%" SCNu64,
                             &division->holdout, &division->seed) != 2)
        *division = (struct division){0};
}

/* Reads what discovery_render writes, or 0 if that wrote nothing. */
static void discovery_parse(double *delta, const char *meta)
{
    const char *at = strstr(meta, ",\"discovery_delta\":");
    *delta = 0;
    if (at != NULL && sscanf(at, ",\"discovery_delta\":%lf", delta) != 1)
        *delta = 0;
}

uint64_t entry_replaces(const struct ledger_row *row)
{
    uint64_t seq = 0;
    const char *at = strstr(row->meta, ",\"replaces\":");
    if (at != NULL && sscanf(at, ",\"replaces\":%" SCNu64, &seq) != 1)
        return 0;
    return seq;
}

static bool grant_meta_parse(struct grant *grant, struct filter *filter,
                             struct grant_approval *approval,
                             const struct ledger_row *row)
{
    const char *meta = row->meta;
    char relation[16], order[32];
    double orders[LEDGER_WEIGHTED], noise;
    const char *rest = meta;
    if (sscanf(meta, "{\"grid\":\"g1\",\"relation\":\"%15[a-z_]\"", relation) != 1 ||
        !relation_parse(&grant->relation, relation))
        return false;
    rest = strstr(meta, ",\"epsilon\":");
    grant->unit = PRIVACY_UNIT_RECORD;
    if (strstr(meta, unit_member(PRIVACY_UNIT_PERSON)) != NULL)
        grant->unit = PRIVACY_UNIT_PERSON;
    if (rest == NULL ||
        sscanf(rest,
               ",\"epsilon\":%lf,\"delta\":%lf,\"order\":%31[^,],\"orders\":[%lf,%lf],"
               "\"weights\":[%lf,%lf],\"noise_delta\":%lf",
               &grant->epsilon, &grant->delta, order, &orders[0], &orders[1],
               &filter->weights[0], &filter->weights[1], &noise) != 8)
        return false;
    grant->order = strcmp(order, "null") == 0 ? 0 : strtod(order, NULL);
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        filter->weighted[i] = curve_order_index(orders[i]);
        if (filter->weighted[i] == CURVE_ORDERS)
            return false;
    }
    discovery_parse(&grant->discovery_delta, meta);
    division_parse(&grant->division, meta);
    approval_parse(approval, meta);
    return same(meta, entry_grant_render(grant, filter, approval, entry_replaces(row)));
}

bool entry_grant_parse(struct grant *grant, struct filter *filter,
                       struct grant_approval *approval, const struct ledger_row *row)
{
    struct grant read_grant;
    struct grant_approval read_approval;
    struct filter read_filter;
    struct curve capacity, again;
    if (row->released != NULL ||
        !grant_meta_parse(&read_grant, &read_filter, &read_approval, row) ||
        !entry_has_delta(row, read_grant.discovery_delta) ||
        !entry_cost_decode(&capacity, row->curve, row->curve_size))
        return false;
    read_filter.delta_capacity = capacity.delta;
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        read_filter.capacity[i] = capacity.at[read_filter.weighted[i]];
        if (!isfinite(read_filter.capacity[i]))
            return false;
    }
    entry_capacity(&again, &read_filter);
    if (memcmp(&again, &capacity, sizeof again) != 0)
        return false;
    *grant = read_grant;
    *filter = read_filter;
    if (approval != NULL)
        *approval = read_approval;
    return true;
}

/* The member that names parts; empty if none is named. */
static const char *const parts_texts[] = {
    [PARTS_UNNAMED] = "",
    [PARTS_TRAIN] = ",\"parts\":[\"train\"]",
    [PARTS_HOLDOUT] = ",\"parts\":[\"holdout\"]",
    [PARTS_BOTH] = ",\"parts\":[\"train\",\"holdout\"]",
};

bool entry_engine_is_good(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789 ._+:/()-";
    size_t length = strlen(text);
    return length > 0 && length < ENTRY_ENGINE_SIZE &&
           isalnum((unsigned char)text[0]) && strspn(text, letters) == length;
}

/* Renders a RESERVE with the mechanism whose canonical text is given. */
static char *reserve_render(const struct mechanism *m, const char *mechanism,
                            enum parts parts, const char *engine)
{
    char external[sizeof ",\"external\":\"\"" + ENTRY_ENGINE_SIZE] = "";
    if (engine != NULL)
        snprintf(external, sizeof external, ",\"external\":\"%s\"", engine);
    return rendered("{\"grid\":\"g1\",\"steps\":%" PRIu64 "%s%s,\"mechanism\":%s}",
                    mechanism_steps(m), external, parts_texts[parts], mechanism);
}

char *entry_reserve_render(const struct mechanism *m, enum parts parts,
                           const char *engine)
{
    char *mechanism = mechanism_render(m);
    char *text = reserve_render(m, mechanism, parts, engine);
    free(mechanism);
    return text;
}

/* Returns the parts that the text before end names, if it ends with their member. */
static enum parts parts_parse(const char *meta, const char *end)
{
    for (enum parts parts = PARTS_TRAIN; parts <= PARTS_BOTH; parts++) {
        size_t length = strlen(parts_texts[parts]);
        if ((size_t)(end - meta) > length &&
            memcmp(end - length, parts_texts[parts], length) == 0)
            return parts;
    }
    return PARTS_UNNAMED;
}

static const char before_mechanism[] = ",\"mechanism\":";

/* Parts precede the mechanism of a RESERVE, and end a COMMIT. */
enum parts entry_parts(const struct ledger_row *row)
{
    size_t length = strlen(row->meta);
    const char *at = strstr(row->meta, before_mechanism);
    if (at == NULL)
        at = row->meta + (length > 0 ? length - 1 : 0); /* the brace */
    return parts_parse(row->meta, at);
}

void entry_engine(char engine[ENTRY_ENGINE_SIZE], const struct ledger_row *row)
{
    static const char before[] = ",\"external\":\"";
    char read[ENTRY_ENGINE_SIZE];
    const char *at = strstr(row->meta, before);
    engine[0] = '\0';
    if (at != NULL && sscanf(at + strlen(before), "%63[^\"]", read) == 1 &&
        entry_engine_is_good(read))
        memcpy(engine, read, sizeof read);
}

bool entry_reserve_parse(struct mechanism *m, enum parts *parts,
                         const struct ledger_row *row)
{
    return entry_reserve_parse_known(m, parts, row, NULL);
}

bool entry_reserve_parse_known(struct mechanism *m, enum parts *parts,
                               const struct ledger_row *row,
                               struct known_mechanisms *known)
{
    struct mechanism read = {0};
    struct charge_id charge;
    char engine[ENTRY_ENGINE_SIZE];
    const char *at = strstr(row->meta, before_mechanism);
    entry_engine(engine, row);
    bool is_external = engine[0] != '\0';
    if (at == NULL || row->released != NULL ||
        is_external != charge_id_parse(&charge, row->job))
        return false;
    enum parts named = parts_parse(row->meta, at);
    char *text = strdup(at + strlen(before_mechanism));
    CHECK(text != NULL);
    size_t length = strlen(text);
    text[length > 0 ? length - 1 : 0] = '\0'; /* the outer brace */
    bool canonical = known_mechanisms_parse(known, &read, text) == ST_OK &&
                     same(row->meta, reserve_render(&read, text, named,
                                                    is_external ? engine : NULL));
    free(text);
    if (!canonical) {
        mechanism_fini(&read);
        return false;
    }
    *m = read;
    *parts = named;
    return true;
}

char *entry_commit_render(const struct entry_commit *commit)
{
    char hex[SHA256_HEX_SIZE], model[SHA256_HEX_SIZE + 2] = "null";
    if (commit->has_model) {
        sha256_render(hex, commit->model_sha256);
        snprintf(model, sizeof model, "\"%s\"", hex);
    }
    return rendered("{\"grid\":\"g1\",\"reserve\":%" PRIu64 ",\"steps\":%" PRIu64
                    ",\"model_sha256\":%s%s}",
                    commit->reserve_seq, commit->steps, model,
                    parts_texts[commit->parts]);
}

static bool hex_parse(uint8_t digest[SHA256_SIZE], const char *hex)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < SHA256_SIZE; i++) {
        const char *high = memchr(digits, hex[2 * i], 16), *low = NULL;
        if (high != NULL)
            low = memchr(digits, hex[2 * i + 1], 16);
        if (low == NULL)
            return false;
        digest[i] = (uint8_t)((high - digits) << 4 | (low - digits));
    }
    return true;
}

/* The pass functions skip a part of a text: if *at points to it, they move *at after
 * it. */
static bool pass(const char **at, const char *text)
{
    size_t size = strlen(text);
    bool stands = strncmp(*at, text, size) == 0;
    *at += stands ? size : 0;
    return stands;
}

/* Skips a number as it is rendered: without a sign, and without leading zeros. */
static bool pass_number(const char **at, uint64_t *number)
{
    const char *first = *at;
    uint64_t value = 0;
    for (; **at >= '0' && **at <= '9'; ++*at) {
        uint64_t digit = (uint64_t)(**at - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = 10 * value + digit;
    }
    *number = value;
    return *at > first && (*first != '0' || *at == first + 1);
}

static bool pass_model(const char **at, struct entry_commit *commit)
{
    commit->has_model = pass(at, "\"");
    if (!commit->has_model)
        return pass(at, "null");
    if (!hex_parse(commit->model_sha256, *at))
        return false;
    *at += SHA256_HEX_SIZE - 1;
    return pass(at, "\"");
}

/* This text is read tens of thousands of times, so it is compared with its form while
 * it is read, and not rendered again. */
bool entry_commit_parse(struct entry_commit *commit, const struct ledger_row *row)
{
    struct entry_commit read = {.parts = entry_parts(row)};
    const char *at = row->meta;
    if (row->released == NULL || !pass(&at, "{\"grid\":\"g1\",\"reserve\":") ||
        !pass_number(&at, &read.reserve_seq) || !pass(&at, ",\"steps\":") ||
        !pass_number(&at, &read.steps) || !pass(&at, ",\"model_sha256\":") ||
        !pass_model(&at, &read) || !pass(&at, parts_texts[read.parts]) ||
        strcmp(at, "}") != 0)
        return false;
    *commit = read;
    return true;
}
