#include "engine/statistics/statistic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

static const char *const kind_names[STATISTIC_KINDS] = {
    [STATISTIC_HISTOGRAM] = "histogram",
    [STATISTIC_TABLE] = "table",
    [STATISTIC_SUM] = "sum",
    [STATISTIC_MEAN] = "mean",
    [STATISTIC_VARIANCE] = "variance",
    [STATISTIC_QUANTILES] = "quantiles",
    [STATISTIC_MOMENTS] = "moments",
    [STATISTIC_WORDS] = "words",
};

const char *statistic_kind_name(enum statistic_kind kind)
{
    return kind_names[kind];
}

bool statistic_kind_parse(enum statistic_kind *kind, const char *text)
{
    for (int i = 0; i < STATISTIC_KINDS; i++) {
        if (strcmp(kind_names[i], text) != 0)
            continue;
        *kind = (enum statistic_kind)i;
        return true;
    }
    return false;
}

static void axis_fini(struct axis *axis)
{
    free(axis->column);
    free(axis->edges);
    free(axis->cuts);
}

void statistics_fini(struct statistics *statistics)
{
    for (size_t i = 0; i < statistics->count; i++) {
        for (size_t k = 0; k < STATISTIC_AXES_MAX; k++)
            axis_fini(&statistics->items[i].axes[k]);
        free(statistics->items[i].probabilities);
        moments_fini(&statistics->items[i].moments);
    }
    free(statistics->items);
    *statistics = (struct statistics){0};
}

size_t statistic_slots(const struct statistic *statistic)
{
    switch (statistic->kind) {
    case STATISTIC_HISTOGRAM:
    case STATISTIC_QUANTILES: return statistic->axes[0].bins;
    case STATISTIC_TABLE: return statistic->axes[0].bins * statistic->axes[1].bins;
    case STATISTIC_SUM:
    case STATISTIC_MEAN: return 1;
    case STATISTIC_VARIANCE: return 2;
    case STATISTIC_MOMENTS: return 2 * statistic->moments.count;
    case STATISTIC_WORDS: return 0;
    }
    return 0;
}

size_t statistics_slots(const struct statistics *statistics)
{
    size_t slots = 0;
    for (size_t i = 0; i < statistics->count; i++)
        slots += statistic_slots(&statistics->items[i]);
    return slots;
}

bool statistics_are_moments(const struct statistics *statistics)
{
    return statistics->count == 1 && statistics->items[0].kind == STATISTIC_MOMENTS;
}

bool statistics_are_words(const struct statistics *statistics)
{
    return statistics->count == 1 && statistics->items[0].kind == STATISTIC_WORDS;
}

size_t axis_bin(const struct axis *axis, const struct matrix *matrix, uint64_t record)
{
    if (axis->cuts == NULL)
        return stored_column_value(&axis->stored, matrix, record);
    float number = stored_column_number(&axis->stored, matrix, record);
    size_t low = 0, high = axis->bins - 1; /* the bin is in [low, high] */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (number >= axis->cuts[middle])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* --- resolving --- */

/* A place in the request: "/statistics/2/columns/1/bins". */
struct place {
    size_t statistic, axis;
    bool of_pair;
};

static enum status refuse(const struct place *place, const char *member,
                          struct error *error, const char *text)
{
    char pointer[sizeof error->pointer];
    if (place->of_pair)
        snprintf(pointer, sizeof pointer, "/statistics/%zu/columns/%zu/%s",
                 place->statistic, place->axis, member);
    else
        snprintf(pointer, sizeof pointer, "/statistics/%zu/%s", place->statistic,
                 member);
    return error_set_at(error, ST_INVALID, pointer, "%s", text);
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    CHECK(memory != NULL); /* count is at most STATISTIC_SLOTS_MAX + 1 */
    return memory;
}

static void make_edges(struct axis *axis)
{
    double low = axis->stored.low, high = axis->stored.high;
    double bins = (double)axis->bins;
    axis->edges = allocate(axis->bins + 1, sizeof *axis->edges);
    for (size_t j = 0; j <= axis->bins; j++)
        axis->edges[j] = low * ((bins - (double)j) / bins) + high * ((double)j / bins);
}

static bool make_cuts(struct axis *axis)
{
    free(axis->cuts);
    axis->cuts = allocate(axis->bins, sizeof *axis->cuts);
    bool apart = true;
    float before = stored_column_map(&axis->stored, axis->edges[0]);
    for (size_t j = 1; j < axis->bins; j++) {
        axis->cuts[j - 1] = stored_column_map(&axis->stored, axis->edges[j]);
        apart = apart && axis->cuts[j - 1] > before;
        before = axis->cuts[j - 1];
    }
    return apart && stored_column_map(&axis->stored, axis->edges[axis->bins]) > before;
}

/* The member of a request that defines how the axis is cut. */
static const char *cut_member(enum statistic_kind kind)
{
    bool is_range =
        kind == STATISTIC_SUM || kind == STATISTIC_MEAN || kind == STATISTIC_VARIANCE;
    return is_range ? "range" : "bins";
}

static enum status resolve_values(struct axis *axis, enum statistic_kind kind,
                                  const struct place *place, struct error *error)
{
    if (kind != STATISTIC_HISTOGRAM && kind != STATISTIC_TABLE)
        return refuse(place, "column", error,
                      "this column holds declared values, which have no range: a "
                      "number is needed here");
    if (axis->edges != NULL || (axis->bins != 0 && axis->bins != axis->stored.values))
        return refuse(place, "bins", error,
                      "this column has its declared values for bins: name none");
    axis->bins = axis->stored.values;
    return axis->bins <= STATISTIC_SLOTS_MAX
               ? ST_OK
               : refuse(place, "column", error,
                        "it has more declared values than a request may release");
}

static enum status resolve_numbers(struct axis *axis, enum statistic_kind kind,
                                   const struct place *place, struct error *error)
{
    const char *member = cut_member(kind);
    if (axis->bins == 0 && (kind == STATISTIC_HISTOGRAM || kind == STATISTIC_TABLE))
        return refuse(place, "bins", error,
                      "is required: this column holds numbers, and their bins are "
                      "yours to name");
    if (axis->bins == 0)
        axis->bins = kind == STATISTIC_QUANTILES ? STATISTIC_QUANTILE_BINS : 1;
    if (axis->edges == NULL)
        make_edges(axis);
    if (axis->edges[0] < axis->stored.low ||
        axis->edges[axis->bins] > axis->stored.high)
        return refuse(place, member, error,
                      "goes beyond the column's declared range, to which its numbers "
                      "were clipped");
    if (!make_cuts(axis))
        return refuse(place, member, error,
                      "has edges nearer than 2^-24 of the column's declared range");
    return ST_OK;
}

static enum status resolve_axis(struct axis *axis, enum statistic_kind kind,
                                const struct schema *schema, const struct place *place,
                                struct error *error)
{
    struct error inner = {0};
    if (stored_column_find(&axis->stored, schema, axis->column, &inner) != ST_OK)
        return refuse(place, "column", error, inner.text);
    return stored_column_is_number(&axis->stored)
               ? resolve_numbers(axis, kind, place, error)
               : resolve_values(axis, kind, place, error);
}

/* The vector of moments is clipped as a whole, so nothing else is released with it. */
static enum status resolve_moments(struct statistics *statistics, size_t index,
                                   const struct schema *schema, struct error *error)
{
    const struct place place = {.statistic = index};
    struct error inner = {0};
    if (statistics->count > 1)
        return refuse(&place, "kind", error,
                      "moments are one vector that is clipped as a whole: ask for them "
                      "in a request of their own");
    if (moments_resolve(&statistics->items[index].moments, schema, STATISTIC_SLOTS_MAX,
                        &inner) != ST_OK)
        return refuse(&place, "kind", error, inner.text);
    return ST_OK;
}

/* A discovery has a mechanism of its own, so nothing else is released with it. */
static enum status resolve_words(struct statistics *statistics, size_t index,
                                 const struct schema *schema, struct error *error)
{
    const struct place place = {.statistic = index};
    struct error inner = {0};
    struct axis *axis = &statistics->items[index].axes[0];
    if (statistics->count > 1)
        return refuse(&place, "kind", error,
                      "words have a price of their own kind: ask for them in a request "
                      "of their own");
    if (stored_text_find(&axis->text, schema, axis->column, &inner) != ST_OK)
        return refuse(&place, "column", error, inner.text);
    return ST_OK;
}

static enum status resolve_one(struct statistics *statistics, size_t index,
                               const struct schema *schema, struct error *error)
{
    struct statistic *statistic = &statistics->items[index];
    enum status status = ST_OK;
    if (statistic->kind == STATISTIC_MOMENTS)
        return resolve_moments(statistics, index, schema, error);
    if (statistic->kind == STATISTIC_WORDS)
        return resolve_words(statistics, index, schema, error);
    for (size_t k = 0; k < statistic->axis_count && status == ST_OK; k++) {
        const struct place place = {index, k, statistic->axis_count > 1};
        status =
            resolve_axis(&statistic->axes[k], statistic->kind, schema, &place, error);
    }
    return status;
}

enum status statistics_resolve(struct statistics *statistics,
                               const struct schema *schema, struct error *error)
{
    size_t slots = 0;
    for (size_t i = 0; i < statistics->count; i++) {
        enum status status = resolve_one(statistics, i, schema, error);
        if (status != ST_OK)
            return status;
        slots += statistic_slots(&statistics->items[i]);
        if (slots > STATISTIC_SLOTS_MAX)
            return error_set_at(error, ST_INVALID, "/statistics",
                                "would release more than %d numbers: name fewer bins",
                                STATISTIC_SLOTS_MAX);
    }
    return ST_OK;
}
