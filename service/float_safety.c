#include "service/float_safety.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/model_request.h"
#include "base/check.h"
#include "engine/trainer.h"

struct finding {
    char *name;              /* owned; NULL: none yet */
    struct error error;      /* its status is ST_OK, or that of the refusal */
    struct row_classes rows; /* what a run has found; block 0: nothing */
};

struct float_safety {
    pthread_mutex_t comparing; /* taken before lock */
    pthread_mutex_t lock;      /* guards the rest */
    struct finding findings[FLOAT_SAFETY_KEPT];
    size_t next; /* the place of the oldest, which goes first */
};

struct float_safety *float_safety_create(void)
{
    struct float_safety *safety = calloc(1, sizeof *safety);
    CHECK(safety != NULL);
    CHECK(pthread_mutex_init(&safety->comparing, NULL) == 0);
    CHECK(pthread_mutex_init(&safety->lock, NULL) == 0);
    return safety;
}

void float_safety_destroy(struct float_safety *safety)
{
    if (safety == NULL)
        return;
    for (size_t i = 0; i < FLOAT_SAFETY_KEPT; i++)
        free(safety->findings[i].name);
    pthread_mutex_destroy(&safety->lock);
    pthread_mutex_destroy(&safety->comparing);
    free(safety);
}

/* A letter for each layer with parameters, whether it is frozen or trained. */
static void write_frozen(char *to, const struct network *network)
{
    for (size_t l = 0; l < network_layers(network); l++)
        *to++ = network_layer_is_frozen(network, l) ? 'f' : 't';
    *to = '\0';
}

/* The text of all that a comparison depends on, to be freed. From 768 records on a
 * batch is as good as any. */
static char *name_of(const struct train_spec *spec)
{
    enum { BATCH_MAX = 768, NUMBERS_SIZE = 64 };
    struct network_shape shape = network_shape(spec->network);
    char *model = model_spec_render(&spec->model);
    size_t size = strlen(model) + NUMBERS_SIZE + network_layers(spec->network);
    char *name = malloc(size);
    CHECK(name != NULL);
    unsigned batch =
        spec->batch_size < BATCH_MAX ? (unsigned)spec->batch_size : (unsigned)BATCH_MAX;
    snprintf(name, size, "%u %u %u %zu %d %d %s", shape.features, shape.outputs, batch,
             network_unit_rows(spec->network), spec->algorithm.algorithm->is_private,
             spec->algorithm.algorithm->uses_differences, model);
    write_frozen(name + strlen(name), spec->network);
    free(model);
    return name;
}

/* The finding of that name, or NULL. The lock is held. */
static struct finding *find(struct float_safety *safety, const char *name)
{
    for (size_t i = 0; i < FLOAT_SAFETY_KEPT; i++)
        if (safety->findings[i].name != NULL &&
            strcmp(safety->findings[i].name, name) == 0)
            return &safety->findings[i];
    return NULL;
}

/* The same, or a new one in the place of the oldest. The lock is held. */
static struct finding *find_or_add(struct float_safety *safety, char *name_take)
{
    struct finding *finding = find(safety, name_take);
    if (finding != NULL) {
        free(name_take);
        return finding;
    }
    finding = &safety->findings[safety->next];
    safety->next = (safety->next + 1) % FLOAT_SAFETY_KEPT;
    free(finding->name);
    *finding = (struct finding){.name = name_take};
    return finding;
}

/* *found = what was found of such a model; false where nothing is remembered. */
static bool recall(struct float_safety *safety, const char *name, struct finding *found)
{
    pthread_mutex_lock(&safety->lock);
    const struct finding *finding = find(safety, name);
    if (finding != NULL)
        *found = *finding;
    pthread_mutex_unlock(&safety->lock);
    return finding != NULL;
}

static void compare(struct float_safety *safety, const struct train_spec *spec,
                    char *name_take, struct finding *found)
{
    *found = (struct finding){0};
    trainer_check_rounding(spec, &found->error);
    pthread_mutex_lock(&safety->lock);
    find_or_add(safety, name_take)->error = found->error;
    pthread_mutex_unlock(&safety->lock);
}

enum status float_safety_check(struct float_safety *safety,
                               const struct train_spec *spec, struct error *error)
{
    struct finding found;
    if (!spec->algorithm.algorithm->is_private ||
        network_floats(spec->network) > FLOAT_SAFETY_PARAMETERS)
        return ST_OK;
    char *name = name_of(spec);
    pthread_mutex_lock(&safety->comparing);
    if (recall(safety, name, &found))
        free(name);
    else
        compare(safety, spec, name, &found);
    pthread_mutex_unlock(&safety->comparing);
    /* Where there was no memory to compare, the job is refused, if it has to be, when
     * it begins. */
    if (found.error.status != ST_NOT_FLOAT_SAFE)
        return ST_OK;
    return error_set_at(error, ST_NOT_FLOAT_SAFE, found.error.pointer, "%s",
                        found.error.text);
}

void float_safety_recall(struct float_safety *safety, const struct train_spec *spec,
                         struct row_classes *rows)
{
    struct finding found = {0};
    char *name = name_of(spec);
    recall(safety, name, &found);
    free(name);
    *rows = found.rows;
}

void float_safety_remember(struct float_safety *safety, const struct train_spec *spec,
                           const struct row_classes *rows)
{
    char *name = name_of(spec);
    pthread_mutex_lock(&safety->lock);
    find_or_add(safety, name)->rows = *rows;
    pthread_mutex_unlock(&safety->lock);
}
