#include "engine/dp/cell_size.h"

#include "engine/nn/workspace.h"

static size_t whole_steps(size_t rows)
{
    return (rows + WORKSPACE_ROWS_STEP - 1) / WORKSPACE_ROWS_STEP * WORKSPACE_ROWS_STEP;
}

bool cell_size_is_one(const struct network *network, uint64_t cell_units)
{
    size_t rows = whole_steps((size_t)cell_units * network_unit_rows(network));
    return network_has_positions(network) &&
           workspace_size(network, rows) > CELL_MEMORY_MAX;
}

size_t cell_size_rows(const struct network *network, size_t rows_max)
{
    size_t rows = WORKSPACE_ROWS_STEP;
    while (rows + WORKSPACE_ROWS_STEP <= rows_max &&
           workspace_size(network, rows + WORKSPACE_ROWS_STEP) <= SINGLE_MEMORY_MAX)
        rows += WORKSPACE_ROWS_STEP;
    return rows;
}
