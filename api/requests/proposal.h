/*
 * proposal.h - a grant that a second person has to approve: that a dataset may be
 * trained on under the budget which it declares, or that its records are public; a
 * further epoch for a budget that was frozen after a backup was restored; or one
 * discovery of the words of a column.
 *
 *   PENDING ----> APPROVED, REJECTED
 *      +--------> LAPSED, after LIMIT_GRANT_DAYS; this state is never stored
 *
 * Until the grant of a declaration is APPROVED nothing is granted, and nothing of the
 * dataset is imported.
 *
 * Pure.
 */
#ifndef API_REQUESTS_PROPOSAL_H
#define API_REQUESTS_PROPOSAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accountant/ledger/entry.h"
#include "api/json/json_reader.h"
#include "api/json/json_writer.h"
#include "api/requests/dataset_request.h"
#include "api/requests/key_policy.h"
#include "base/id.h"

enum proposal_state { /* the first: no approval was asked for */
                      PROPOSAL_NONE,
                      PROPOSAL_PENDING,
                      PROPOSAL_APPROVED,
                      PROPOSAL_REJECTED,
                      PROPOSAL_LAPSED,
};
enum { PROPOSAL_STATE_COUNT = PROPOSAL_LAPSED };
/* The states that a list may ask for, from PENDING on, NULL-ended. */
extern const char *const proposal_state_names[PROPOSAL_STATE_COUNT + 1];
/* Returns the name of one of them. */
const char *proposal_state_name(enum proposal_state state);

/* A discovery, as it was proposed. If it fails, which it does with probability delta, a
 * text of one unit is shown in full. */
struct proposed_words {
    uint32_t column;             /* its index in the schema */
    double threshold, deviation; /* in units; threshold 0: it is another proposal */
    double delta;
    struct survey_id statistics; /* the run that has used the approval; "": none */
};

struct proposal {              /* zeroed: no approval was asked for */
    enum proposal_state state; /* as stored: never LAPSED */
    struct grant_id id;
    char proposed_by[PRINCIPAL_NAME_SIZE];
    struct grant_approval decision; /* who decided, approval or rejection, and why */
    int64_t propose_ms, decide_ms;
    /* The figures of a further epoch: only epsilon, delta, discovery_delta and order,
     * since the rest of a budget cannot change. Epsilon 0: it is another proposal. */
    struct grant further;
    struct proposed_words words;
};

/* Makes a new proposal by that principal at this time. */
struct proposal proposal_make(const char *principal, int64_t now_ms);

/* Returns whether it is for a further epoch, or for a discovery; else it is about the
 * dataset's declaration. */
bool proposal_is_further(const struct proposal *proposal);
bool proposal_is_words(const struct proposal *proposal);

/* Returns whether both discover the same at the same price. */
bool proposed_words_same(const struct proposed_words *a,
                         const struct proposed_words *b);

/* Returns the state that it has at this time. */
enum proposal_state proposal_state_at(const struct proposal *proposal, int64_t now_ms);

/* Returns whether the dataset cannot be used because an approval is missing. */
bool proposal_bars(const struct proposal *proposal);

/* The stored form in a dataset's row, if an approval was asked for: the member "grant",
 * "regrant" for a further epoch, or "words" for a discovery. The reader refuses a malformed text. */
void proposal_write(struct json_writer *writer, const struct proposal *proposal);
void proposal_read(struct proposal *proposal, struct json_node node);

/* The form in responses: the member "grant" of a dataset, null if there is none (NULL);
 * and by itself, to be freed: {"id","dataset","kind","privacy","replaces","state",
 * "proposed_by","decided_by","reason","propose_time","lapse_time","decide_time","acknowledge"}.
 * replaces: the grant that it would replace, NULL if there is none; needed: what an
 * approval has to confirm. */
void proposal_show(struct json_writer *writer, const struct proposal *proposal,
                   int64_t now_ms);
char *proposal_render(const struct proposal *proposal, const struct dataset_spec *spec,
                      const struct grant *replaces, enum acknowledged needed,
                      int64_t now_ms);

/* Renders the detail of the audit event of the proposal or of its decision, with what
 * the caller confirmed in that request; to be freed. */
char *proposal_act_render(const struct proposal *proposal,
                          const struct dataset_spec *spec,
                          enum acknowledged acknowledged);

/* Reads the figures of a further epoch, and what is confirmed:
 * {"epsilon","delta","order"?,"discovery_delta"?,"acknowledge"?}. Sets only these members of grant.
 *   ST_INVALID  the error names the member */
enum status further_grant_parse(struct grant *grant, enum acknowledged *acknowledged,
                                struct json_text body, struct error *error);

/* Reads the body of a decision: {"reason"}, a line of at most LIMIT_REASON bytes.
 *   ST_INVALID  the error names the member */
enum status decision_parse(char reason[GRANT_REASON_SIZE], struct json_text body,
                           struct error *error);

/* Reads the approval of a grant: {"reason","acknowledge"?}.
 *   ST_INVALID  the error names the member */
enum status grant_approval_parse(char reason[GRANT_REASON_SIZE],
                                 enum acknowledged *acknowledged, struct json_text body,
                                 struct error *error);

/* Reads an approval of a key's policy, whose body repeats the approved
 * policy: {"policy","reason"}. */
enum status policy_approval_parse(struct key_policy *policy,
                                  char reason[GRANT_REASON_SIZE], struct json_text body,
                                  struct error *error);

#endif
