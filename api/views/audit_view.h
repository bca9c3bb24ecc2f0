/*
 * audit_view.h - a row of the audit trail in an API response, and the details of
 * audit events, which are JSON texts from the start. A detail contains only what
 * everyone with access to the object may know: no request body, no key, no size of
 * private content.
 */
#ifndef API_VIEWS_AUDIT_VIEW_H
#define API_VIEWS_AUDIT_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "api/requests/dataset_request.h"
#include "store/rows/audit_rows.h"

/* Returns {"seq","time","actor","key","project","via","ip","action","object",
 * "result","code","request_id","detail","prev","hash"}, with null for what a row
 * leaves empty. The caller frees the text of each function here. */
char *audit_row_render(const struct audit_row *row);

/* Returns {"public":true} or {"epsilon","delta"}, and "anew" if its schema was
 * declared before. */
char *dataset_act_render(const struct dataset_spec *spec, bool anew);

struct job_act {
    const char *dataset, *algorithm;
    bool is_private;
    double epsilon;      /* as planned */
    uint64_t ledger_seq; /* of its RESERVE entry */
};
/* Returns {"dataset","algorithm","epsilon","ledger_seq"}, the last two only if the
 * job is private. */
char *job_act_render(const struct job_act *act);

#endif
