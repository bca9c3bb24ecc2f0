#include "api/json/fault.h"

const char *fault_wire(enum fault_kind kind)
{
    switch (kind) {
#define X(symbol, wire)                                                                \
    case FAULT_##symbol: return wire;
        FAULT_LIST(X)
#undef X
    }
    return "";
}

enum status fault_add(struct error *error, const struct fault *fault)
{
    if (error != NULL && error->faults != NULL && error->faults->count < LIMIT_FAULTS)
        error->faults->list[error->faults->count++] = *fault;
    return error_set_at(error, ST_INVALID, fault->pointer, "%s", fault->text);
}
