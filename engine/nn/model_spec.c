#include "engine/nn/model_spec.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

void model_spec_fini(struct model_spec *model)
{
    free(model->layers);
    memset(model, 0, sizeof *model);
}

static void set_layers(struct model_spec *model, size_t count)
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
    set_layers(to, from->layer_count);
    if (from->layer_count > 0)
        memcpy(to->layers, from->layers, from->layer_count * sizeof *to->layers);
}

uint32_t model_spec_outputs(const struct model_spec *model, uint32_t classes)
{
    switch (model->loss) {
    case LOSS_SOFTMAX_CROSS_ENTROPY: return classes >= 2 ? classes : 0;
    case LOSS_LOGISTIC: return classes == 2 ? 1 : 0;
    case LOSS_SQUARED: return classes == 0 ? 1 : 0;
    }
    return 0;
}

static struct layer_spec dense(uint32_t out, bool bias)
{
    return (struct layer_spec){.kind = LAYER_DENSE, .out = out, .bias = bias};
}

static void expand_mlp(struct model_spec *model, uint32_t outputs)
{
    CHECK(model->hidden_count <= MODEL_HIDDEN_MAX);
    set_layers(model, 2 * model->hidden_count + 1);
    for (size_t i = 0; i < model->hidden_count; i++) {
        model->layers[2 * i] = dense(model->hidden[i], model->bias);
        model->layers[2 * i + 1] = (struct layer_spec){.kind = model->activation};
    }
    model->layers[2 * model->hidden_count] = dense(outputs, model->bias);
}

void model_spec_expand(struct model_spec *model, uint32_t outputs)
{
    switch (model->preset) {
    case PRESET_NONE: break;
    case PRESET_LINEAR:
        set_layers(model, 1);
        model->layers[0] = dense(outputs, true);
        break;
    case PRESET_MLP: expand_mlp(model, outputs); break;
    }
}

static const char *const layer_kind_names[] = {
    [LAYER_DENSE] = "dense", [LAYER_RELU] = "relu", [LAYER_TANH] = "tanh"};

const char *layer_kind_name(enum layer_kind kind)
{
    return layer_kind_names[kind];
}

bool layer_kind_parse(enum layer_kind *kind, const char *text)
{
    for (size_t i = 0; i < sizeof layer_kind_names / sizeof *layer_kind_names; i++)
        if (strcmp(layer_kind_names[i], text) == 0) {
            *kind = (enum layer_kind)i;
            return true;
        }
    return false;
}

static const char *const loss_names[] = {[LOSS_SOFTMAX_CROSS_ENTROPY] =
                                             "softmax_cross_entropy",
                                         [LOSS_LOGISTIC] = "logistic",
                                         [LOSS_SQUARED] = "squared"};

const char *loss_name(enum loss loss)
{
    return loss_names[loss];
}

bool loss_parse(enum loss *loss, const char *text)
{
    for (size_t i = 0; i < sizeof loss_names / sizeof *loss_names; i++)
        if (strcmp(loss_names[i], text) == 0) {
            *loss = (enum loss)i;
            return true;
        }
    return false;
}
