/*
 * algorithm.h - the description of a training algorithm: its name, its parameters, its
 * charge and the function that takes a step. engine/dp/algorithms/registry.h is the
 * table of all algorithms. Everything else that deals with algorithms (parsing a job,
 * GET /v1/algorithms, the trainer) is derived from that table.
 */
#ifndef ENGINE_DP_ALGORITHM_H
#define ENGINE_DP_ALGORITHM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mechanism.h"
#include "base/status.h"
#include "engine/dp/noise_plan.h"
#include "engine/dp/optimizer.h"
#include "engine/nn/model_spec.h"

enum { ALGORITHM_PARAMETERS_MAX = 24 };

enum parameter_kind {
    PARAMETER_REAL,
    PARAMETER_COUNT,
    PARAMETER_FLAG,
    PARAMETER_CHOICE
};

struct algorithm_parameter {
    const char *name;
    enum parameter_kind kind;
    double low, high;           /* real and count: inclusive bounds */
    bool low_open;              /* low itself is refused */
    double fallback;            /* used if the job does not give it */
    const char *const *choices; /* choice: NULL-ended; a value is its index */
    const char *about;          /* one sentence for people, shown by /v1/algorithms */
    /* NULL, or the name of a choice. Unless that choice has the value only_value, this
     * parameter has no meaning and is not shown, and a job that gives it is refused. */
    const char *only_with;
    size_t only_value;
    /* If a job does not give the parameter, its value is NAN and the algorithm chooses,
     * as about says. fallback is then unused and not shown. Only a real or a count can
     * be optional. */
    bool optional;
};

/* A job's choice of algorithm: values[i] belongs to algorithm->parameters[i]. */
struct algorithm_spec {
    const struct algorithm *algorithm; /* a row of the table, not owned */
    double values[ALGORITHM_PARAMETERS_MAX];
};

/* The inputs of an algorithm's plan. All of them are public. */
struct algorithm_inputs {
    const struct algorithm_spec *spec;
    const struct model_spec *model;
    enum relation relation;
    uint64_t records;    /* n: the privacy units: records or persons */
    uint64_t batch_size; /* expected, in [1, n] */
    uint64_t steps;
    double noise_multiplier; /* a candidate while calibrating */
    const struct optimizer_spec *optimizer;
};

/* The facts about the compiled model that an algorithm gets before its first step. */
struct algorithm_model {
    uint64_t parameters; /* d */
    uint32_t unit_rows;  /* network_unit_rows; 0 means 1 */
    /* The network, if its sums may have cells of one unit (cell_size.h); else NULL. */
    const struct network *sums;
    size_t layers;                       /* network_layers */
    const struct histograms *histograms; /* step_functions_of the network */
    /* These two are 0 unless the algorithm uses_differences. */
    double difference_spread;  /* network_difference_spread */
    uint32_t difference_terms; /* network_difference_terms */
};

enum { RELEASED_SERIES_MAX = 4, RELEASED_NUMBERS_MAX = 80 };

/* Numbers that a step released besides the gradient. The budget has paid for them, so
 * they are public and shown. */
struct released_value {
    const char *name;
    const double *numbers;
    size_t count; /* 1 unless is_list; the same at every step */
    bool is_list;
};

struct stepper; /* engine/dp/stepper.h: the parts of a step */

/* Returns whether the sums of algorithm may have cells of one unit: not if its steps
 * need a workspace that keeps more values than others do. */
bool algorithm_takes_single_cells(const struct algorithm *algorithm);

struct algorithm {
    const char *name;
    const char *title, *paper, *charge, *when_to_use; /* for people */
    bool is_private;        /* false: public data only, no charge */
    bool uses_error_memory; /* what clipping cuts off is fed back (error_memory.h) */
    bool full_batch; /* a step takes every record: batch_size is n if not given */
    /* it sums gradient differences (engine/difference/difference.h) */
    bool uses_differences;
    bool uses_subsets;    /* it draws batches of a fixed size (fixed_size_subset.h) */
    bool drops_gradient;  /* its steps are stepper_descend, which keeps no gradient */
    bool plain_loss;      /* its proof reads the loss: class weights are refused */
    bool uses_histograms; /* its model is that of layers/step_functions.h */
    bool reads_inputs;    /* its clip rule reads the inputs of all layers, frozen ones
                          too (workspace_factors) */
    /* Why the algorithm takes neither persons nor views: its proof is about single rows
     * as they are. NULL if a unit's mean gradient may replace a record's gradient
     * everywhere (noise.md 2.6). */
    const char *records_only;
    /* Why several ranks cannot take its steps together (group.h). NULL if each rank may
     * sum the records of its own cells and release its own slice of the parameters. */
    const char *one_rank_only;
    uint64_t epochs; /* if a job gives neither epochs nor steps; 0: the usual */
    const struct algorithm_parameter *parameters;
    size_t parameter_count;

    /* *m = the mechanism at the inputs' noise multiplier; exactly this mechanism will
     * be run.
     *   ST_INVALID  no proof for this combination: error->text says what to do */
    enum status (*plan)(struct mechanism *m, const struct algorithm_inputs *inputs,
                        struct error *error);

    /* The learning rate of a job that gives none: usual, or the rate that suits the
     * plan at the inputs' noise multiplier, computed from public values. NULL means
     * usual. The inputs' optimizer is not read. */
    double (*learning_rate)(const struct algorithm_inputs *inputs,
                            const struct algorithm_model *model, double usual);

    /* Bytes of an algorithm's own state between steps. start initialises the state from
     * public values only, and is called on a state of zeros.
     *   ST_INVALID  no noise plan is possible for these inputs (grid.h) */
    size_t state_size;
    size_t noise_at; /* offset of struct noise_plan in a private one's state */
    enum status (*start)(void *state, const struct algorithm_inputs *inputs,
                         const struct algorithm_model *model, struct error *error);

    /* If plan's mechanism is a filtered_gaussian, next returns the next step as it will
     * be run, computed from earlier releases only. The caller deducts it from the
     * reservation before it calls step, and does not call step if the reservation is
     * too small. False, or NULL, means that the plan is complete. */
    bool (*next)(const void *state, struct mechanism_run *step);

    /* The bytes that start allocated. NULL if start allocates nothing. */
    size_t (*allocated)(const void *state);

    /* Frees what start allocated; a state of zeros is allowed. NULL if start allocates
     * nothing. */
    void (*finish)(void *state);

    /* One step: a batch, its sum, a release, an update.
     *   ST_CANCELLED, ST_INTERNAL  from the functions of stepper.h */
    enum status (*step)(void *state, struct stepper *stepper, struct error *error);

    /* The noise multiplier for which the algorithm's own paper claims (epsilon, delta).
     * It is shown as paper_claim and is never a charge (P8). NULL if the claim is the
     * charge. */
    double (*paper_claim)(const struct algorithm_inputs *inputs, double epsilon,
                          double delta);

    /* Fills in what the last step released besides the gradient and returns the number
     * of values: always the same names and counts, at most RELEASED_NUMBERS_MAX numbers
     * in all, valid until the next step. NULL if nothing else is released. */
    size_t (*released)(const void *state,
                       struct released_value values[RELEASED_SERIES_MAX]);
};

/* Sets every parameter to its fallback. */
void algorithm_spec_init(struct algorithm_spec *spec,
                         const struct algorithm *algorithm);

/* The value of the parameter called name, which must exist. */
double algorithm_value(const struct algorithm_spec *spec, const char *name);

/* Returns whether parameter has a meaning, given the other values of spec
 * (only_with). */
bool algorithm_applies(const struct algorithm_spec *spec,
                       const struct algorithm_parameter *parameter);

/* The grids of everything that a started state of algorithm releases; NULL if the
 * algorithm is not private. */
const struct noise_plan *algorithm_noise(const struct algorithm *algorithm,
                                         const void *state);

/* Checks that algorithm may run on data of that privacy unit.
 *   ST_UNIT_UNSUPPORTED  its proof is about records ("/algorithm/name") */
enum status algorithm_check_unit(const struct algorithm *algorithm,
                                 enum privacy_unit unit, struct error *error);

/* Checks that algorithm may learn from views of a record (views.h).
 *   ST_INVALID  it is not private, or its proof is about rows as they are
 *               ("/augmentation") */
enum status algorithm_check_views(const struct algorithm *algorithm,
                                  struct error *error);

/* Checks that the given number of ranks may take the steps of a run of algorithm
 * together (group.h).
 *   noise  the plan of the run, as started; NULL if algorithm is not private
 *   ST_ONE_RANK_ONLY  its proof or its bits need one process ("/ranks")
 *   ST_INVALID        there are fewer cells than ranks ("/ranks") */
enum status algorithm_check_ranks(const struct algorithm *algorithm,
                                  const struct noise_plan *noise, unsigned ranks,
                                  struct error *error);

/* batch_size / records: sampler and accountant both use exactly this double. */
double algorithm_rate(const struct algorithm_inputs *inputs);

#endif
