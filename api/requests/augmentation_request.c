#include "api/requests/augmentation_request.h"

#include "api/json/json_reader.h"
#include "api/json/json_schema.h"
#include "api/json/json_writer.h"
#include "api/limits.h"
#include "engine/nn/network.h"

_Static_assert((int)LIMIT_VIEWS == (int)UNIT_ROWS_MAX, "one limit");

/* The time of a step is proportional to the number of views. */
enum { VIEWS_USUAL = 4 };

/* Reads the number of views. It must be a power of two, so that one unit's rows are
 * never split over two matrix products. */
static size_t read_views(struct json_node node)
{
    uint64_t count = json_present(node) ? json_read_count(node, 1, LIMIT_VIEWS)
                                        : (uint64_t)VIEWS_USUAL;
    if ((count & (count - 1)) != 0)
        json_refuse(node, "must be 1, 2, 4, 8 or 16");
    return (size_t)count;
}

void augmentation_request_read(struct view_spec *views, const struct json_node *node)
{
    struct json_node flip = json_member(node, "flip");
    struct json_node shift = json_member(node, "shift");
    size_t refusals = json_refusals(*node);
    json_read_object(*node, (const char *const[]){"views", "flip", "shift", NULL});
    *views = (struct view_spec){.count = read_views(json_member(node, "views"))};
    if (json_present(flip))
        views->flips = json_read_flag(flip);
    if (json_present(shift))
        views->shift = (uint32_t)json_read_count(shift, 0, LIMIT_SHIFT);
    if (json_refusals(*node) == refusals && !views->flips && views->shift == 0)
        json_refuse(*node, "must have flip, or a shift of 1 or more: all views of a "
                           "record would be the same");
}

void augmentation_request_write(struct json_writer *writer, const char *name,
                                const struct view_spec *views)
{
    if (views->count == 0)
        return;
    json_write_object(writer, name);
    json_write_count(writer, "views", views->count);
    json_write_flag(writer, "flip", views->flips);
    json_write_count(writer, "shift", views->shift);
    json_write_object_end(writer);
}

static bool is_of_images(const struct schema *schema)
{
    return schema->reader->form == FORM_SHAPED &&
           (schema->shape_count == 2 || schema->shape_count == 3);
}

/* Returns the largest shift that leaves part of the image visible. */
static uint32_t shift_max(const struct schema *schema)
{
    const uint32_t *sides = schema->shape + schema->shape_count - 2;
    uint32_t shorter = sides[0] < sides[1] ? sides[0] : sides[1];
    return shorter - 1 < LIMIT_SHIFT ? shorter - 1 : (uint32_t)LIMIT_SHIFT;
}

enum status augmentation_request_fit(struct view_spec *views,
                                     const struct schema *schema, size_t unit_rows,
                                     struct error *error)
{
    size_t rows = (unit_rows > 0 ? unit_rows : 1) * views->count;
    if (!is_of_images(schema))
        return error_set_at(error, ST_INVALID, "/augmentation",
                            "the records of this dataset are no images: their shape "
                            "would be [height, width] or [channels, height, width]");
    if (views->shift > shift_max(schema))
        return error_set_at(error, ST_INVALID, "/augmentation/shift",
                            "must be below the shorter side of an image: at most %u",
                            (unsigned)shift_max(schema));
    if (rows > UNIT_ROWS_MAX)
        return error_set_at(error, ST_INVALID, "/augmentation/views",
                            "times rows_per_person, %zu, must be at most %d", rows,
                            (int)UNIT_ROWS_MAX);
    const uint32_t *sides = schema->shape + schema->shape_count - 2;
    views->planes = schema->shape_count == 3 ? schema->shape[0] : 1;
    views->height = sides[0];
    views->width = sides[1];
    return ST_OK;
}

void augmentation_schema_write(struct json_writer *writer, const struct schema *schema)
{
    const uint64_t still = 0;
    if (!is_of_images(schema))
        return;
    json_schema_object(writer, "augmentation");
    json_write_object(writer, "views");
    json_write_array(writer, "enum");
    for (uint64_t views = 1; views <= LIMIT_VIEWS; views *= 2)
        json_write_count(writer, NULL, views);
    json_write_array_end(writer);
    json_write_count(writer, "default", VIEWS_USUAL);
    json_write_object_end(writer);
    json_schema_flag(writer, "flip", false);
    json_schema_count(writer, "shift", 0, shift_max(schema), &still);
    json_schema_object_end(writer, (const char *const[]){NULL});
}
