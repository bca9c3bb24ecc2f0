#include "engine/nn/model_spec.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/nn/layer.h"

void model_spec_fini(struct model_spec *model)
{
    free(model->layers);
    named_columns_fini(&model->embedded);
    named_columns_fini(&model->paired);
    model_start_fini(&model->start);
    memset(model, 0, sizeof *model);
}

void model_spec_set_layers(struct model_spec *model, size_t count)
{
    free(model->layers);
    model->layer_count = count;
    model->layers = calloc(count > 0 ? count : 1, sizeof *model->layers);
    CHECK(model->layers != NULL);
}

void model_spec_copy(struct model_spec *to, const struct model_spec *from)
{
    *to = *from;
    to->layers = NULL;
    model_start_copy(&to->start, &from->start);
    named_columns_copy(&to->embedded, &from->embedded);
    named_columns_copy(&to->paired, &from->paired);
    model_spec_set_layers(to, from->layer_count);
    if (from->layer_count > 0)
        memcpy(to->layers, from->layers, from->layer_count * sizeof *to->layers);
}

uint32_t model_spec_outputs(const struct model_spec *model, uint32_t classes)
{
    switch (model->loss) {
    case LOSS_SOFTMAX_CROSS_ENTROPY: return classes >= 2 ? classes : 0;
    case LOSS_LOGISTIC: return classes == 2 ? 1 : 0;
    case LOSS_SQUARED:
    case LOSS_HUBER: return classes == 0 ? 1 : 0;
    }
    return 0;
}

size_t layer_spec_extent(const struct layer_spec *layer)
{
    return 1 + (size_t)layer->body + layer->shortcut + layer->third;
}

bool model_spec_reads_image(const struct model_spec *model)
{
    for (size_t i = 0; i < model->layer_count; i++)
        if (model->layers[i].kind->reads_image)
            return true;
    /* or the layers of its preset will */
    return model->preset >= PRESET_CNN_MNIST && model->preset <= PRESET_SCATTER;
}

static const char *const loss_names[] = {[LOSS_SOFTMAX_CROSS_ENTROPY] =
                                             "softmax_cross_entropy",
                                         [LOSS_LOGISTIC] = "logistic",
                                         [LOSS_SQUARED] = "squared",
                                         [LOSS_HUBER] = "huber"};
enum { LOSSES = sizeof loss_names / sizeof *loss_names };

const char *loss_name(enum loss loss)
{
    return loss_names[loss];
}

bool loss_parse(enum loss *loss, const char *text)
{
    for (size_t i = 0; i < LOSSES; i++)
        if (strcmp(loss_names[i], text) == 0) {
            *loss = (enum loss)i;
            return true;
        }
    return false;
}
