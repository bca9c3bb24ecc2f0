/* DP-SGD with value clipping (Fang et al. 2023; papers/valueclip.md): a record's clip
 * factor is computed from a bound of its gradient norm by its own loss.
 *
 * Before a step draws its batch, the bound is updated for the current weights: upper
 * bounds of their spectral norms determine the shares of the layers (aim;
 * value_clip_bound.h). The weights are released, so this costs nothing. Each record
 * then has a bound from its own loss and the squares of its layers' inputs, and is
 * clipped by the larger of that bound and its exact norm (clip).
 *
 * The charge is that of dpsgd. The only additional risk of value clipping would be a
 * bound that is wrong. So the exact norm is enforced too (papers/valueclip.md 2.4,
 * noise.md 2.4): a clip factor is never larger than the exact norm of the summed
 * gradient allows, and float32's rounding or an error in a bound costs accuracy and
 * never privacy. */
#include "engine/dp/algorithm.h"

#include <math.h>

#include "engine/dp/algorithms/clipped_sum.h"
#include "engine/dp/algorithms/value_clip_bound.h"
#include "engine/dp/clip.h"
#include "engine/dp/stepper.h"
#include "engine/nn/layer.h"
#include "engine/nn/spectral.h"
#include "engine/parallel/vector_math.h"

/* Losses and activations come from float32. Their rounding must not make an exact bound
 * smaller than the norm (papers/valueclip.md 2.3, V9). */
static const double bound_slack = 1 + 1e-6;

struct rule {
    struct value_clip_bound bound;
    struct flat_clip clip;
};

struct state {
    double rate, divisor;
    struct rule rule;
    struct noise_plan noise;
    struct spectral *spectral; /* NULL if no spectral norm is needed */
};

static const char *const bounds[] = {[BOUND_PAPER] = "paper",
                                     [BOUND_TIGHT] = "tight",
                                     [BOUND_FORWARD] = "forward",
                                     NULL};

static const struct algorithm_parameter parameters[] = {
    {.name = "clip_norm",
     .kind = PARAMETER_REAL,
     .low = 1e-12,
     .high = 1e18,
     .fallback = 1,
     .about =
         "Gradients whose bound is larger are scaled down to this norm; noise grows "
         "with it."},
    {.name = "bound",
     .kind = PARAMETER_CHOICE,
     .choices = bounds,
     .fallback = BOUND_FORWARD,
     .about = "The rule that bounds a record's gradient norm by its loss: paper and "
              "tight use the norm of the record, tight with sharper constants; "
              "forward uses the norms of all layers' inputs and biases."},
};

static enum value_clip_bound_kind kind_of(const struct algorithm_inputs *inputs)
{
    return (enum value_clip_bound_kind)algorithm_value(inputs->spec, "bound");
}

static enum status plan(struct mechanism *m, const struct algorithm_inputs *inputs,
                        struct error *error)
{
    struct value_clip_bound bound;
    enum status status =
        value_clip_bound_init(&bound, inputs->model, kind_of(inputs), error);
    if (status != ST_OK)
        return status;
    return clipped_sum_charge(m, MECHANISM_SAMPLED_GAUSSIAN, inputs, error);
}

/* The largest shorter side of a weight matrix, as far as the model without its data
 * determines it. */
static size_t side_of(const struct model_spec *model)
{
    size_t side = 1;
    for (size_t i = 0; i < model->layer_count; i++)
        if (model->layers[i].kind->stretch == STRETCH_WEIGHT &&
            model->layers[i].out > side)
            side = model->layers[i].out;
    return side < SPECTRAL_SIDE_MAX ? side : SPECTRAL_SIDE_MAX;
}

static enum status start(void *context, const struct algorithm_inputs *inputs,
                         const struct algorithm_model *model, struct error *error)
{
    struct state *state = context;
    double clip_norm = algorithm_value(inputs->spec, "clip_norm");
    struct grid_spec sum = clipped_sum_spec(inputs, model, clip_norm);
    enum status status = value_clip_bound_init(&state->rule.bound, inputs->model,
                                               kind_of(inputs), error);
    if (status == ST_OK)
        status = clipped_sum_plan(&state->noise, &sum, error);
    if (status == ST_OK && state->rule.bound.layers > 1)
        status = spectral_create(&state->spectral, side_of(inputs->model), error);
    if (status != ST_OK)
        return status;
    state->rule.clip = (struct flat_clip){.clip_norm = clip_norm, .spread = 1};
    state->rate = algorithm_rate(inputs);
    state->divisor = (double)inputs->batch_size; /* never the realised size (P2) */
    return ST_OK;
}

static size_t allocated(const void *context)
{
    const struct state *state = context;
    return spectral_size(state->spectral);
}

static void finish(void *context)
{
    struct state *state = context;
    spectral_destroy(state->spectral);
}

/* The weights are released, so their norms cost nothing. */
static void aim(struct state *state, struct stepper *stepper)
{
    struct value_clip_bound *bound = &state->rule.bound;
    const struct workspace *workspace = stepper_workspace(stepper, 0);
    double norms[VALUE_CLIP_LAYERS_MAX] = {0};
    for (size_t l = 0; l < bound->layers; l++) {
        struct factors layer = workspace_factors(workspace, l);
        if (value_clip_bound_needs(bound, l))
            norms[l] = spectral_bound(
                state->spectral, stepper_parameters(stepper) + layer.weight,
                (struct weight_shape){layer.outputs, layer.inputs});
    }
    value_clip_bound_aim(bound, norms);
}

/* |a|^2 of one record. The sum takes the padding of the row too, so that a record's
 * result does not depend on its place. */
VECTOR_CLONES
static double square_of(const struct factors *layer, size_t record)
{
    const float *row = layer->a + record * layer->a_stride;
    double sum = 0;
    VECTOR_SUM(sum)
    for (size_t j = 0; j < layer->a_stride; j++)
        sum += (double)row[j] * (double)row[j];
    return sum;
}

/* Flat clipping by the larger of the record's bound and its norm. */
static void clip(float *clip_factors, const struct measures *measures,
                 const void *context)
{
    const struct rule *rule = context;
    const struct value_clip_bound *bound = &rule->bound;
    size_t layers = bound->from_input ? 1 : bound->layers;
    double squares[VALUE_CLIP_LAYERS_MAX];
    for (size_t i = 0; i < measures->count; i++) {
        for (size_t l = 0; l < layers; l++) {
            struct factors layer = workspace_factors(measures->workspace, l);
            squares[l] = square_of(&layer, i);
        }
        double b =
            value_clip_bound_of(bound, measures->losses[i], squares) * bound_slack;
        double norm = fmax(b, measures->norms[i]);
        struct measures one = {.norms = &norm,
                               .spreads = &measures->spreads[i],
                               .losses = &measures->losses[i],
                               .count = 1};
        clip_flat(&clip_factors[i], &one, &rule->clip);
    }
}

static enum status step(void *context, struct stepper *stepper, struct error *error)
{
    struct state *state = context;
    struct batch_sum sum = {
        .grid = &state->noise.grid, .clip = clip, .clip_context = &state->rule};
    aim(state, stepper);
    stepper_sample(stepper, state->rate);
    return stepper_descend(stepper, &sum, state->divisor, error);
}

const struct algorithm value_clip = {
    .name = "value_clip",
    .title = "DP-SGD with value clipping",
    .paper = "Fang, Li, Fan, Li, Improved Convergence of Differential Private SGD with "
             "Gradient Clipping, ICLR 2023",
    .charge = "sampled Gaussian: one release a step at rate batch_size / n",
    .when_to_use =
        "To compare with the paper, on dense models: dpsgd's exact norms cost no "
        "more time here and waste no clip norm.",
    .is_private = true,
    .drops_gradient = true,
    .plain_loss = true,
    .reads_inputs = true,
    .records_only = "its bound is of one record's gradient by that record's loss",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .plan = plan,
    .state_size = sizeof(struct state),
    .noise_at = offsetof(struct state, noise),
    .start = start,
    .allocated = allocated,
    .finish = finish,
    .step = step,
};
