/*
 * audit_view.h - a row of the audit trail as answered, and the details of acts, which are
 * JSON texts from the start. A detail holds what everybody may know who may see the thing:
 * no body as it came, no key, no size of private content.
 */
#ifndef API_AUDIT_VIEW_H
#define API_AUDIT_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "api/dataset_request.h"
#include "store/audit_rows.h"

/* {"seq","time","actor","key","project","via","ip","action","object","result","code",
 * "request_id","detail","prev","hash"}; null for what a row leaves empty. To be freed, as
 * all of these. */
char *audit_row_render(const struct audit_row *row);

/* {"public":true} or {"epsilon","delta"}, and "anew" where its schema was declared
 * before. */
char *dataset_act_render(const struct dataset_spec *spec, bool anew);

struct job_act {
    const char *dataset, *algorithm;
    bool is_private;
    double epsilon;      /* planned */
    uint64_t ledger_seq; /* of its RESERVE entry */
};
/* {"dataset","algorithm","epsilon","ledger_seq"}, the last two where it is private. */
char *job_act_render(const struct job_act *act);

#endif
