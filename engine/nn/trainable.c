#include "engine/nn/trainable.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

static void patterns_copy(struct name_patterns *to, const struct name_patterns *from)
{
    *to = (struct name_patterns){0};
    if (from->count == 0)
        return;
    to->texts = calloc(from->count, sizeof *to->texts);
    CHECK(to->texts != NULL);
    memcpy(to->texts, from->texts, from->count * sizeof *to->texts);
    to->count = from->count;
}

void model_start_copy(struct model_start *to, const struct model_start *from)
{
    *to = *from;
    patterns_copy(&to->named, &from->named);
    patterns_copy(&to->fresh, &from->fresh);
}

void model_start_fini(struct model_start *start)
{
    free(start->named.texts);
    free(start->fresh.texts);
    *start = (struct model_start){0};
}

/* A list of patterns and its place in a request. */
struct list {
    const struct name_patterns *patterns;
    const char *pointer;
};

static enum status refuse(const struct list *list, size_t index, const char *why,
                          struct error *error)
{
    char pointer[sizeof error->pointer];
    snprintf(pointer, sizeof pointer, "%s/%zu", list->pointer, index);
    return error_set_at(error, ST_INVALID, pointer, "\"%s\" %s",
                        list->patterns->texts[index], why);
}

struct layers {
    const struct layer_names *names;
    size_t count;
};

/* The tensors of a layer that patterns match. */
struct matched {
    bool weight, bias; /* without a bias: both are those of the weight */
};

static struct matched match_layer(const struct layer_names *names, const char *pattern)
{
    bool weight = fnmatch(pattern, names->weight, 0) == 0;
    bool bias = names->bias == NULL ? weight : fnmatch(pattern, names->bias, 0) == 0;
    return (struct matched){weight, bias};
}

/* Fills in matched (count). */
static enum status match(struct matched *matched, struct layers layers,
                         const struct list *list, struct error *error)
{
    for (size_t k = 0; k < list->patterns->count; k++) {
        bool found = false;
        for (size_t l = 0; l < layers.count; l++) {
            struct matched one =
                match_layer(&layers.names[l], list->patterns->texts[k]);
            found |= one.weight || one.bias;
            matched[l].weight |= one.weight;
            matched[l].bias |= one.bias;
        }
        if (!found)
            return refuse(list, k, "matches no tensor of the model", error);
    }
    return ST_OK;
}

/* The first pattern that matches a name which one of them matches. */
static size_t first_match(const struct list *list, const char *name)
{
    size_t k = 0;
    while (fnmatch(list->patterns->texts[k], name, 0) != 0)
        CHECK(++k < list->patterns->count);
    return k;
}

/* Of only and except: what is matched is trained, or is not. */
static enum status choose_named(struct matched *matched, struct layer_choice *choices,
                                struct layers layers, const struct model_start *start,
                                struct error *error)
{
    bool except = start->trainable == TRAINABLE_EXCEPT;
    const struct list list = {&start->named, except ? "/model/trainable/except"
                                                    : "/model/trainable/only"};
    enum status status = match(matched, layers, &list, error);
    if (status != ST_OK)
        return status;
    for (size_t l = 0; l < layers.count; l++) {
        bool weight = matched[l].weight != except, bias = matched[l].bias != except;
        const struct layer_names *names = &layers.names[l];
        if (weight && !bias && !names->constant)
            return refuse(&list,
                          first_match(&list, except ? names->bias : names->weight),
                          "would train a layer's weight without its bias: a layer is "
                          "trained whole, or its bias without its weight",
                          error);
        choices[l].frozen = !bias;
        choices[l].bias_only = bias && !weight;
    }
    return ST_OK;
}

static enum status choose_last(struct layer_choice *choices, struct layers layers,
                               size_t blocks, uint32_t last, struct error *error)
{
    if (last > blocks)
        return error_set_at(error, ST_INVALID, "/model/trainable/last",
                            "the model has %zu blocks: give 1 to %zu", blocks, blocks);
    for (size_t l = 0; l < layers.count; l++)
        choices[l].frozen = layers.names[l].block + last <= blocks;
    return ST_OK;
}

/* Returns whether a target matches the name of a layer, that of its weight without
 * ".weight". */
static bool is_target(const char *target, const struct layer_names *names)
{
    char layer[TENSOR_NAME_SIZE];
    size_t length = strlen(names->weight) - strlen(".weight");
    snprintf(layer, sizeof layer, "%.*s", (int)length, names->weight);
    return names->rank_max > 0 && fnmatch(target, layer, 0) == 0;
}

static enum status check_rank(const struct layer_names *names, uint32_t rank,
                              struct error *error)
{
    if (rank <= names->rank_max)
        return ST_OK;
    return error_set_at(
        error, ST_INVALID, "/model/trainable/lora/rank",
        "must be at most %zu, the smaller side of %s: two matrices of a "
        "greater rank have more numbers than the layer",
        names->rank_max, names->weight);
}

/* The head is trained whole and has no adapter, whatever matches it. */
static enum status choose_lora(struct layer_choice *choices, struct layers layers,
                               const struct model_start *start, struct error *error)
{
    const struct list list = {&start->named, "/model/trainable/lora/targets"};
    enum status status = ST_OK;
    for (size_t l = 0; l + 1 < layers.count; l++)
        choices[l].frozen = true;
    for (size_t k = 0; k < start->named.count; k++) {
        bool found = false;
        for (size_t l = 0; l + 1 < layers.count && status == ST_OK; l++) {
            if (!is_target(start->named.texts[k], &layers.names[l]))
                continue;
            found = choices[l].adapted = true;
            status = check_rank(&layers.names[l], start->rank, error);
        }
        if (status != ST_OK)
            return status;
        if (!found)
            return refuse(
                &list, k,
                "matches no dense layer below the head, which is trained whole", error);
    }
    return ST_OK;
}

/* The head and the norms are trained whole. */
static void choose_bias(struct layer_choice *choices, struct layers layers)
{
    for (size_t l = 0; l + 1 < layers.count; l++) {
        const struct layer_names *names = &layers.names[l];
        choices[l].bias_only = names->bias != NULL && !names->is_norm;
        choices[l].frozen = names->bias == NULL;
    }
}

static enum status choose_trained(struct matched *matched, struct layer_choice *choices,
                                  struct layers layers, size_t blocks,
                                  const struct model_start *start, struct error *error)
{
    enum status status = ST_OK;
    switch (start->trainable) {
    case TRAINABLE_ALL: break;
    case TRAINABLE_HEAD:
        for (size_t l = 0; l + 1 < layers.count; l++)
            choices[l].frozen = true;
        break;
    case TRAINABLE_BIAS: choose_bias(choices, layers); break;
    case TRAINABLE_LAST:
        status = choose_last(choices, layers, blocks, start->last, error);
        break;
    case TRAINABLE_LORA: status = choose_lora(choices, layers, start, error); break;
    case TRAINABLE_ONLY:
    case TRAINABLE_EXCEPT:
        status = choose_named(matched, choices, layers, start, error);
        break;
    }
    for (size_t l = 0; l < layers.count; l++)
        if (layers.names[l].constant)
            choices[l] = (struct layer_choice){.frozen = true};
    return status;
}

/* Fills in which layers start from init_seed: those whose tensors are all matched. */
static enum status choose_fresh(struct matched *matched, struct layer_choice *choices,
                                struct layers layers, const struct model_start *start,
                                struct error *error)
{
    const struct list list = {&start->fresh, "/model/fresh"};
    enum status status = match(matched, layers, &list, error);
    for (size_t l = 0; l < layers.count && status == ST_OK; l++) {
        const struct layer_names *names = &layers.names[l];
        if (matched[l].weight != matched[l].bias)
            return refuse(
                &list,
                first_match(&list, matched[l].weight ? names->weight : names->bias),
                "matches a part of a layer: its weight and bias start from init_seed "
                "together",
                error);
        choices[l].fresh =
            matched[l].weight || (start->fresh_head && l + 1 == layers.count);
    }
    return status;
}

static enum status check(const struct layer_choice *choices, size_t layers,
                         struct error *error)
{
    bool trains = false;
    for (size_t l = 0; l < layers; l++) {
        trains |= !choices[l].frozen;
        if (choices[l].fresh && (choices[l].frozen || choices[l].bias_only))
            return error_set_at(
                error, ST_INVALID, "/model/fresh",
                "a layer that starts from init_seed would be frozen, and learn "
                "nothing: train it too");
    }
    if (!trains)
        return error_set_at(error, ST_INVALID, "/model/trainable",
                            "everything is frozen: nothing would be trained");
    return ST_OK;
}

enum status trainable_choose(struct layer_choice *choices,
                             const struct layer_names *names, size_t layers,
                             size_t blocks, const struct model_start *start,
                             struct error *error)
{
    const struct layers all = {names, layers};
    struct matched *matched = calloc(2 * layers, sizeof *matched);
    CHECK(matched != NULL);
    memset(choices, 0, layers * sizeof *choices);
    enum status status = choose_trained(matched, choices, all, blocks, start, error);
    if (status == ST_OK)
        status = choose_fresh(matched + layers, choices, all, start, error);
    free(matched);
    return status == ST_OK ? check(choices, layers, error) : status;
}
