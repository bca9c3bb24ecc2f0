/*
 * words_approval.h - a second person's approval of a discovery. A discovery that fails
 * shows a text of one unit in full, so another person agrees to the column, the threshold,
 * the noise and the probability of a failure before it runs.
 *
 *   POST /v1/statistics --> a proposal waits (202) --> approved --> the same request runs
 *
 * An approval is used by one run. Without keys there is no second person. --approvals off
 * does not turn this off, because a failure shows a text of one person.
 *
 * Threads: the write queue's.
 */
#ifndef SERVICE_HANDLERS_WORDS_APPROVAL_H
#define SERVICE_HANDLERS_WORDS_APPROVAL_H

#include <stdbool.h>

#include "base/status.h"
#include "service/http/request.h"
#include "service/planning/statistics_plan.h"

struct daemon_state;
struct dataset;

/* Returns whether the plan, which is priced, may run only with an approval. */
bool words_approval_is_asked(const struct request *request,
                             const struct statistics_plan *plan);

/* Finds an approval of the plan that no run has used: *approved = its dataset, or NULL if
 * there is none. */
void words_approval_find(struct daemon_state *context,
                         const struct statistics_plan *plan, struct dataset **approved);

/* Proposes the plan, and makes the reply, a 202. A plan that waits already is not
 * proposed again.
 *   ST_GRANT_PENDING  another discovery of the dataset waits for a second person
 *   ST_CONFLICT       other daemons have written since: handle the request again
 *   ST_IO             the store is poisoned */
enum status words_approval_propose(struct daemon_state *context,
                                   struct request *request,
                                   const struct statistics_plan *plan,
                                   struct error *error);

#endif
