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

#include "api/requests/acknowledgement.h"
#include "api/requests/dataset_request.h"
#include "api/requests/standardise_request.h"
#include "store/rows/audit_rows.h"

/* Returns {"seq","time","actor","key","project","via","ip","action","object",
 * "result","code","request_id","detail","prev","hash"}, with null for what a row
 * leaves empty. The caller frees the text of each function here. */
char *audit_row_render(const struct audit_row *row);

/* Returns {"public":true} or {"epsilon","delta"}, "anew" if its schema was declared
 * before, and "acknowledge" if the request confirmed something. */
char *dataset_act_render(const struct dataset_spec *spec, bool anew);

/* Returns {}, with "acknowledge" if the request for the import confirmed something. */
char *import_act_render(enum acknowledged acknowledged);

/* Returns {"epsilon","delta"} of a further epoch that is granted on the host,
 * "discovery_delta" if it sets some aside, and "acknowledge" as above. */
char *regrant_act_render(const struct grant *grant, enum acknowledged acknowledged);

struct job_act {
    const char *dataset, *algorithm;
    bool is_private;
    double epsilon;      /* as planned */
    uint64_t ledger_seq; /* of its RESERVE entry */
    /* What the job buys by "standardise"; NULL if it buys nothing. */
    const struct standardise_request *purchase;
};
/* Returns {"dataset","algorithm","epsilon","ledger_seq"}, the last two only if the
 * job is private, and "standardise" as the job shows it if the job buys moments. */
char *job_act_render(const struct job_act *act);

#endif
