#include "service/process/held_figure.h"

#include "base/random.h"

/* Returns a uniform number below bound; its distribution is off by at most bound /
 * 2^64. */
static uint64_t draw_below(uint64_t bound)
{
    uint64_t word;
    random_bytes(&word, sizeof word);
    return word % bound;
}

void held_figure_see(struct held_figure *figure, uint64_t value, uint64_t grain)
{
    uint64_t at = figure->drawn_at, away = value > at ? value - at : at - value;
    if (figure->is_drawn && away < figure->span)
        return;
    figure->is_drawn = true;
    figure->drawn_at = value;
    figure->span = grain / 2 + draw_below(grain);
    atomic_store(&figure->shown, (value + draw_below(grain)) / grain * grain);
}

uint64_t held_figure_shown(const struct held_figure *figure)
{
    return atomic_load(&figure->shown);
}
