#include "engine/dp/algorithms/diff2_parameters.h"

#include <math.h>
#include <stdbool.h>

#include "engine/dp/algorithms/full_batch.h"

/* The number of restarts of a job that gives no interval, and the number of local
 * batches that make up a client's records. */
static const double restarts_usual = 50, batches_usual = 128;

#define CLIP_NORM                                                                      \
    {                                                                                  \
        .name = "clip_norm", .kind = PARAMETER_REAL, .low = 1e-9, .high = 1e12,        \
        .fallback = 1, .about = "C1: the clip norm of gradients, in restarts."         \
    }
#define RATE(parameter, text)                                                          \
    {                                                                                  \
        .name = parameter, .kind = PARAMETER_REAL, .low = 1e-6, .high = 1e12,          \
        .fallback = 1, .about = text                                                   \
    }
#define RESTART_INTERVAL                                                               \
    {                                                                                  \
        .name = "restart_interval", .kind = PARAMETER_COUNT, .low = 1, .high = 1e7,    \
        .optional = true,                                                              \
        .about =                                                                       \
            "T, the number of rounds between restarts; 1 is dpgd. The default is a "   \
            "fiftieth of the rounds, at least 2."                                      \
    }
#define CLIENTS                                                                        \
    {                                                                                  \
        .name = "clients", .kind = PARAMETER_COUNT, .low = 1, .high = 1e6,             \
        .fallback = 1,                                                                 \
        .about =                                                                       \
            "P, the number of contiguous shards of the records. The objective is "     \
            "the mean of the shards' means."                                           \
    }
#define SPLIT(parameter, usual, text)                                                  \
    {                                                                                  \
        .name = parameter, .kind = PARAMETER_REAL, .low = 1.001, .high = 100,          \
        .fallback = usual, .about = text                                               \
    }

const struct algorithm_parameter diff2_gd_parameters[DIFF2_GD_PARAMETERS] = {
    CLIP_NORM,
    RATE("difference_clip", "C2: the clip norm of gradient differences is this times "
                            "the distance moved. The "
                            "smoothness of a record's loss is best."),
    RESTART_INTERVAL,
    SPLIT("split", 1.25, "u: restarts use 1 / u of the budget, differences the rest."),
    CLIENTS,
};

const struct algorithm_parameter diff2_bvr_parameters[DIFF2_BVR_PARAMETERS] = {
    CLIP_NORM,
    RATE("difference_clip",
         "C2: the clip norm of differences between rounds is this times the distance "
         "moved."),
    RATE("local_clip", "C3: the same for local steps."),
    RESTART_INTERVAL,
    {.name = "local_steps",
     .kind = PARAMETER_COUNT,
     .low = 1,
     .high = 1e4,
     .fallback = 10,
     .about = "K, the number of steps in a round: one over all records and K - 1 over "
              "small subsets of one client's records."},
    {.name = "local_batch",
     .kind = PARAMETER_COUNT,
     .low = 1,
     .high = 1e9,
     .optional = true,
     .about = "b, the number of records in a local step, drawn without replacement, "
              "fewer than a client has. The default is a hundred-and-twenty-eighth of "
              "a client's."},
    SPLIT("restart_split", 2, "u1: restarts use 1 / u1 of the budget."),
    SPLIT(
        "difference_split", 4,
        "u2: differences between rounds use 1 / u2 of the budget, local steps the rest "
        "that u1 and u2 leave."),
    CLIENTS,
};

static bool is_local(const struct algorithm_inputs *inputs)
{
    return inputs->spec->algorithm == &diff2_bvr_l_sgd;
}

struct diff2_shards diff2_shards_of(const struct algorithm_inputs *inputs)
{
    return (struct diff2_shards){
        .records = inputs->records,
        .clients = (uint64_t)algorithm_value(inputs->spec, "clients")};
}

uint64_t diff2_local_batch(const struct algorithm_inputs *inputs)
{
    double named = algorithm_value(inputs->spec, "local_batch");
    struct diff2_shards shards = diff2_shards_of(inputs);
    double usual = ceil((double)diff2_shards_least(&shards) / batches_usual);
    return (uint64_t)(isnan(named) ? usual : named);
}

static uint64_t interval_of(const struct algorithm_inputs *inputs, uint64_t rounds)
{
    double named = algorithm_value(inputs->spec, "restart_interval");
    return (uint64_t)(isnan(named) ? fmax(2, ceil((double)rounds / restarts_usual))
                                   : named);
}

struct diff2_rounds diff2_rounds_of(const struct algorithm_inputs *inputs)
{
    const struct algorithm_spec *spec = inputs->spec;
    struct diff2_shards shards = diff2_shards_of(inputs);
    struct diff2_rounds rounds = {
        .steps = inputs->steps, .local_steps = 1, .clients = shards.clients};
    if (is_local(inputs))
        rounds.local_steps = (uint64_t)algorithm_value(spec, "local_steps");
    rounds.restart_share =
        1 / algorithm_value(spec, is_local(inputs) ? "restart_split" : "split");
    rounds.difference_share = 1 - rounds.restart_share;
    if (rounds.local_steps > 1) {
        rounds.local_rate =
            (double)diff2_local_batch(inputs) / (double)diff2_shards_least(&shards);
        rounds.difference_share = 1 / algorithm_value(spec, "difference_split");
    }
    rounds.interval = interval_of(inputs, diff2_rounds_count(&rounds));
    return rounds;
}

static enum status check_optimizer(const struct optimizer_spec *optimizer,
                                   struct error *error)
{
    if (optimizer->kind != OPTIMIZER_SGD)
        return error_set_at(error, ST_INVALID, "/optimizer/name",
                            "diff2 is about plain steps: give sgd");
    if (optimizer->momentum != 0)
        return error_set_at(error, ST_INVALID, "/optimizer/momentum",
                            "diff2 is about plain steps: give 0, or take dpgd");
    if (optimizer->schedule != RATE_LINEAR)
        return error_set_at(error, ST_INVALID, "/optimizer/schedule",
                            "diff2 has a constant learning rate: give linear, or take "
                            "dpgd");
    if (optimizer->learning_rate_final != optimizer->learning_rate)
        return error_set_at(error, ST_INVALID, "/optimizer/learning_rate",
                            "diff2 has a constant learning rate: give a number, or "
                            "take dpgd");
    if (optimizer->warmup != 0)
        return error_set_at(error, ST_INVALID, "/optimizer/warmup",
                            "diff2 has a constant learning rate: give 0, or take dpgd");
    if (optimizer->weight_decay != 0)
        return error_set_at(error, ST_INVALID, "/optimizer/weight_decay",
                            "diff2 is about plain steps: give 0, or take dpgd");
    return ST_OK;
}

static enum status check_local(const struct algorithm_inputs *inputs,
                               const struct diff2_rounds *rounds, struct error *error)
{
    if (!(rounds->restart_share + rounds->difference_share < 1 - 0x1p-40))
        return error_set_at(error, ST_INVALID, "/algorithm/difference_split",
                            "1 / restart_split + 1 / difference_split must leave local "
                            "steps a part of the budget: give larger ones, such as 2 "
                            "and 4");
    if (!(rounds->local_rate < 1))
        return error_set_at(error, ST_INVALID, "/algorithm/local_batch",
                            "must be below the %llu records of a client: give fewer, "
                            "or fewer clients",
                            (unsigned long long)(inputs->records / rounds->clients));
    return ST_OK;
}

enum status diff2_check(const struct algorithm_inputs *inputs, struct error *error)
{
    enum status status = full_batch_check(inputs, error);
    if (status == ST_OK &&
        algorithm_value(inputs->spec, "clients") > (double)inputs->records)
        status = error_set_at(error, ST_INVALID, "/algorithm/clients",
                              "must be at most the number of records, %llu",
                              (unsigned long long)inputs->records);
    if (status == ST_OK)
        status = check_optimizer(inputs->optimizer, error);
    if (status != ST_OK)
        return status;
    struct diff2_rounds rounds = diff2_rounds_of(inputs);
    return rounds.local_steps > 1 ? check_local(inputs, &rounds, error) : ST_OK;
}
