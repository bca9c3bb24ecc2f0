/*
 * released_view.h - what a job's algorithm released besides the gradient, over time:
 * named series of the same numbers at every point, all charged to the budget, at most
 * LIMIT_HISTORY points.
 *
 * Threads: the caller's lock guards it.
 */
#ifndef API_VIEWS_RELEASED_VIEW_H
#define API_VIEWS_RELEASED_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/json/json_reader.h"
#include "api/json/json_writer.h"
#include "api/limits.h"
#include "engine/dp/algorithm.h"

enum { RELEASED_NAME_SIZE = 32 };

struct released_series {
    char name[RELEASED_NAME_SIZE];
    size_t count; /* numbers in each point */
    bool is_list;
};

struct released_history {
    size_t series_count;
    struct released_series series[RELEASED_SERIES_MAX];
    size_t width; /* numbers in each point, of all series */
    size_t point_count;
    double points[]; /* (LIMIT_HISTORY, 1 + width) step, then the series in order */
};

/* Makes an empty history for values of this form; to be freed. */
struct released_history *released_create(const struct released_value *values,
                                         size_t count);

/* Appends what step released. values must have the form given to create, and there must
 * be room. */
void released_append(struct released_history *history, uint64_t step,
                     const struct released_value *values);

/* Writes the point at index, which must exist: {"step":1,"clip_norm":1.0,...}. Its
 * lists, such as a histogram, are written only if lists is set. */
void released_point_write(struct json_writer *writer, const char *name,
                          const struct released_history *history, size_t index,
                          bool lists);

/* The form in responses: [{"step":1,"clip_norm":1.0,"histogram":[...]},...] for the
 * first point_count points; [] for NULL. */
void released_write(struct json_writer *writer, const char *name,
                    const struct released_history *history, size_t point_count);

/* The stored form: {"series":[[name,count,is_list],...],"points":[[step,...],...]}
 * or null. */
void released_write_detail(struct json_writer *writer, const char *name,
                           const struct released_history *history, size_t point_count);

/* Reads a stored history, to be freed. Returns NULL for null, for a missing node, and
 * for what is refused. */
struct released_history *released_read(struct json_node node);

#endif
