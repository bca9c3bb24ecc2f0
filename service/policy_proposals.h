/*
 * policy_proposals.h - wider policies of keys that wait for a second person: at most one of a
 * key, in memory and on disk, so that it waits through a restart and at every daemon of a
 * store. What is narrower waits for nobody. Since one takes the place of another, an
 * approval names the policy that it agrees to.
 *
 * Each change is made in a transaction, and memory follows when that is durable.
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
#include "store/store.h"

struct policy_proposals; /* opaque */

struct policy_proposal {
    char key[ACCESS_KEY_ID_SIZE]; /* its id */
    struct key_policy policy;
    char proposed_by[PRINCIPAL_NAME_SIZE];
    int64_t propose_ms; /* it lapses LIMIT_GRANT_DAYS later */
};

struct policy_proposals *policy_proposals_create(void);
void policy_proposals_destroy(struct policy_proposals *proposals); /* NULL is allowed */

/* Reads all rows.
 *   ST_CORRUPT  a row does not read back; the error names it
 *   ST_IO       the store cannot be read */
enum status policy_proposals_load(struct policy_proposals *proposals,
                                  struct store_tx *tx, struct error *error);

/* Puts what waits for that key as another daemon has left its row in tx. The statuses are
 * the same. */
enum status policy_proposals_renew(struct policy_proposals *proposals,
                                   struct store_tx *tx, const char *key,
                                   struct error *error);

/* Puts a proposal in the place of the key's before, if there was one. Those that have lapsed
 * by then go.
 *   ST_QUEUE_FULL  LIMIT_POLICY_PROPOSALS of other keys wait
 *   ST_NOT_FOUND   there is no such key
 *   ST_IO          the store is poisoned */
enum status policy_proposals_put(struct policy_proposals *proposals,
                                 struct store_tx *tx,
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

/* Nothing waits for that key from then on.
 *   ST_IO  the store is poisoned */
enum status policy_proposals_drop(struct policy_proposals *proposals,
                                  struct store_tx *tx, const char *key,
                                  struct error *error);

#endif
