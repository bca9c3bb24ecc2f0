#include "engine/nn/layers/resnet.h"

#include <stdio.h>

#include "engine/nn/layers/registry.h"

enum { STAGES = 4, STEM = 4, WIDTH = 64 };

struct list { /* layers: NULL if they are only counted */
    struct layer_spec *layers;
    size_t count;
};

static void append(struct list *list, struct layer_spec layer)
{
    if (list->layers != NULL)
        list->layers[list->count] = layer;
    list->count++;
}

static void append_conv(struct list *list, uint32_t out, uint32_t kernel,
                        uint32_t stride)
{
    append(list, (struct layer_spec){.kind = &layer_conv2d,
                                     .out = out,
                                     .kernel_height = kernel,
                                     .kernel_width = kernel,
                                     .stride = stride,
                                     .padding = kernel / 2,
                                     .dilation = 1});
}

static void append_kind(struct list *list, const struct layer_kind *kind)
{
    append(list, (struct layer_spec){.kind = kind});
}

static void append_norm(struct list *list, uint32_t groups)
{
    append(list, (struct layer_spec){.kind = &layer_group_norm,
                                     .groups = groups,
                                     .epsilon = MODEL_NORM_EPSILON});
}

static void append_block(struct list *list, const struct resnet *resnet, uint32_t width,
                         uint32_t stride)
{
    struct layer_spec residual = {
        .kind = &layer_residual, .body = 5, .shortcut = stride > 1 ? 2 : 0};

    append(list, residual);
    append_conv(list, width, 3, stride);
    append_norm(list, resnet->groups);
    append_kind(list, &layer_relu);
    append_conv(list, width, 3, 1);
    append_norm(list, resnet->groups);
    if (stride > 1) {
        append_conv(list, width, 1, stride);
        append_norm(list, resnet->groups);
    }
    append_kind(list, &layer_relu);
}

/* name (size) = the name that torchvision gives to an entry of the list, as
 * "layer2.0.conv1". Layers without parameters have no name. */
static void name_layer(const struct layer_spec *layers, size_t index, char *name,
                       size_t size)
{
    static const char *const stem[STEM] = {"conv1", "bn1", "", ""};
    static const char *const parts[] = {
        "conv1", "bn1", "", "conv2", "bn2", "downsample.0", "downsample.1"};
    unsigned stage = 1, block = 0;
    size_t i = STEM;

    snprintf(name, size, "%s", index < STEM ? stem[index] : "fc");
    while (i < index && layers[i].kind == &layer_residual) {
        size_t extent = layer_spec_extent(&layers[i]);
        if (layers[i].shortcut > 0) {
            stage++;
            block = 0;
        }
        if (index < i + extent) {
            snprintf(name, size, "layer%u.%u.%s", stage, block, parts[index - i - 1]);
            return;
        }
        block++;
        i += extent + 1; /* and the relu after it */
    }
}

void resnet_name_layers(struct layer_spec *layers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        name_layer(layers, i, layers[i].public_name, sizeof layers[i].public_name);
}

size_t resnet_layers(const struct resnet *resnet, struct layer_spec *layers)
{
    static const unsigned small[STAGES] = {2, 2, 2, 2}, large[STAGES] = {3, 4, 6, 3};
    const unsigned *blocks = resnet->preset == PRESET_RESNET18_GN ? small : large;
    struct list list = {.layers = layers};

    append_conv(&list, WIDTH, 7, 2);
    append_norm(&list, resnet->groups);
    append_kind(&list, &layer_relu);
    append(&list, (struct layer_spec){.kind = &layer_max_pool2d,
                                      .kernel_height = 3,
                                      .kernel_width = 3,
                                      .stride = 2,
                                      .padding = 1});
    for (unsigned stage = 0; stage < STAGES; stage++)
        for (unsigned block = 0; block < blocks[stage]; block++)
            append_block(&list, resnet, WIDTH << stage,
                         stage > 0 && block == 0 ? 2 : 1);
    append_kind(&list, &layer_global_avg_pool);
    append(&list, (struct layer_spec){
                      .kind = &layer_dense, .out = resnet->outputs, .bias = true});
    return list.count;
}
