/*
 * drop.h - the source of dropout's random numbers, for all nodes and records of a
 * forward pass.
 */
#ifndef ENGINE_NN_DROP_H
#define ENGINE_NN_DROP_H

#include <stddef.h>
#include <stdint.h>

/* Determines what a step drops: the key of the step, and for each row the index of its
 * record in the dataset. Both are borrowed for the passes that follow. */
struct drop {
    const uint8_t *key;      /* (STREAM_KEY_SIZE), or NULL: nothing is dropped */
    const uint32_t *indices; /* (rows) */
};

#endif
