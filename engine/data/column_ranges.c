#include "engine/data/column_ranges.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

void column_ranges_fini(struct column_ranges *ranges)
{
    for (size_t i = 0; i < ranges->count; i++)
        free(ranges->items[i].column);
    free(ranges->items);
    *ranges = (struct column_ranges){0};
}

void column_ranges_add(struct column_ranges *ranges, const char *column, double low,
                       double high)
{
    struct column_range *items =
        realloc(ranges->items, (ranges->count + 1) * sizeof *items);
    char *name = strdup(column);
    CHECK(items != NULL && name != NULL);
    ranges->items = items;
    items[ranges->count++] = (struct column_range){name, low, high};
}

const struct column_range *column_ranges_find(const struct column_ranges *ranges,
                                              const char *column)
{
    for (size_t i = 0; i < ranges->count; i++)
        if (strcmp(ranges->items[i].column, column) == 0)
            return &ranges->items[i];
    return NULL;
}

static const struct column *find_numeric(const struct schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->column_count; i++)
        if (schema->columns[i].kind == COLUMN_NUMERIC &&
            strcmp(schema->columns[i].name, name) == 0)
            return &schema->columns[i];
    return NULL;
}

/* Returns half the width of a range; the width itself may overflow. */
static double half_width(double low, double high)
{
    return high / 2 - low / 2;
}

static enum status check(const struct column_range *range, const struct schema *schema,
                         struct error *error)
{
    const struct column *column = find_numeric(schema, range->column);
    if (column == NULL)
        return error_set(error, ST_INVALID,
                         "the dataset has no numeric column \"%.60s\"", range->column);
    if (!(range->low < range->high) || range->low < column->low ||
        range->high > column->high)
        return error_set(error, ST_INVALID,
                         "column \"%.60s\": from %.10g to %.10g is no range in the "
                         "declared one, %.10g to %.10g",
                         range->column, range->low, range->high, column->low,
                         column->high);
    if (half_width(range->low, range->high) <
        COLUMN_RANGES_SHARE_MIN * half_width(column->low, column->high))
        return error_set(error, ST_INVALID,
                         "column \"%.60s\": a range of %.3g is less than %.3g of the "
                         "declared one, and stored numbers are not told apart in it",
                         range->column, range->high - range->low,
                         COLUMN_RANGES_SHARE_MIN);
    return ST_OK;
}

enum status column_ranges_check(const struct column_ranges *ranges,
                                const struct schema *schema, struct error *error)
{
    enum status status = ST_OK;
    for (size_t i = 0; i < ranges->count && status == ST_OK; i++) {
        const struct column_range *range = &ranges->items[i];
        if (column_ranges_find(ranges, range->column) != range)
            return error_set(error, ST_INVALID, "column \"%.60s\" has two ranges",
                             range->column);
        status = check(range, schema, error);
    }
    return status;
}

void column_ranges_narrow(struct schema *narrowed, const struct column_ranges *ranges,
                          const struct schema *schema)
{
    *narrowed = *schema;
    if (ranges->count == 0)
        return;
    narrowed->columns = calloc(schema->column_count, sizeof *narrowed->columns);
    CHECK(narrowed->columns != NULL);
    for (size_t i = 0; i < schema->column_count; i++) {
        struct column *column = &narrowed->columns[i];
        *column = schema->columns[i];
        const struct column_range *range = column_ranges_find(ranges, column->name);
        if (range == NULL)
            continue;
        column->low = range->low;
        column->high = range->high;
    }
}

void column_ranges_release(struct schema *narrowed, const struct schema *schema)
{
    if (narrowed->columns != schema->columns)
        free(narrowed->columns);
    *narrowed = (struct schema){0};
}

void column_ranges_rescale(struct rescaling *rescaling,
                           const struct column_ranges *ranges,
                           const struct schema *schema)
{
    size_t feature = 0;
    *rescaling = (struct rescaling){0};
    if (ranges->count == 0)
        return;
    rescaling_init(rescaling, schema_features(schema));
    for (size_t i = 0; i < schema->column_count; i++) {
        const struct column *column = &schema->columns[i];
        const struct column_range *range = column_ranges_find(ranges, column->name);
        if (range != NULL) {
            double half = half_width(range->low, range->high);
            double offset = (column->low / 2 - range->low / 2) +
                            (column->high / 2 - range->high / 2);
            rescaling->gain[feature] =
                (float)(half_width(column->low, column->high) / half);
            rescaling->offset[feature] = (float)(offset / half);
        }
        if (schema_is_feature(column))
            feature += schema_column_features(column);
    }
}
