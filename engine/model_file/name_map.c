/* Sources: the files that transformers 2 to 5 and sentence-transformers write, and the
 * tiny models of each kind that tests/engine/test_public_models reads. */
#include "engine/model_file/name_map.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

enum { PAIRS_MAX = 5, IGNORED_MAX = 5 };

struct name_pair {
    const char *ours, *theirs;
};

struct name_map {
    const char *name;
    const char *detect; /* ours: a tensor that every model of this kind has */
    /* The first pair of each list that fits a name replaces its beginning or its end. */
    struct name_pair beginnings[PAIRS_MAX], endings[PAIRS_MAX];
    const char *ignored[IGNORED_MAX]; /* patterns (fnmatch) of our names */
};

/* The heads of pretraining, the pooler of a model that takes the mean, and counters that
 * are no weights. */
static const struct name_map maps[] = {
    {.name = "bert",
     .detect = "bert.embeddings.word_embeddings.weight",
     .beginnings = {{"bert.embeddings.", "embeddings."},
                    {"bert.encoder.", "encoder."},
                    {"bert.pooler.", "pooler."}},
     .endings = {{"LayerNorm.weight", "LayerNorm.gamma"},
                 {"LayerNorm.bias", "LayerNorm.beta"}},
     .ignored = {"bert.embeddings.position_ids", "bert.pooler.*", "cls.*"}},
    {.name = "roberta",
     .detect = "roberta.embeddings.word_embeddings.weight",
     .beginnings = {{"roberta.embeddings.", "embeddings."},
                    {"roberta.encoder.", "encoder."},
                    {"roberta.pooler.", "pooler."}},
     .endings = {{"LayerNorm.weight", "LayerNorm.gamma"},
                 {"LayerNorm.bias", "LayerNorm.beta"}},
     .ignored = {"roberta.embeddings.position_ids", "roberta.pooler.*", "lm_head.*"}},
    {.name = "distilbert",
     .detect = "distilbert.embeddings.word_embeddings.weight",
     .beginnings = {{"distilbert.embeddings.", "embeddings."},
                    {"distilbert.transformer.", "transformer."}},
     .ignored = {"distilbert.embeddings.position_ids", "vocab_transform.*",
                 "vocab_layer_norm.*", "vocab_projector.*"}},
};

static bool has_tensor(const struct network *network, const char *name)
{
    for (size_t i = 0; i < network_tensor_count(network); i++)
        if (strcmp(network_tensor(network, i)->name, name) == 0)
            return true;
    return false;
}

const struct name_map *name_map_of(const struct network *network)
{
    for (size_t k = 0; k < sizeof maps / sizeof *maps; k++)
        if (has_tensor(network, maps[k].detect))
            return &maps[k];
    return NULL;
}

const char *name_map_name(const struct name_map *map)
{
    return map != NULL ? map->name : "";
}

static bool begins(const char *name, const char *part)
{
    return strncmp(name, part, strlen(part)) == 0;
}

static bool ends(const char *name, const char *part)
{
    size_t length = strlen(name), size = strlen(part);
    return length >= size && strcmp(name + length - size, part) == 0;
}

/* Returns the pair of the list that fits the name, or one that changes nothing. */
static struct name_pair pair_of(const struct name_pair *pairs, const char *name,
                                bool (*fits)(const char *name, const char *part))
{
    for (size_t k = 0; k < PAIRS_MAX && pairs[k].ours != NULL; k++)
        if (fits(name, pairs[k].theirs))
            return pairs[k];
    return (struct name_pair){"", ""};
}

void name_map_ours(const struct name_map *map, const char *theirs,
                   char ours[TENSOR_NAME_SIZE])
{
    static const struct name_map same;
    const struct name_map *used = map != NULL ? map : &same;
    struct name_pair first = pair_of(used->beginnings, theirs, begins);
    struct name_pair last = pair_of(used->endings, theirs, ends);
    size_t before = strlen(first.theirs), after = strlen(last.theirs);
    size_t length = strlen(theirs);
    int middle = length > before + after ? (int)(length - before - after) : 0;

    if (snprintf(ours, TENSOR_NAME_SIZE, "%s%.*s%s", first.ours, middle,
                 theirs + before, last.ours) >= TENSOR_NAME_SIZE)
        ours[0] = '\0';
}

bool name_map_ignores(const struct name_map *map, const char *ours)
{
    for (size_t k = 0; map != NULL && k < IGNORED_MAX && map->ignored[k] != NULL; k++)
        if (fnmatch(map->ignored[k], ours, 0) == 0)
            return true;
    return false;
}
