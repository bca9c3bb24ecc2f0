/*
 * difference_work.h - the argument of the functions of a difference_rule
 * (engine/nn/layer.h): a node, with its values' activations and gradients at the
 * previous point and their differences to the new one.
 *
 * A prime marks the previous point; da, db, dz are differences over s. Ordinary nodes
 * overwrite values of the previous point that a rule reads, so the order matters:
 * layer.h says which rules run before their node and which run after it.
 *
 * Threads: as workspace.h.
 */
#ifndef ENGINE_DIFFERENCE_DIFFERENCE_WORK_H
#define ENGINE_DIFFERENCE_DIFFERENCE_WORK_H

#include "engine/difference/row_difference.h"
#include "engine/nn/node_work.h"

struct difference_work {
    struct node_work work;    /* parameters: the previous point's */
    struct row_points points; /* theta, D */
    float scale;              /* s */
};

/* Sets of gathered weights besides those of the previous point. */
enum { NEW_WEIGHTS = 1, WEIGHT_STEPS = 2 };

/* a' and da; da is empty if no parameter lies before the value. */
static inline struct row_pair activation_pair(const struct node_work *work,
                                              size_t value)
{
    struct row_pair pair = {.at = activations_of(work, value)};
    if (has_gradient(work, value))
        pair.difference = part(work, work->workspace->differences, value);
    return pair;
}

/* b' and db of a value that has a gradient. */
static inline struct row_pair gradient_pair(const struct node_work *work, size_t value)
{
    return (struct row_pair){
        .at = gradients_of(work, value),
        .difference = part(work, work->workspace->gradient_differences, value)};
}

/* b = b' + s db, in place of b'. A layer with a weight needs b', db and, for its sums,
 * the b of the new point. Once its own backward is done, b' is not read any more. */
void difference_advance(const struct difference_work *work, const struct row_pair *b);

#endif
