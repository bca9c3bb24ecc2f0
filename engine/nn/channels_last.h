/*
 * channels_last.h - the node that converts the image of a record from channels first,
 * the order of files and users, to channels last. It may also cut out the middle of the
 * image. It reads the record itself, so no gradient goes back through it.
 */
#ifndef ENGINE_NN_CHANNELS_LAST_H
#define ENGINE_NN_CHANNELS_LAST_H

#include "engine/nn/conv_window.h"
#include "engine/nn/layer.h"

struct channels_last {        /* the node's plan */
    struct image image, crop; /* the record's image, and the middle part that is kept */
};

extern const struct node_kind channels_last_node;

#endif
