#include "service/ingest/import_event.h"

#include <stdio.h>

#include "api/views/dataset_view.h"
#include "base/clock.h"
#include "base/principal.h"
#include "service/audit/audit_trail.h"
#include "service/datasets/datasets.h"
#include "store/rows/audit_rows.h"

struct import_act import_event_of(const struct audit_row *row)
{
    struct import_act act;
    snprintf(act.key, sizeof act.key, "%s", row->key);
    snprintf(act.via, sizeof act.via, "%s", row->via);
    snprintf(act.address, sizeof act.address, "%s", row->address);
    snprintf(act.request, sizeof act.request, "%s", row->request);
    return act;
}

enum status import_event_append(struct store_tx *tx, const struct dataset *dataset,
                                const struct import_act *act, struct error *error)
{
    const struct principal *owner = dataset_owner(dataset);
    if (act->request[0] == '\0')
        return ST_OK;
    return audit_trail_append(tx,
                              &(struct audit_row){
                                  .second = clock_wall_s(),
                                  .actor = owner->name,
                                  .key = act->key,
                                  .project = owner->project,
                                  .via = act->via,
                                  .address = act->address,
                                  .action = "dataset.import",
                                  .object = dataset_spec(dataset)->id.text,
                                  .result = "ok",
                                  .code = "",
                                  .request = act->request,
                                  .detail = "{}",
                              },
                              error);
}
