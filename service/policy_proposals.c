#include "service/policy_proposals.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/limits.h"
#include "base/check.h"

static const int64_t lapse_ms = (int64_t)LIMIT_GRANT_DAYS * 86400000;

struct policy_proposals {
    pthread_mutex_t lock; /* guards all below */
    size_t count;
    struct policy_proposal list[LIMIT_POLICY_PROPOSALS];
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

/* The place of that key's, or count. The lock is held. */
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

/* Forgets those that have lapsed. The lock is held. */
static void sweep(struct policy_proposals *proposals, int64_t now_ms)
{
    size_t kept = 0;
    for (size_t i = 0; i < proposals->count; i++)
        if (!has_lapsed(&proposals->list[i], now_ms))
            proposals->list[kept++] = proposals->list[i];
    proposals->count = kept;
}

enum status policy_proposals_put(struct policy_proposals *proposals,
                                 const struct policy_proposal *proposal,
                                 struct error *error)
{
    enum status status = ST_OK;
    pthread_mutex_lock(&proposals->lock);
    sweep(proposals, proposal->propose_ms);
    size_t place = place_of(proposals, proposal->key);
    if (place == LIMIT_POLICY_PROPOSALS)
        status = error_set(error, ST_QUEUE_FULL, "too many policies wait already");
    else
        proposals->list[place] = *proposal;
    proposals->count += status == ST_OK && place == proposals->count;
    pthread_mutex_unlock(&proposals->lock);
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

void policy_proposals_drop(struct policy_proposals *proposals, const char *key)
{
    pthread_mutex_lock(&proposals->lock);
    size_t place = place_of(proposals, key);
    if (place < proposals->count)
        proposals->list[place] = proposals->list[--proposals->count];
    pthread_mutex_unlock(&proposals->lock);
}
