#include "engine/dp/algorithms/value_clip_bound.h"

#include <math.h>

#include "base/check.h"
#include "engine/nn/layers/registry.h"

/* Returns whether a layer fits the proofs: it has a weight whose spectral norm bounds
 * it, or it is between such layers and 1-Lipschitz. */
static bool fits(const struct layer_kind *kind)
{
    return kind->stretch != STRETCH_UNBOUNDED;
}

static enum status refuse_kind(const struct layer_kind *kind, struct error *error)
{
    char names[256];
    layer_names(names, sizeof names, fits, "and");
    return error_set_at(
        error, ST_INVALID, "/algorithm/name",
        "value_clip has no proof for a layer %s, only for %s: use dpsgd", kind->name,
        names);
}

static bool has_inner_bias(const struct value_clip_bound *bound)
{
    for (size_t l = 0; l < bound->layers; l++)
        if (bound->bias[l])
            return true;
    return false;
}

/* Checks the conditions of paper and tight for several layers. */
static enum status check_deep(const struct value_clip_bound *bound,
                              const struct model_spec *model, struct error *error)
{
    if (bound->loss != LOSS_SOFTMAX_CROSS_ENTROPY)
        return error_set_at(error, ST_INVALID, "/algorithm/bound",
                            "paper and tight are proved for several layers with "
                            "softmax_cross_entropy only: use forward");
    if (has_inner_bias(bound))
        return error_set_at(
            error, ST_INVALID, "/algorithm/bound",
            "paper and tight do not cover biases, a record of zeros would "
            "break them: use forward, or a model without biases");
    for (size_t i = 0; i < model->layer_count; i++)
        /* Then |h| is no longer below |W| times |x|. */
        if (model->layers[i].kind->moves_zero)
            return error_set_at(error, ST_INVALID, "/algorithm/bound",
                                "paper and tight need activations that are zero at "
                                "zero, and %s is not: use forward",
                                model->layers[i].kind->name);
    return ST_OK;
}

enum status value_clip_bound_init(struct value_clip_bound *bound,
                                  const struct model_spec *model,
                                  enum value_clip_bound_kind kind, struct error *error)
{
    struct value_clip_bound made = {
        .kind = kind, .loss = model->loss, .huber_delta = model->huber_delta};
    if (model->start.trainable == TRAINABLE_LORA)
        return error_set_at(error, ST_INVALID, "/algorithm/name",
                            "value_clip has no proof for adapters: use dpsgd");
    for (size_t i = 0; i < model->layer_count; i++) {
        const struct layer_spec *layer = &model->layers[i];
        if (!fits(layer->kind))
            return refuse_kind(layer->kind, error);
        if (layer->kind->stretch != STRETCH_WEIGHT)
            continue;
        if (made.layers == VALUE_CLIP_LAYERS_MAX)
            return error_set_at(error, ST_INVALID, "/algorithm/name",
                                "value_clip takes at most %d dense layers: use dpsgd",
                                VALUE_CLIP_LAYERS_MAX);
        made.bias[made.layers++] = layer->bias;
    }
    made.from_input = kind != BOUND_FORWARD && made.layers > 1;
    enum status status = made.from_input ? check_deep(&made, model, error) : ST_OK;
    if (status == ST_OK)
        *bound = made;
    return status;
}

bool value_clip_bound_needs(const struct value_clip_bound *bound, size_t layer)
{
    return bound->layers > 1 && (bound->from_input || layer > 0);
}

/* sum over i of the product over j != i of N_j^2, by products from both ends: N may be
 * zero. */
static double spread_of_weights(const double *norms, size_t layers)
{
    double sum = 0;
    for (size_t i = 0; i < layers; i++) {
        double product = 1;
        for (size_t j = 0; j < layers; j++)
            if (j != i)
                product *= norms[j] * norms[j];
        sum += product;
    }
    return sum;
}

void value_clip_bound_aim(struct value_clip_bound *bound, const double *norms)
{
    double behind = 1;
    if (bound->from_input) {
        bound->shares[0] = spread_of_weights(norms, bound->layers);
        return;
    }
    for (size_t l = bound->layers; l-- > 0;) {
        bound->shares[l] = behind;
        if (l > 0)
            behind *= norms[l] * norms[l];
    }
}

/* |d loss / d output| of a record with this loss, or a bound of it. */
static double slope(const struct value_clip_bound *bound, double loss)
{
    bool paper = bound->kind == BOUND_PAPER;
    switch (bound->loss) {
    case LOSS_SOFTMAX_CROSS_ENTROPY:
        return paper ? 2 * sqrt(fmin(1, 2 * loss)) : -sqrt(2) * expm1(-loss);
    case LOSS_LOGISTIC: return paper ? sqrt(loss / 2) : -expm1(-loss);
    case LOSS_SQUARED: return sqrt(2 * loss);
    case LOSS_HUBER: return fmin(sqrt(2 * loss), bound->huber_delta);
    }
    CHECK(false); /* a loss that value_clip_bound_init has no proof for */
}

double value_clip_bound_of(const struct value_clip_bound *bound, double loss,
                           const double *squares)
{
    size_t count = bound->from_input ? 1 : bound->layers;
    double sum = 0;
    for (size_t l = 0; l < count; l++)
        sum += bound->shares[l] * (squares[l] + (bound->bias[l] ? 1 : 0));
    return slope(bound, loss) * sqrt(sum);
}
