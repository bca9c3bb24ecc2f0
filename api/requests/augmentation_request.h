/*
 * augmentation_request.h - the "augmentation" of a job: the views in which a step sees
 * the records, if these are images (engine/dp/views.h).
 *
 *   {"views"?:4,"flip"?:false,"shift"?:0}    at least one of flip and shift
 */
#ifndef API_REQUESTS_AUGMENTATION_REQUEST_H
#define API_REQUESTS_AUGMENTATION_REQUEST_H

#include <stdbool.h>

#include "base/status.h"
#include "engine/data/schema.h"
#include "engine/dp/views.h"

struct json_node;
struct json_writer;

void augmentation_request_read(struct view_spec *views, const struct json_node *node);

/* Writes the members above, as a member called name. Writes nothing if the count
 * is 0. */
void augmentation_request_write(struct json_writer *writer, const char *name,
                                const struct view_spec *views);

/* Fills in the image layout of the dataset's records: [height, width] or [channels,
 * height, width]. A step reads unit_rows of a unit; 0 means 1. There must be views.
 *   ST_INVALID  the records are not images ("/augmentation"), a shift would leave
 *               nothing of an image ("/augmentation/shift"), or rows times views are
 *               more than a step takes of a unit ("/augmentation/views") */
enum status augmentation_request_fit(struct view_spec *views,
                                     const struct schema *schema, size_t unit_rows,
                                     struct error *error);

/* Writes the JSON Schema of the member for such a dataset. Writes nothing if its
 * records are not images. */
void augmentation_schema_write(struct json_writer *writer, const struct schema *schema);

#endif
