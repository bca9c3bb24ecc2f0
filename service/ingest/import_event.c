#include "service/ingest/import_event.h"

#include <stdio.h>
#include <stdlib.h>

#include "api/views/audit_view.h"
#include "api/views/dataset_view.h"
#include "base/clock.h"
#include "base/principal.h"
#include "service/audit/audit_trail.h"
#include "service/datasets/datasets.h"
#include "store/rows/audit_rows.h"

struct import_act import_event_of(const struct audit_row *row,
                                  enum acknowledged acknowledged)
{
    struct import_act act = {.acknowledged = acknowledged};
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
    char *detail = import_act_render(act->acknowledged);
    enum status status =
        audit_trail_append(tx,
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
                               .detail = detail,
                           },
                           error);
    free(detail);
    return status;
}
