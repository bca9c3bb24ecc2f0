#include "service/datasets/budget_text.h"

#include "accountant/ledger/ledger_view.h"
#include "api/views/budget_view.h"

enum status budget_text(char **text, struct ledger *ledger,
                        const struct dataset_spec *spec, struct error *error)
{
    struct budget_part parts[PARTS_MAX] = {{0}};
    size_t count = division_parts(&spec->grant.division);
    enum status status = ST_OK;
    for (size_t p = 0; p < count && status == ST_OK; p++) {
        const struct ledger_part part = {&spec->id, (enum part)p};
        parts[p].part = part.part;
        status =
            ledger_part_read(ledger, &part, &parts[p].epochs, &parts[p].balance, error);
    }
    if (status == ST_OK)
        *text = budget_render(&spec->id, parts, count);
    for (size_t p = 0; p < count; p++)
        epochs_fini(&parts[p].epochs);
    return status;
}
