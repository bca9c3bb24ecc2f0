/*
 * dataset_declare.h - declares a dataset, for the first time or again.
 *
 * A dataset that never had content may be declared again with another promise, because
 * there was no record to compute anything from. The promise of the new declaration
 * becomes one of:
 *
 *   STANDS    the privacy is unchanged, and either no approval is pending, or the
 *             declaration that waits for approval is unchanged too
 *   GRANTED   the ledger has granted it before; a later proposal is withdrawn
 *   PROPOSED  it needs a second person's approval (api/requests/proposal.h); what was granted or
 *             proposed before can no longer be used
 *   MADE      it needs no approval: it is granted at once and replaces what was before
 *
 * Threads: the write queue's.
 */
#ifndef SERVICE_INGEST_DATASET_DECLARE_H
#define SERVICE_INGEST_DATASET_DECLARE_H

#include "service/datasets/dataset_info.h"

struct audit_event;
struct caller;
struct daemon_state;

enum promise { PROMISE_STANDS, PROMISE_GRANTED, PROMISE_PROPOSED, PROMISE_MADE };

struct dataset_declare {
    const struct caller *caller;
    struct audit_event
        *act;              /* begun for the request; dataset_declare_make adds to it */
    struct dataset *known; /* to be replaced; NULL: the id was never used */
    struct dataset_info info; /* of known */
    enum promise promise;     /* set by dataset_declare_weigh */
};

/* Gives all hashed columns the seed of the dataset: that of known, whatever columns known
 * declares (NULL: there is no former declaration), or the stated one, if this service
 * drew it for another dataset. If there is neither, they have none yet. So a renamed
 * column, or one that is removed and added again, gets no other seed, and no seed is
 * chosen after a file was sent.
 *   ST_INVALID  a stated seed was not drawn here, or is not that of known */
enum status dataset_declare_seeds(struct daemon_state *context,
                                  const struct dataset *known,
                                  struct dataset_spec *spec, struct error *error);
/* Draws the seed of a dataset that has none, with or without hashed columns. */
void dataset_declare_draw_seed(struct dataset_spec *spec);

/* Sets the promise of a declaration as spec, which replaces one that may be declared
 * again.
 *   ST_FORBIDDEN          it makes a promise that the principal may not propose
 *   ST_DATASET_IMMUTABLE  a budget was granted, and spec is public; or, at /privacy, as
 *                         ledger_grant_anew
 *   ST_DATASET_FROZEN     as ledger_grant_anew
 *   ST_INVALID            the numbers of the grant make no valid budget */
enum status dataset_declare_weigh(struct daemon_state *context,
                                  struct dataset_declare *declaration,
                                  const struct dataset_spec *spec, struct error *error);

/* Returns whether both declare the same, except for their captions. */
bool dataset_declare_same(const struct dataset_spec *a, const struct dataset_spec *b);

/* Writes the declaration, its grant or proposal, and the act; takes spec (on failure
 * too).
 *   out         found by datasets_find once the transaction is durable, freed if it
 *               fails
 *   ST_INVALID  the numbers of the grant make no valid budget
 *   others      as datasets_add, ledger_grant and ledger_grant_anew */
enum status dataset_declare_make(struct daemon_state *context, struct store_tx *tx,
                                 const struct dataset_declare *declaration,
                                 struct dataset_spec *spec_take, struct dataset **out,
                                 struct error *error);

/* Reads the first grant that the ledger has for the dataset, without any further epoch.
 * Returns false if there is none. */
bool dataset_declare_granted(struct daemon_state *context, const struct dataset_id *id,
                             struct grant *granted);

/* Grants what a dataset declares, either as its first grant or in place of that.
 *   others  as ledger_grant and ledger_grant_anew */
enum status dataset_declare_grant(struct daemon_state *context, struct store_tx *tx,
                                  const struct ledger_promise *promise,
                                  struct error *error);

/* Checks that the principal may make a promise. It needs the scope to propose grants.
 * Keys with that scope are made only on the host (api/requests/key_request.h). So a
 * principal that can make keys can make neither a second identity that approves for it,
 * nor one with the name of another project's owner, with whose datasets its own would
 * be compared.
 *   ST_FORBIDDEN  the principal may not */
enum status dataset_declare_may_promise(const struct principal *principal,
                                        struct error *error);

#endif
