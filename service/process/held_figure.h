/*
 * held_figure.h - a figure of the machine that is shown coarsely, and changes only when
 * the machine's value has changed by a secret amount.
 *
 * Rounding by itself hides little: an attacker who can move the value, by uploads of
 * known sizes, brings it to an edge of the rounding, and the next byte of another
 * client moves the figure. So the edge is drawn again each time. When the figure is
 * drawn at a value v, it becomes (v + u) rounded down to the grain, u uniform in [0,
 * grain). It is drawn again when the value is t away from v, t uniform in [grain / 2, 3
 * grain / 2). Both are secret.
 *
 * An attacker who knows everything else about the value and moves it at will detects b
 * bytes of another client with an advantage of at most 2 b / grain per drawing, and a
 * drawing takes half a grain of change. The figure is less than 5 grain / 2 from the
 * value that was seen last.
 *
 * Threads: one sees; any may read.
 */
#ifndef SERVICE_PROCESS_HELD_FIGURE_H
#define SERVICE_PROCESS_HELD_FIGURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct held_figure { /* zeroed: 0, and not drawn yet */
    atomic_uint_fast64_t shown;
    bool is_drawn;
    uint64_t drawn_at, span; /* v and t */
};

/* Updates the figure with the current value, at a tick. grain is > 1 and always the
 * same. */
void held_figure_see(struct held_figure *figure, uint64_t value, uint64_t grain);

uint64_t held_figure_shown(const struct held_figure *figure);

#endif
