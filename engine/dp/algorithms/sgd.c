/* Plain SGD on data declared public: the reference that private algorithms are compared
 * with. */
#include "engine/dp/algorithm.h"

#include "base/check.h"
#include "engine/dp/stepper.h"

/* Sums on public data are added as integers too, so that the number of threads does not
 * change them. A step of 2^-32 is the float32 rounding of a gradient of 2^-8, and there
 * is room for a sum of 2^31. */
#define PUBLIC_SCALE 0x1p32

struct state {
    double rate, divisor;
    struct grid grid;
};

static enum status plan(struct mechanism *m, const struct algorithm_inputs *inputs,
                        struct error *error)
{
    (void)m;
    (void)inputs;
    return error_set(error, ST_INVALID,
                     "sgd is not private and has no mechanism; use dpsgd");
}

static enum status start(void *context, const struct algorithm_inputs *inputs,
                         const struct algorithm_model *model, struct error *error)
{
    struct state *state = context;
    (void)error;
    state->rate = algorithm_rate(inputs);
    state->divisor = (double)inputs->batch_size;
    state->grid = (struct grid){
        .scale = PUBLIC_SCALE, .records = inputs->records, .dim = model->parameters};
    return ST_OK;
}

static enum status step(void *context, struct stepper *stepper, struct error *error)
{
    const struct state *state = context;
    struct batch_sum sum = {.grid = &state->grid};
    stepper_sample(stepper, state->rate);
    enum status status = stepper_sum(stepper, &sum, error);
    if (status != ST_OK)
        return status;
    stepper_average(stepper, sum.grid, state->divisor);
    return stepper_update(stepper, error);
}

const struct algorithm sgd = {
    .name = "sgd",
    .title = "SGD without privacy",
    .paper = "Robbins and Monro, A Stochastic Approximation Method, 1951",
    .charge = "nothing: only on a dataset declared public",
    .when_to_use = "To see what the same model reaches on public data without noise.",
    .is_private = false,
    .one_rank_only = "it cuts a batch evenly and not by index, so that each number of "
                     "ranks would leave other bits",
    .plan = plan,
    .state_size = sizeof(struct state),
    .start = start,
    .step = step,
};
