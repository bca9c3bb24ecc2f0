/*
 * declaration.h - what a dataset is declared as, for the first time or anew.
 *
 * As long as a dataset never had content it may be declared anew, its promise too: no
 * record was there to compute anything from. What becomes of the promise:
 *
 *   STANDS    it is the same privacy, and nobody is asked to agree to it, or whoever is
 *             has read all that is declared now
 *   GRANTED   the ledger has granted it before: what was proposed since is taken back
 *   PROPOSED  a second person is asked (api/proposal.h); what was granted or proposed
 *             before is of no use any more
 *   MADE      nobody is asked: it is granted at once, in the place of what was before
 *
 * Threads: the desk's.
 */
#ifndef SERVICE_DECLARATION_H
#define SERVICE_DECLARATION_H

#include "accountant/entry.h"
#include "service/context.h"
#include "service/request.h"

enum promise { PROMISE_STANDS, PROMISE_GRANTED, PROMISE_PROPOSED, PROMISE_MADE };

struct declaration {
    const struct request *request; /* of who declares */
    struct dataset *known;         /* in whose place; NULL: the id was never used */
    struct dataset_info info;      /* of known */
    enum promise promise;          /* as declaration_weigh sets it */
};

/* Sets the promise of a declaration as spec, in the place of one that may be declared anew.
 *   ST_FORBIDDEN          it promises, and the principal may not propose that
 *   ST_DATASET_IMMUTABLE  a budget was granted, and spec is public; or, at /privacy, as
 *                         ledger_grant_anew
 *   ST_DATASET_FROZEN     as ledger_grant_anew
 *   ST_INVALID            there is no budget of these numbers */
enum status declaration_weigh(struct context *context, struct declaration *declaration,
                              const struct dataset_spec *spec, struct error *error);

/* Whether both declare the same, whatever they are called. */
bool declaration_same(const struct dataset_spec *a, const struct dataset_spec *b);

/* Writes the declaration, its promise or who is asked about it, and the act; takes spec (on
 * failure too).
 *   out         found by datasets_find once the transaction is durable, gone if it is not
 *   ST_INVALID  there is no budget of these numbers
 *   others      as datasets_add, ledger_grant and ledger_grant_anew */
enum status declaration_make(struct context *context, struct store_tx *tx,
                             const struct declaration *declaration,
                             struct dataset_spec *spec_take, struct dataset **out,
                             struct error *error);

/* What the ledger grants the dataset, before any further epoch; false where that is nothing. */
bool declaration_granted(struct context *context, const struct dataset_id *id,
                         struct grant *granted);

/* Grants what a dataset declares: for the first time, or in the place of the first.
 *   others  as ledger_grant and ledger_grant_anew */
enum status declaration_grant(struct context *context, struct store_tx *tx,
                              const struct ledger_promise *promise,
                              struct error *error);

/* A promise is made by who may propose one, and those who may are made on the host alone
 * (api/key_request.h). So nobody who makes keys makes a second self to approve, or one
 * whose name is that of another project's owner, with whose datasets it would be compared.
 *   ST_FORBIDDEN  the principal may not */
enum status declaration_may_promise(const struct request *request, struct error *error);

#endif
