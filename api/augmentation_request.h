/*
 * augmentation_request.h - the "augmentation" of a job: in which views a step sees the
 * records, where these are images (engine/dp/views.h).
 *
 *   {"views"?:4,"flip"?:false,"shift"?:0}    at least one of flip and shift
 */
#ifndef API_AUGMENTATION_REQUEST_H
#define API_AUGMENTATION_REQUEST_H

#include <stdbool.h>

#include "base/status.h"
#include "engine/data/schema.h"
#include "engine/dp/views.h"

struct json_node;
struct json_writer;

void augmentation_request_read(struct view_spec *views, const struct json_node *node);

/* Writes the members above, as a member of the name; nothing where the count is 0. */
void augmentation_request_write(struct json_writer *writer, const char *name,
                                const struct view_spec *views);

/* Fills in how the dataset's records are images: [height, width] or [channels, height,
 * width]. unit_rows of a unit are read in a step; 0 stands for 1. There are views.
 *   ST_INVALID  they are no images ("/augmentation"), a shift would leave nothing of one
 *               ("/augmentation/shift"), or rows times views are more than a step takes
 *               of a unit ("/augmentation/views") */
enum status augmentation_request_fit(struct view_spec *views,
                                     const struct schema *schema, size_t unit_rows,
                                     struct error *error);

/* Writes what the member may be for such a dataset, as JSON Schema; nothing where its
 * records are no images. */
void augmentation_schema_write(struct json_writer *writer, const struct schema *schema);

#endif
