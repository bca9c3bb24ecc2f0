/*
 * policy_proposals.h - wider policies of keys that wait for a second person: at most one of a
 * key. They are in memory alone: a restart forgets them, and nothing is lost by that but the
 * asking. What is narrower waits for nobody. Since one takes the place of another, an
 * approval names the policy that it agrees to.
 *
 * Threads: any.
 */
#ifndef SERVICE_POLICY_PROPOSALS_H
#define SERVICE_POLICY_PROPOSALS_H

#include <stdbool.h>
#include <stdint.h>

#include "api/key_policy.h"
#include "base/access_key.h"
#include "base/principal.h"
#include "base/status.h"

struct policy_proposals; /* opaque */

struct policy_proposal {
    char key[ACCESS_KEY_ID_SIZE]; /* its id */
    struct key_policy policy;
    char proposed_by[PRINCIPAL_NAME_SIZE];
    int64_t propose_ms; /* it lapses LIMIT_GRANT_DAYS later */
};

struct policy_proposals *policy_proposals_create(void);
void policy_proposals_destroy(struct policy_proposals *proposals); /* NULL is allowed */

/* Puts a proposal in the place of the key's before, if there was one.
 *   ST_QUEUE_FULL  LIMIT_POLICY_PROPOSALS of other keys wait */
enum status policy_proposals_put(struct policy_proposals *proposals,
                                 const struct policy_proposal *proposal,
                                 struct error *error);

/* Copies what waits for that key at that time; false: nothing does. */
bool policy_proposals_find(struct policy_proposals *proposals, const char *key,
                           int64_t now_ms, struct policy_proposal *proposal);

/* Whether it is what an approval names.
 *   ST_GRANT_DECIDED  it is another policy: whoever approves has not seen it */
enum status policy_proposal_check_named(const struct policy_proposal *proposal,
                                        const struct key_policy *named,
                                        struct error *error);

/* Forgets what waits for that key. */
void policy_proposals_drop(struct policy_proposals *proposals, const char *key);

#endif
