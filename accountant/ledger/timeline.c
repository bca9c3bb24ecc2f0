#include "accountant/ledger/timeline.h"

#include <math.h>
#include <string.h>

void timeline_most_encode(uint8_t bytes[ENTRY_CURVE_SIZE], const struct epoch *epoch,
                          const double most[LEDGER_WEIGHTED])
{
    struct curve curve;
    for (size_t i = 0; i < CURVE_ORDERS; i++)
        curve.at[i] = INFINITY;
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++)
        curve.at[epoch->filter.weighted[i]] = most[i];
    entry_curve_encode(bytes, &curve);
}

bool timeline_read(struct timeline *timeline, const struct epoch *epoch,
                   const struct timeline_row *row)
{
    struct curve curve;
    if (epoch == NULL || !entry_charge_decode(&curve, row->most, row->most_size))
        return false;
    *timeline = (struct timeline){.epoch = row->epoch, .seen = row->seen};
    memcpy(timeline->name, row->hash, SHA256_SIZE);
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++)
        timeline->most[i] = curve.at[epoch->filter.weighted[i]];
    return true;
}
