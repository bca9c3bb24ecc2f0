#include "service/identity/policy_proposals.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/limits.h"
#include "base/check.h"
#include "store/rows/policy_proposal_rows.h"

static const int64_t lapse_ms = (int64_t)LIMIT_GRANT_DAYS * 86400000;

/* Rows of another daemon are read one by one, in any order: possibly a new proposal
 * before the one that was dropped for it. Hence the factor. */
enum { PLACES = 2 * LIMIT_POLICY_PROPOSALS };

struct policy_proposals {
    pthread_mutex_t lock; /* guards all below */
    size_t count;
    struct policy_proposal list[PLACES];
};

struct policy_proposals *policy_proposals_create(void)
{
    struct policy_proposals *proposals = calloc(1, sizeof *proposals);
    CHECK(proposals != NULL);
    pthread_mutex_init(&proposals->lock, NULL);
    return proposals;
}

void policy_proposals_destroy(struct policy_proposals *proposals)
{
    if (proposals == NULL)
        return;
    pthread_mutex_destroy(&proposals->lock);
    free(proposals);
}

/* --- the list; the lock is held --- */

/* The place of that key's proposal, or count. */
static size_t place_of(const struct policy_proposals *proposals, const char *key)
{
    size_t place = 0;
    while (place < proposals->count && strcmp(proposals->list[place].key, key) != 0)
        place++;
    return place;
}

static bool has_lapsed(const struct policy_proposal *proposal, int64_t now_ms)
{
    return now_ms >= proposal->propose_ms + lapse_ms;
}

static void enter(struct policy_proposals *proposals,
                  const struct policy_proposal *proposal)
{
    size_t place = place_of(proposals, proposal->key);
    CHECK(place < PLACES);
    proposals->list[place] = *proposal;
    proposals->count += place == proposals->count;
}

static void leave(struct policy_proposals *proposals, const char *key)
{
    size_t place = place_of(proposals, key);
    if (place < proposals->count)
        proposals->list[place] = proposals->list[--proposals->count];
}

/* --- rows --- */

struct reading {
    struct policy_proposals *proposals;
    bool found;
    enum status status;
    struct error *error;
};

static bool from_row(struct policy_proposal *proposal,
                     const struct policy_proposal_row *row)
{
    *proposal = (struct policy_proposal){.propose_ms = row->propose_ms};
    if (strlen(row->id) >= sizeof proposal->key ||
        strlen(row->proposed_by) >= sizeof proposal->proposed_by ||
        key_policy_parse(&proposal->policy, row->policy, NULL) != ST_OK)
        return false;
    strcpy(proposal->key, row->id);
    strcpy(proposal->proposed_by, row->proposed_by);
    return true;
}

static bool read_row(void *context, const struct policy_proposal_row *row)
{
    struct reading *reading = context;
    struct policy_proposals *proposals = reading->proposals;
    struct policy_proposal proposal;
    reading->found = true;
    pthread_mutex_lock(&proposals->lock);
    bool good = from_row(&proposal, row) && place_of(proposals, row->id) < PLACES;
    if (good)
        enter(proposals, &proposal);
    pthread_mutex_unlock(&proposals->lock);
    if (!good)
        reading->status =
            error_set(reading->error, ST_CORRUPT,
                      "table policy_proposal, row %s: it does not read back", row->id);
    return good;
}

enum status policy_proposals_load(struct policy_proposals *proposals,
                                  struct store_tx *tx, struct error *error)
{
    struct reading reading = {proposals, false, ST_OK, error};
    enum status status = policy_proposal_rows_walk(tx, read_row, &reading, error);
    return status == ST_OK ? reading.status : status;
}

enum status policy_proposals_renew(struct policy_proposals *proposals,
                                   struct store_tx *tx, const char *key,
                                   struct error *error)
{
    struct reading reading = {proposals, false, ST_OK, error};
    enum status status = policy_proposal_row_find(tx, key, read_row, &reading, error);
    if (status != ST_OK || reading.found)
        return status == ST_OK ? reading.status : status;
    pthread_mutex_lock(&proposals->lock);
    leave(proposals, key);
    pthread_mutex_unlock(&proposals->lock);
    return ST_OK;
}

/* --- changes --- */

struct change { /* of a transaction, until its end */
    struct policy_proposals *proposals;
    struct policy_proposal proposal;
    bool drops; /* instead drops the key's proposal */
};

static void changed(void *context)
{
    struct change *change = context;
    pthread_mutex_lock(&change->proposals->lock);
    if (change->drops)
        leave(change->proposals, change->proposal.key);
    else
        enter(change->proposals, &change->proposal);
    pthread_mutex_unlock(&change->proposals->lock);
    free(change);
}

static void put_down(struct store_tx *tx, const struct change *change)
{
    struct change *copy = malloc(sizeof *copy);
    CHECK(copy != NULL);
    *copy = *change;
    store_tx_on_end(tx, changed, free, copy);
}

enum status policy_proposals_drop(struct policy_proposals *proposals,
                                  struct store_tx *tx, const char *key,
                                  struct error *error)
{
    struct change change = {.proposals = proposals, .drops = true};
    CHECK(strlen(key) < sizeof change.proposal.key);
    strcpy(change.proposal.key, key);
    enum status status = policy_proposal_row_delete(tx, key, error);
    if (status == ST_OK)
        put_down(tx, &change);
    return status;
}

/* Drops the proposals that have lapsed, and counts the others. */
static enum status sweep(struct policy_proposals *proposals, struct store_tx *tx,
                         int64_t now_ms, size_t *kept, struct error *error)
{
    struct policy_proposal all[PLACES];
    enum status status = ST_OK;
    pthread_mutex_lock(&proposals->lock);
    size_t count = proposals->count;
    memcpy(all, proposals->list, count * sizeof *all);
    pthread_mutex_unlock(&proposals->lock);
    *kept = count;
    for (size_t i = 0; i < count && status == ST_OK; i++) {
        if (!has_lapsed(&all[i], now_ms))
            continue;
        status = policy_proposals_drop(proposals, tx, all[i].key, error);
        --*kept;
    }
    return status;
}

static bool waits(struct policy_proposals *proposals, const char *key)
{
    pthread_mutex_lock(&proposals->lock);
    bool found = place_of(proposals, key) < proposals->count;
    pthread_mutex_unlock(&proposals->lock);
    return found;
}

enum status policy_proposals_put(struct policy_proposals *proposals,
                                 struct store_tx *tx,
                                 const struct policy_proposal *proposal,
                                 struct error *error)
{
    size_t kept;
    const struct change change = {proposals, *proposal, false};
    enum status status = sweep(proposals, tx, proposal->propose_ms, &kept, error);
    if (status == ST_OK && kept >= LIMIT_POLICY_PROPOSALS &&
        !waits(proposals, proposal->key))
        status = error_set(error, ST_QUEUE_FULL, "too many policies wait already");
    if (status != ST_OK)
        return status;
    char *policy = key_policy_render(&proposal->policy);
    const struct policy_proposal_row row = {
        proposal->key, policy, proposal->proposed_by, proposal->propose_ms};
    status = policy_proposal_row_set(tx, &row, error);
    free(policy);
    if (status == ST_OK)
        put_down(tx, &change);
    return status;
}

bool policy_proposals_find(struct policy_proposals *proposals, const char *key,
                           int64_t now_ms, struct policy_proposal *proposal)
{
    pthread_mutex_lock(&proposals->lock);
    size_t place = place_of(proposals, key);
    bool found =
        place < proposals->count && !has_lapsed(&proposals->list[place], now_ms);
    if (found)
        *proposal = proposals->list[place];
    pthread_mutex_unlock(&proposals->lock);
    return found;
}

enum status policy_proposal_check_named(const struct policy_proposal *proposal,
                                        const struct key_policy *named,
                                        struct error *error)
{
    if (key_policy_equal(named, &proposal->policy))
        return ST_OK;
    return error_set(error, ST_GRANT_DECIDED,
                     "what waits is another policy than the one that is named");
}
