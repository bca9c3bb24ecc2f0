/*
 * drop.h - what dropout draws from, for all nodes and records of a forward pass.
 */
#ifndef ENGINE_NN_DROP_H
#define ENGINE_NN_DROP_H

#include <stddef.h>
#include <stdint.h>

/* What a step drops: the key of the step, and the index in its dataset of the record in
 * each row. Both are borrowed for the passes that follow. */
struct drop {
    const uint8_t *key;      /* (STREAM_KEY_SIZE), or NULL: nothing is dropped */
    const uint32_t *indices; /* (rows) */
};

#endif
