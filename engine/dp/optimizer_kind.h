/*
 * optimizer_kind.h - the kinds of optimizer, as rows: what each remembers between steps, how
 * it moves parameters, and the members that a request may name.
 *
 * To add a kind: write engine/dp/optimizer_NAME.c with its row, and add a line to
 * OPTIMIZER_TABLE. The request, its schema and the size of the state follow from the row;
 * `make openapi` writes its schema into openapi.yaml.
 *
 * Threads: constant data.
 */
#ifndef ENGINE_DP_OPTIMIZER_KIND_H
#define ENGINE_DP_OPTIMIZER_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(constant, name): the row of each is in optimizer_NAME.c; that of adam_bc is next to
 * adam's, whose moments it has. */
#define OPTIMIZER_TABLE(X)                                                             \
    X(OPTIMIZER_SGD, sgd) /* with or without momentum */                               \
    X(OPTIMIZER_ADAM, adam)                                                            \
    X(OPTIMIZER_ADAM_BC, adam_bc)

#define CONSTANT(constant, name) constant,
enum optimizer_kind { OPTIMIZER_TABLE(CONSTANT) OPTIMIZER_KINDS };
#undef CONSTANT

enum rate_schedule { RATE_LINEAR, RATE_COSINE };

struct optimizer_spec {
    enum optimizer_kind kind;
    double learning_rate;       /* > 0 */
    double learning_rate_final; /* the rate of the last step */
    double momentum;            /* sgd: [0, 1) */
    double beta1, beta2;        /* adam and adam_bc */
    double epsilon;             /* adam and adam_bc */
    double floor;               /* adam_bc: (0, 1], of the noise's variance */
    enum rate_schedule schedule;
    double warmup;       /* [0, 1): share of the steps */
    double weight_decay; /* >= 0, and learning_rate weight_decay < 1 */
};

/* A constant of struct optimizer_spec that belongs to one kind. */
struct optimizer_member {
    const char *name; /* in a request; NULL after the last */
    size_t offset;    /* of a double in struct optimizer_spec */
    double usual;     /* if the request does not name it */
    bool is_decay;    /* what stays from step to step, in [0, 1); else in (0, 1] */
};

/* One step over a span of coordinates. */
struct optimizer_step {
    const struct optimizer_spec *spec;
    double rate;           /* of the step */
    uint64_t step;         /* counted from 0 */
    double noise;          /* the declared variance of a coordinate's noise, averaged
                            * over the steps as beta2 averages their second moment */
    float *first, *second; /* state of the span, moved; NULL: the kind has none */
    float *parameters;     /* moved */
    const float *gradient;
    size_t count;
};

enum { OPTIMIZER_MEMBERS_MAX = 5 };

struct optimizer_row {
    const char *name;
    double learning_rate; /* of a job that names none; 0: it depends on the job */
    struct optimizer_member members[OPTIMIZER_MEMBERS_MAX];
    /* Vectors of state for each parameter: 0 to 2. */
    size_t (*state_vectors)(const struct optimizer_spec *spec);
    /* Moves the parameters of the step, and its state, after weight decay. */
    void (*move)(const struct optimizer_step *step);
};

const struct optimizer_row *optimizer_row(enum optimizer_kind kind);
const char *optimizer_kind_name(enum optimizer_kind kind);
bool optimizer_kind_parse(enum optimizer_kind *kind, const char *text);

/* Sets spec to the kind, with its usual constants and no rate. */
void optimizer_spec_init(struct optimizer_spec *spec, enum optimizer_kind kind);

/* Returns the member of spec. */
static inline double *optimizer_member_of(struct optimizer_spec *spec,
                                          const struct optimizer_member *member)
{
    return (double *)((char *)spec + member->offset);
}

#endif
