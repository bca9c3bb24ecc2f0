#include "engine/dp/batch_split.h"

size_t batch_split_even_rows(const struct stepper_setup *setup)
{
    enum {
        IMAGES = 64,
        IMAGES_BELOW = 96,
        FEW = 144,
        MANY = 2 * FEW,
        MANY_FROM = 1536
    };
    if (network_has_positions(setup->network) && setup->batch_size < IMAGES_BELOW)
        return IMAGES;
    return setup->batch_size < MANY_FROM ? FEW : MANY;
}

/* Pieces that are single records are not stored (batch.h). */
static uint64_t stored_pieces(const struct grid *grid)
{
    return grid_is_single(grid) ? 0 : grid->cells;
}

size_t batch_split_count_max(const struct stepper_setup *setup, uint64_t records)
{
    const struct noise_plan *noise = setup->noise;
    if (noise == NULL)
        return (size_t)records / batch_split_even_rows(setup) + 1;
    uint64_t most = stored_pieces(&noise->grid);
    for (size_t k = 0; k < noise->named_count; k++)
        if (stored_pieces(&noise->named[k].grid) > most)
            most = stored_pieces(&noise->named[k].grid);
    return (size_t)most;
}

size_t batch_split_rows_max(const struct stepper_setup *setup)
{
    const struct noise_plan *noise = setup->noise;
    if (noise == NULL)
        return batch_split_even_rows(setup);
    uint32_t most = noise->grid.cell_rows_max;
    for (size_t k = 0; k < noise->named_count; k++)
        if (noise->named[k].grid.cell_rows_max > most)
            most = noise->named[k].grid.cell_rows_max;
    return most;
}
