#include "engine/efficiency.h"

#include <math.h>

static const double integer_bytes = 8, float_bytes = 4;

double efficiency_rows(double batch, unsigned ranks)
{
    double mean = batch / ranks;
    return mean + sqrt(2 * log(ranks) * mean);
}

double efficiency_of(const struct rank_machine *machine, const struct rank_work *work,
                     unsigned ranks)
{
    double record = work->record_flops / machine->flops, p = ranks;
    if (ranks == 1)
        return 1;
    double sent = work->parameters * (integer_bytes + float_bytes) * (p - 1) / p;
    double step =
        efficiency_rows(work->batch, ranks) * record + sent / machine->network_bytes +
        work->parameters * integer_bytes / machine->adding_bytes + machine->messages_s;
    return work->batch * record / (p * step);
}
