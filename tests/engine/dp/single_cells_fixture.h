/*
 * single_cells_fixture.h - gives small models the cells of one unit that cell_size.h
 * chooses for models of much memory. The linker replaces cell_size_is_one by the wrapper
 * below (--wrap, make/tests.mk), so that the engine's own objects run.
 */
#ifndef TESTS_ENGINE_DP_SINGLE_CELLS_FIXTURE_H
#define TESTS_ENGINE_DP_SINGLE_CELLS_FIXTURE_H

#include "engine/dp/cell_size.h"

static bool single_cells; /* every model whose algorithm takes them has them */

bool __real_cell_size_is_one(const struct network *network, uint64_t cell_units);
bool __wrap_cell_size_is_one(const struct network *network, uint64_t cell_units);
bool __wrap_cell_size_is_one(const struct network *network, uint64_t cell_units)
{
    return single_cells || __real_cell_size_is_one(network, cell_units);
}

#endif
