/*
 * declaration.h - declares a dataset, for the first time or again.
 *
 * A dataset that never had content may be declared again with another promise, because
 * there was no record to compute anything from. The promise of the new declaration
 * becomes one of:
 *
 *   STANDS    the privacy is unchanged, and either no approval is pending, or the
 *             declaration that waits for approval is unchanged too
 *   GRANTED   the ledger has granted it before; a later proposal is withdrawn
 *   PROPOSED  it needs a second person's approval (api/proposal.h); what was granted or
 *             proposed before can no longer be used
 *   MADE      it needs no approval: it is granted at once and replaces what was before
 *
 * Threads: the desk's.
 */
#ifndef SERVICE_DECLARATION_H
#define SERVICE_DECLARATION_H

#include "service/dataset_info.h"

struct context;

enum promise { PROMISE_STANDS, PROMISE_GRANTED, PROMISE_PROPOSED, PROMISE_MADE };

struct declaration {
    const struct request *request; /* of the principal that declares */
    struct dataset *known;         /* to be replaced; NULL: the id was never used */
    struct dataset_info info;      /* of known */
    enum promise promise;          /* set by declaration_weigh */
};

/* Sets the promise of a declaration as spec, which replaces one that may be declared
 * again.
 *   ST_FORBIDDEN          it makes a promise that the principal may not propose
 *   ST_DATASET_IMMUTABLE  a budget was granted, and spec is public; or, at /privacy, as
 *                         ledger_grant_anew
 *   ST_DATASET_FROZEN     as ledger_grant_anew
 *   ST_INVALID            the numbers of the grant make no valid budget */
enum status declaration_weigh(struct context *context, struct declaration *declaration,
                              const struct dataset_spec *spec, struct error *error);

/* Returns whether both declare the same, except for their captions. */
bool declaration_same(const struct dataset_spec *a, const struct dataset_spec *b);

/* Writes the declaration, its grant or proposal, and the act; takes spec (on failure
 * too).
 *   out         found by datasets_find once the transaction is durable, freed if it
 *               fails
 *   ST_INVALID  the numbers of the grant make no valid budget
 *   others      as datasets_add, ledger_grant and ledger_grant_anew */
enum status declaration_make(struct context *context, struct store_tx *tx,
                             const struct declaration *declaration,
                             struct dataset_spec *spec_take, struct dataset **out,
                             struct error *error);

/* Reads the first grant that the ledger has for the dataset, without any further epoch.
 * Returns false if there is none. */
bool declaration_granted(struct context *context, const struct dataset_id *id,
                         struct grant *granted);

/* Grants what a dataset declares, either as its first grant or in place of that.
 *   others  as ledger_grant and ledger_grant_anew */
enum status declaration_grant(struct context *context, struct store_tx *tx,
                              const struct ledger_promise *promise,
                              struct error *error);

/* Checks that the principal may make a promise. It needs the scope to propose grants.
 * Keys with that scope are made only on the host (api/key_request.h). So a principal
 * that can make keys can make neither a second identity that approves for it, nor one
 * with the name of another project's owner, with whose datasets its own would be
 * compared.
 *   ST_FORBIDDEN  the principal may not */
enum status declaration_may_promise(const struct request *request, struct error *error);

#endif
