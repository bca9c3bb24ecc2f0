/*
 * channels_last.h - the node that turns the image of a record, channel by channel as
 * files and users have it, to channels last, and may take the middle of it. It reads
 * the record itself, so nothing lies before it and no gradient goes back.
 */
#ifndef ENGINE_NN_CHANNELS_LAST_H
#define ENGINE_NN_CHANNELS_LAST_H

#include "engine/nn/conv_window.h"
#include "engine/nn/layer.h"

struct channels_last {        /* the node's plan */
    struct image image, crop; /* the record, and its middle part that is taken */
};

extern const struct node_kind channels_last_node;

#endif
