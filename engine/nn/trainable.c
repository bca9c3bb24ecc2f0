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

/* Marks in matched (count) the layers whose tensors match a pattern: all of a layer's
 * or none. */
static enum status match(bool *matched, struct layers layers, const struct list *list,
                         struct error *error)
{
    for (size_t k = 0; k < list->patterns->count; k++) {
        bool found = false;
        for (size_t l = 0; l < layers.count; l++) {
            const struct layer_names *names = &layers.names[l];
            const char *text = list->patterns->texts[k];
            bool weight = fnmatch(text, names->weight, 0) == 0;
            bool bias =
                names->bias == NULL ? weight : fnmatch(text, names->bias, 0) == 0;
            if (weight != bias)
                return refuse(list, k,
                              "matches a part of a layer: its weight and bias are "
                              "frozen or trained together",
                              error);
            found |= weight;
            matched[l] |= weight;
        }
        if (!found)
            return refuse(list, k, "matches no tensor of the model", error);
    }
    return ST_OK;
}

static enum status choose_frozen(bool *matched, struct layer_choice *choices,
                                 struct layers layers, const struct model_start *start,
                                 struct error *error)
{
    bool except = start->trainable == TRAINABLE_EXCEPT;
    struct list list = {&start->named,
                        except ? "/model/trainable/except" : "/model/trainable/only"};
    enum status status = match(matched, layers, &list, error);
    for (size_t l = 0; l < layers.count; l++)
        switch (start->trainable) {
        case TRAINABLE_ALL: break;
        case TRAINABLE_HEAD: choices[l].frozen = l + 1 < layers.count; break;
        case TRAINABLE_ONLY: choices[l].frozen = !matched[l]; break;
        case TRAINABLE_EXCEPT: choices[l].frozen = matched[l]; break;
        }
    for (size_t l = 0; l < layers.count; l++)
        choices[l].frozen |= layers.names[l].constant;
    return status;
}

static enum status check(const struct layer_choice *choices, size_t layers,
                         struct error *error)
{
    bool trains = false;
    for (size_t l = 0; l < layers; l++) {
        trains |= !choices[l].frozen;
        if (choices[l].fresh && choices[l].frozen)
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
                             const struct model_start *start, struct error *error)
{
    const struct layers all = {names, layers};
    const struct list fresh = {&start->fresh, "/model/fresh"};
    bool *matched = calloc(2 * layers, sizeof *matched), *anew = matched + layers;
    CHECK(matched != NULL);
    memset(choices, 0, layers * sizeof *choices);
    enum status status = choose_frozen(matched, choices, all, start, error);
    if (status == ST_OK)
        status = match(anew, all, &fresh, error);
    for (size_t l = 0; l < layers; l++)
        choices[l].fresh = anew[l] || (start->fresh_head && l + 1 == layers);
    free(matched);
    return status == ST_OK ? check(choices, layers, error) : status;
}
