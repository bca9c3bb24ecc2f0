/*
 * policy_proposals.h - wider policies of keys that wait for a second person's approval:
 * at most one for each key, in memory and on disk, so that it survives a restart and
 * every daemon of a store has it. A narrower policy needs no approval. Since a proposal
 * replaces the key's earlier one, an approval names the policy that it approves.
 *
 * Each change is made in a transaction, and memory follows when that is durable.
 *
 * Threads: any.
 */
#ifndef SERVICE_IDENTITY_POLICY_PROPOSALS_H
#define SERVICE_IDENTITY_POLICY_PROPOSALS_H

#include <stdbool.h>
#include <stdint.h>

#include "api/requests/key_policy.h"
#include "base/access_key.h"
#include "base/principal.h"

struct store_tx;

struct policy_proposals; /* opaque */

struct policy_proposal {
    char key[ACCESS_KEY_ID_SIZE]; /* the key's id */
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

/* Updates the proposal of that key from its row in tx, which another daemon has
 * written. Returns the same statuses. */
enum status policy_proposals_renew(struct policy_proposals *proposals,
                                   struct store_tx *tx, const char *key,
                                   struct error *error);

/* Replaces the key's proposal, if it has one, by this. Deletes the proposals that have
 * lapsed.
 *   ST_QUEUE_FULL  LIMIT_POLICY_PROPOSALS of other keys wait
 *   ST_NOT_FOUND   there is no such key
 *   ST_IO          the store is poisoned */
enum status policy_proposals_put(struct policy_proposals *proposals,
                                 struct store_tx *tx,
                                 const struct policy_proposal *proposal,
                                 struct error *error);

/* Copies the proposal that waits for that key at now_ms; false: none does. */
bool policy_proposals_find(struct policy_proposals *proposals, const char *key,
                           int64_t now_ms, struct policy_proposal *proposal);

/* Checks that the proposal is the policy that an approval names.
 *   ST_GRANT_DECIDED  it is another policy: the approver has not seen it */
enum status policy_proposal_check_named(const struct policy_proposal *proposal,
                                        const struct key_policy *named,
                                        struct error *error);

/* Deletes the proposal of that key, if there is one.
 *   ST_IO  the store is poisoned */
enum status policy_proposals_drop(struct policy_proposals *proposals,
                                  struct store_tx *tx, const char *key,
                                  struct error *error);

#endif
