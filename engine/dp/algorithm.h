/*
 * algorithm.h - what a training algorithm is: what it is called, which parameters it
 * takes, what it charges and how it takes a step. The table of them is
 * engine/dp/algorithms/registry.h; everything else that knows about algorithms (parsing a
 * job, GET /v1/algorithms, the trainer) is derived from it.
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
    double fallback;            /* when the job does not name it */
    const char *const *choices; /* choice: NULL-ended; a value is its index */
    const char *about;          /* one sentence for people, shown by /v1/algorithms */
    /* NULL, or the name of a choice. Unless that has the value only_value, this parameter
     * means nothing and is not shown, and a job that names it is refused. */
    const char *only_with;
    size_t only_value;
    /* A job that does not name it leaves NAN, and the algorithm chooses, as about says.
     * fallback is then unused and not shown. Only a real or a count can be optional. */
    bool optional;
};

/* A job's choice of algorithm: values[i] belongs to algorithm->parameters[i]. */
struct algorithm_spec {
    const struct algorithm *algorithm; /* a row of the table, not owned */
    double values[ALGORITHM_PARAMETERS_MAX];
};

/* What an algorithm plans from. All of it is public. */
struct algorithm_inputs {
    const struct algorithm_spec *spec;
    const struct model_spec *model;
    enum relation relation;
    uint64_t records;    /* n: the units, be they records or persons */
    uint64_t batch_size; /* expected, in [1, n] */
    uint64_t steps;
    double noise_multiplier; /* a candidate while calibrating */
    const struct optimizer_spec *optimizer;
};

/* What an algorithm learns of the compiled model before its first step. */
struct algorithm_model {
    uint64_t parameters; /* d */
    uint32_t unit_rows;  /* network_unit_rows; 0 stands for 1 */
    size_t layers;       /* network_layers */
    /* These two are 0 unless the algorithm uses_differences. */
    double difference_spread;  /* network_difference_spread */
    uint32_t difference_terms; /* network_difference_terms */
};

enum { RELEASED_SERIES_MAX = 4, RELEASED_NUMBERS_MAX = 80 };

/* Numbers that a step released beside the gradient. They were paid for, so they are
 * public and shown. */
struct released_value {
    const char *name;
    const double *numbers;
    size_t count; /* 1 unless is_list; the same at every step */
    bool is_list;
};

struct stepper; /* engine/dp/stepper.h: what a step is made of */

struct algorithm {
    const char *name;
    const char *title, *paper, *charge, *when_to_use; /* for people */
    bool is_private;        /* false: only on public data, nothing is charged */
    bool uses_error_memory; /* what clipping cuts off comes back (error_memory.h) */
    bool full_batch; /* a step takes every record: batch_size is n where not named */
    /* it sums gradient differences (engine/difference/difference.h) */
    bool uses_differences;
    bool uses_subsets; /* it draws batches of a fixed size (fixed_size_subset.h) */
    bool plain_loss;   /* its proof reads the loss: a job names no class weights */
    /* Why it takes neither persons nor views: what its proof says of single rows as they
     * are. NULL where a unit's mean gradient may stand wherever a record's does (noise.md
     * 2.6). */
    const char *records_only;
    /* Why its steps are not taken by several ranks (group.h). NULL where each rank may sum
     * the records of its own cells, and release its own slice of the parameters. */
    const char *one_rank_only;
    uint64_t epochs; /* for a job that names neither epochs nor steps; 0: the usual */
    const struct algorithm_parameter *parameters;
    size_t parameter_count;

    /* *m = what will be run at the inputs' noise multiplier; what is run is exactly this.
     *   ST_INVALID  no proof for this combination: error->text says what to do instead */
    enum status (*plan)(struct mechanism *m, const struct algorithm_inputs *inputs,
                        struct error *error);

    /* The learning rate of a job that names none: usual, or what the plan at the inputs'
     * noise multiplier bears, computed from public values. NULL stands for usual. The
     * inputs' own optimizer has no say. */
    double (*learning_rate)(const struct algorithm_inputs *inputs,
                            const struct algorithm_model *model, double usual);

    /* Bytes of an algorithm's own state between steps. start fills them in from public
     * values alone, and is called on a state of zeros.
     *   ST_INVALID  no noise plan carries these inputs (grid.h) */
    size_t state_size;
    size_t noise_at;       /* private rows: where a state holds its struct noise_plan */
    size_t parameter_size; /* bytes a parameter that start allocates besides */
    enum status (*start)(void *state, const struct algorithm_inputs *inputs,
                         const struct algorithm_model *model, struct error *error);

    /* Where plan's mechanism is a filtered_gaussian, this says the next step as it will
     * be run, from releases alone: the caller takes it off what was reserved before it
     * calls step, and does not call step where it does not fit. False, or NULL, means
     * that plan has said it all. */
    bool (*next)(const void *state, struct mechanism_run *step);

    /* Releases what start allocated; a state of zeros is allowed. NULL where start
     * allocates nothing. */
    void (*finish)(void *state);

    /* One step: a batch, its sum, a release, an update.
     *   ST_CANCELLED, ST_INTERNAL  from stepper.h's services */
    enum status (*step)(void *state, struct stepper *stepper, struct error *error);

    /* The noise multiplier for which the algorithm's own paper claims (epsilon, delta).
     * It is shown as paper_claim and is never a charge (P8). NULL where the claim is the
     * charge. */
    double (*paper_claim)(const struct algorithm_inputs *inputs, double epsilon,
                          double delta);

    /* Fills in what the last step released beside the gradient and returns how many
     * values there are: always the same names and counts, at most RELEASED_NUMBERS_MAX
     * numbers in all, good until the next step. NULL where nothing is released. */
    size_t (*released)(const void *state,
                       struct released_value values[RELEASED_SERIES_MAX]);
};

/* Every parameter at its fallback. */
void algorithm_spec_init(struct algorithm_spec *spec,
                         const struct algorithm *algorithm);

/* The value of the parameter called name, which must exist. */
double algorithm_value(const struct algorithm_spec *spec, const char *name);

/* Whether parameter means something beside the other values of spec (only_with). */
bool algorithm_applies(const struct algorithm_spec *spec,
                       const struct algorithm_parameter *parameter);

/* The grids of all that a started state of algorithm releases; NULL where it is not
 * private. */
const struct noise_plan *algorithm_noise(const struct algorithm *algorithm,
                                         const void *state);

/* Whether algorithm may run on data of that privacy unit.
 *   ST_UNIT_UNSUPPORTED  its proof is about records ("/algorithm/name") */
enum status algorithm_check_unit(const struct algorithm *algorithm,
                                 enum privacy_unit unit, struct error *error);

/* Whether algorithm may learn from views of a record (views.h).
 *   ST_INVALID  it is not private, or its proof is about rows as they are
 *               ("/augmentation") */
enum status algorithm_check_views(const struct algorithm *algorithm,
                                  struct error *error);

/* Whether so many ranks may take the steps of a run of algorithm together (group.h).
 *   noise  the plan of the run, as started; NULL where algorithm is not private
 *   ST_ONE_RANK_ONLY  its proof or its bits need one process ("/ranks")
 *   ST_INVALID        there are fewer cells than ranks ("/ranks") */
enum status algorithm_check_ranks(const struct algorithm *algorithm,
                                  const struct noise_plan *noise, unsigned ranks,
                                  struct error *error);

/* batch_size / records: the one double that sampler and accountant both use. */
double algorithm_rate(const struct algorithm_inputs *inputs);

#endif
