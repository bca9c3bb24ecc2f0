#include "api/views/released_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

static struct released_history *history_create(const struct released_series *series,
                                               size_t count)
{
    size_t width = 0;
    CHECK(count > 0 && count <= RELEASED_SERIES_MAX);
    for (size_t k = 0; k < count; k++)
        width += series[k].count;
    CHECK(width <= RELEASED_NUMBERS_MAX);
    struct released_history *history =
        calloc(1, sizeof *history + LIMIT_HISTORY * (1 + width) * sizeof(double));
    CHECK(history != NULL);
    history->series_count = count;
    history->width = width;
    memcpy(history->series, series, count * sizeof *series);
    return history;
}

struct released_history *released_create(const struct released_value *values,
                                         size_t count)
{
    struct released_series series[RELEASED_SERIES_MAX] = {0};
    for (size_t k = 0; k < count; k++) {
        series[k].count = values[k].count;
        series[k].is_list = values[k].is_list;
        CHECK(strlen(values[k].name) < RELEASED_NAME_SIZE);
        snprintf(series[k].name, RELEASED_NAME_SIZE, "%s", values[k].name);
    }
    return history_create(series, count);
}

static double *point_at(struct released_history *history, size_t index)
{
    return history->points + index * (1 + history->width);
}

void released_append(struct released_history *history, uint64_t step,
                     const struct released_value *values)
{
    CHECK(history->point_count < LIMIT_HISTORY);
    double *point = point_at(history, history->point_count++);
    *point++ = (double)step;
    for (size_t k = 0; k < history->series_count; k++) {
        CHECK(values[k].count == history->series[k].count);
        memcpy(point, values[k].numbers, values[k].count * sizeof *point);
        point += values[k].count;
    }
}

void released_point_write(struct json_writer *writer, const char *name,
                          const struct released_history *history, size_t index,
                          bool lists)
{
    const double *point = history->points + index * (1 + history->width);
    json_write_object(writer, name);
    json_write_count(writer, "step", (uint64_t)*point++);
    for (size_t k = 0; k < history->series_count; k++) {
        const struct released_series *series = &history->series[k];
        if (series->is_list && lists)
            json_write_reals(writer, series->name, point, series->count);
        else if (!series->is_list)
            json_write_real(writer, series->name, *point);
        point += series->count;
    }
    json_write_object_end(writer);
}

void released_write(struct json_writer *writer, const char *name,
                    const struct released_history *history, size_t point_count)
{
    json_write_array(writer, name);
    for (size_t i = 0; history != NULL && i < point_count; i++)
        released_point_write(writer, NULL, history, i, true);
    json_write_array_end(writer);
}

static void write_series(struct json_writer *writer,
                         const struct released_history *history)
{
    json_write_array(writer, "series");
    for (size_t k = 0; k < history->series_count; k++) {
        json_write_array(writer, NULL);
        json_write_text(writer, NULL, history->series[k].name);
        json_write_count(writer, NULL, history->series[k].count);
        json_write_flag(writer, NULL, history->series[k].is_list);
        json_write_array_end(writer);
    }
    json_write_array_end(writer);
}

void released_write_detail(struct json_writer *writer, const char *name,
                           const struct released_history *history, size_t point_count)
{
    if (history == NULL) {
        json_write_null(writer, name);
        return;
    }
    json_write_object(writer, name);
    write_series(writer, history);
    json_write_array(writer, "points");
    for (size_t i = 0; i < point_count; i++)
        json_write_reals(writer, NULL, history->points + i * (1 + history->width),
                         1 + history->width);
    json_write_array_end(writer);
    json_write_object_end(writer);
}

static size_t read_series(struct released_series *series, struct json_node list)
{
    size_t count = json_read_array(list, 1, RELEASED_SERIES_MAX), width = 0;
    for (size_t k = 0; k < count; k++) {
        struct json_node item = json_element(&list, k);
        json_read_array(item, 3, 3);
        struct json_node name = json_element(&item, 0);
        const char *text = json_read_text(name);
        if (strlen(text) >= RELEASED_NAME_SIZE)
            json_refuse(name, "is too long");
        snprintf(series[k].name, RELEASED_NAME_SIZE, "%s", text);
        series[k].count =
            json_read_count(json_element(&item, 1), 1, RELEASED_NUMBERS_MAX);
        series[k].is_list = json_read_flag(json_element(&item, 2));
        if (!series[k].is_list && series[k].count != 1)
            json_refuse(item, "must be one number or a list");
        width += series[k].count;
    }
    if (width > RELEASED_NUMBERS_MAX)
        json_refuse(list, "must not hold so many numbers");
    return json_refused(list) ? 0 : count;
}

static void read_points(struct released_history *history, struct json_node list)
{
    size_t count = json_read_array(list, 0, LIMIT_HISTORY);
    for (size_t i = 0; i < count; i++) {
        struct json_node point = json_element(&list, i);
        double *numbers = point_at(history, i);
        json_read_array(point, 1 + history->width, 1 + history->width);
        for (size_t j = 0; j <= history->width; j++)
            numbers[j] = json_read_real(
                json_element(&point, j),
                (struct json_range){j == 0 ? 0 : (double)-INFINITY,
                                    j == 0 ? (double)LIMIT_COUNT : (double)INFINITY,
                                    false, false});
    }
    history->point_count = count;
}

struct released_history *released_read(struct json_node node)
{
    struct released_series series[RELEASED_SERIES_MAX] = {0};
    if (!json_present(node) || json_is_null(node.value))
        return NULL;
    json_read_object(node, (const char *const[]){"series", "points", NULL});
    size_t count = read_series(series, json_member(&node, "series"));
    if (count == 0)
        return NULL;
    struct released_history *history = history_create(series, count);
    read_points(history, json_member(&node, "points"));
    if (!json_refused(node))
        return history;
    free(history);
    return NULL;
}
