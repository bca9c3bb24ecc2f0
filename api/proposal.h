/*
 * proposal.h - a grant that a second person has to agree to: that a dataset may be trained
 * on under the budget which it declares, or that its records are everybody's; or that the
 * budget which a restored backup has frozen has a further epoch.
 *
 *   PENDING ----> APPROVED, REJECTED
 *      +--------> LAPSED, after LIMIT_GRANT_DAYS; nobody writes that down
 *
 * Until that of a declaration is APPROVED nothing is granted, and nothing of the dataset is
 * imported.
 *
 * Pure.
 */
#ifndef API_PROPOSAL_H
#define API_PROPOSAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accountant/entry.h"
#include "api/dataset_request.h"
#include "api/json_reader.h"
#include "api/json_writer.h"
#include "api/key_policy.h"
#include "base/id.h"

enum proposal_state { /* the first: nobody was asked */
                      PROPOSAL_NONE,
                      PROPOSAL_PENDING,
                      PROPOSAL_APPROVED,
                      PROPOSAL_REJECTED,
                      PROPOSAL_LAPSED,
};
enum { PROPOSAL_STATE_COUNT = PROPOSAL_LAPSED };
/* Those of a list, from PENDING on; NULL ends them. */
extern const char *const proposal_state_names[PROPOSAL_STATE_COUNT + 1];
/* The name of one of them. */
const char *proposal_state_name(enum proposal_state state);

struct proposal {              /* zeroed: nobody was asked */
    enum proposal_state state; /* as it is written: never LAPSED */
    struct grant_id id;
    char proposed_by[PRINCIPAL_NAME_SIZE];
    struct grant_approval decision; /* who decided, either way, and why */
    int64_t propose_ms, decide_ms;
    /* What a further epoch is to have: epsilon, delta and order, and nothing else, for the
     * rest of a budget is for good. Epsilon 0: it is of what the dataset declares. */
    struct grant further;
};

/* A new one, which that principal proposes at this time. */
struct proposal proposal_make(const char *principal, int64_t now_ms);

/* Whether it is of a further epoch. */
bool proposal_is_further(const struct proposal *proposal);

/* The state that it has at this time. */
enum proposal_state proposal_state_at(const struct proposal *proposal, int64_t now_ms);

/* Whether nothing may be done with the dataset for want of an approval. */
bool proposal_bars(const struct proposal *proposal);

/* As it is kept in a dataset's row, where somebody was asked: the member "grant", or
 * "regrant" of a further epoch. A text that is not one is refused by the reader. */
void proposal_write(struct json_writer *writer, const struct proposal *proposal);
void proposal_read(struct proposal *proposal, struct json_node node);

/* As it is answered: the member "grant" of a dataset, null where there is none (NULL); and by itself, to be freed:
 * {"id","dataset","kind","privacy","replaces","state","proposed_by","decided_by","reason",
 * "propose_time","lapse_time","decide_time"}. replaces: the grant in whose place it would
 * stand, NULL where there is none. */
void proposal_show(struct json_writer *writer, const struct proposal *proposal,
                   int64_t now_ms);
char *proposal_render(const struct proposal *proposal, const struct dataset_spec *spec,
                      const struct grant *replaces, int64_t now_ms);

/* The detail of the act that decided it, to be freed. */
char *proposal_act_render(const struct proposal *proposal,
                          const struct dataset_spec *spec);

/* Reads what a further epoch is to have: {"epsilon","delta","order"}, the last of which may
 * be absent. Of grant these alone are set.
 *   ST_INVALID  the error names the member */
enum status further_grant_parse(struct grant *grant, const char *body, size_t size,
                                struct error *error);

/* Reads the body of a decision: {"reason"}, a line of at most LIMIT_REASON bytes.
 *   ST_INVALID  the error names the member */
enum status decision_parse(char reason[GRANT_REASON_SIZE], const char *body,
                           size_t size, struct error *error);

/* The same of an approval of a key's policy, which names what is agreed to:
 * {"policy","reason"}. */
enum status policy_approval_parse(struct key_policy *policy,
                                  char reason[GRANT_REASON_SIZE], const char *body,
                                  size_t size, struct error *error);

#endif
