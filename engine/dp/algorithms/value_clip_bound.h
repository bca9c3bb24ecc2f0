/*
 * value_clip_bound.h - an upper bound of a record's gradient norm, from its own loss
 * and public numbers. Value clipping is built on it (Fang et al., papers/valueclip.md
 * 1.6 to 1.8).
 *
 * Each bound has the form  b = g(loss) sqrt(sum over l of share_l (|h_l|^2 + bias_l))
 * where h_l is the input of layer l, bias_l is 1 if layer l has a bias and else 0, and
 * the shares are products of the other layers' spectral norms:
 *
 *   family                            bound          g(f)                 shares
 *   linear, squared f = r^2 / 2       all            sqrt(2 f), exact     1
 *   linear, huber of delta            all            min(sqrt(2 f), delta)  1
 *   linear, logistic                  paper          sqrt(f / 2)          1
 *                                     tight forward  1 - e^-f, exact      1
 *   linear, softmax cross-entropy     paper          2 sqrt(min(1, 2f))   1
 *                                     tight forward  sqrt(2) (1 - e^-f)   1
 *   several layers without biases,    paper          2 sqrt(min(1, 2f))   S(W), of the
 *     softmax cross-entropy           tight          sqrt(2) (1 - e^-f)   first input
 *   several layers                    forward        as linear, tight     the product
 *                                                                         after l
 *   S(W) = sum over i of the product over j != i of N_j^2
 *
 * Layers are dense with 1-Lipschitz activations between them. If there are several
 * layers, paper and tight accept only activations that are zero at zero (relu and
 * tanh); forward also accepts sigmoid and softplus.
 *
 * Invariants
 *   (1) A caller passes only the model and the name of a bound.
 *   (2) A record's bound depends only on that record, the weights and the model.
 *
 * Threads: value_clip_bound_aim is called by one thread; after it, any number may read
 * the bound.
 */
#ifndef ENGINE_DP_ALGORITHMS_VALUE_CLIP_BOUND_H
#define ENGINE_DP_ALGORITHMS_VALUE_CLIP_BOUND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "engine/nn/model_spec.h"

enum value_clip_bound_kind { BOUND_PAPER, BOUND_TIGHT, BOUND_FORWARD };

enum { VALUE_CLIP_LAYERS_MAX = 64 };

struct value_clip_bound {
    enum value_clip_bound_kind kind;
    enum loss loss;
    double huber_delta;
    size_t layers; /* dense ones */
    bool bias[VALUE_CLIP_LAYERS_MAX];
    bool from_input;                      /* only the first share is not zero: S(W) */
    double shares[VALUE_CLIP_LAYERS_MAX]; /* for the weights of the last aim */
};

/* Checks that there is a proof for model. Its weights are not known yet.
 *   ST_INVALID  there is no proof for this model with this bound, or for adapters; the
 *               error says what to do instead */
enum status value_clip_bound_init(struct value_clip_bound *bound,
                                  const struct model_spec *model,
                                  enum value_clip_bound_kind kind, struct error *error);

/* Returns whether value_clip_bound_aim reads norms[layer]. */
bool value_clip_bound_needs(const struct value_clip_bound *bound, size_t layer);

/* Computes the shares for the current weights.
 *   norms  (layers) upper bounds of their spectral norms, for layers that need them */
void value_clip_bound_aim(struct value_clip_bound *bound, const double *norms);

/* The bound b of a record.
 *   loss     the record's loss, >= 0
 *   squares  (layers) |h_l|^2; only the first if from_input */
double value_clip_bound_of(const struct value_clip_bound *bound, double loss,
                           const double *squares);

#endif
